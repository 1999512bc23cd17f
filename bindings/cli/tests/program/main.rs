//! `keyledger` as a program, on real files.

mod damage;
mod full;
mod interrupted;
mod live;
mod million;
mod outbox;
mod stage;
mod tables;
mod terminal;
mod walk;
mod words;
