//! Any bytes as the first page of a ledger file. The first of them says whether they are given a checksum that fits.

#![no_main]

mod shared;

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

static LEDGER: LazyLock<Vec<u8>> = LazyLock::new(shared::killed_ledger);

libfuzzer_sys::fuzz_target!(init: shared::let_panics_be_caught(), |bytes: &[u8]| {
    let Some((how, page)) = bytes.split_first() else { return };
    let mut image = LEDGER.clone();
    let length = page.len().min(shared::PAGE);
    image[..length].copy_from_slice(&page[..length]);
    if how % 2 == 1 {
        let checksum = Sha256::digest(&image[..40]);
        image[40..72].copy_from_slice(&checksum);
    }
    shared::open_and_read(&image);
});
