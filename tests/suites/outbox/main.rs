//! The outbox on real disks and fake ones: what it costs, what survives, and who is woken.

mod broken_once;
mod costs;
mod crash;
mod decisions;
mod handles;
mod life;
mod processes;
mod stage;
mod waiting;
