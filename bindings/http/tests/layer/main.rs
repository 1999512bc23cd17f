//! The layer in axum, on loopback: a crowd, heartbeats, disks that fail, nested routers.

mod crowd;
mod faults;
mod nested;
mod slow;
mod stage;
