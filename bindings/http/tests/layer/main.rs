//! The layer in axum, on loopback: a crowd, heartbeats, disks that fail, nested routers, odd requests, services that fail, steps.

mod crowd;
mod errors;
mod faults;
mod nested;
mod odd;
mod slow;
mod stage;
mod steps;
