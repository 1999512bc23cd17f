//! Runnable answers to the questions that users have: see the files beside this one.
