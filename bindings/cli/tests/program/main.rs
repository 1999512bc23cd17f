//! `keyledger` as a program, on real files.

mod damage;
mod interrupted;
mod live;
mod million;
mod outbox;
mod stage;
mod tables;
mod walk;
