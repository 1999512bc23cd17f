//! `keyledger` as a program, on real files.

mod circles;
mod damage;
mod full;
mod interrupted;
mod live;
mod million;
mod outbox;
mod owners;
mod restoring;
mod salvage;
mod silence;
mod stage;
mod tables;
mod terminal;
mod truth;
mod untouched;
mod walk;
mod words;
