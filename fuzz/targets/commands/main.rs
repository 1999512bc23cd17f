//! Any bytes as a story of commands, given to the ledger and to the reference model: the properties suite, led by coverage.

#![no_main]

#[path = "../../../tests/suites/properties/command.rs"]
mod command;
#[path = "../../../tests/suites/properties/driver/mod.rs"]
mod driver;
#[path = "../../../tests/suites/properties/look.rs"]
mod look;
#[path = "../../../tests/suites/properties/stage.rs"]
mod stage;
#[path = "../../../tests/suites/properties/store.rs"]
mod store;
mod story;
#[path = "../../../tests/suites/properties/translate.rs"]
mod translate;
#[path = "../../../tests/suites/properties/watch.rs"]
mod watch;

use store::Kind;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((how, bytes)) = bytes.split_first() else { return };
    // A story in memory is told in a tenth of the time.
    let kind = match how {
        0..240 => Kind::Memory,
        240..255 => Kind::Disk,
        255 => Kind::File,
    };
    if let Err(difference) = driver::run(&story::told_by(bytes), kind) {
        panic!("{difference}");
    }
});
