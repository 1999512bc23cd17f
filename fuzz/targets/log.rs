//! Any bytes in the log of a ledger: as they are, or as the payload of the next whole record (docs/format.md).

#![no_main]

mod shared;

use std::hash::Hasher;
use std::sync::LazyLock;

use siphasher::sip128::{Hasher128, SipHasher24};

const SECTOR: usize = 512;
const HEAD: usize = 40;
const LOG_BYTES: usize = 2 << 20;
const MAGIC: &[u8] = b"klog";

static LEDGER: LazyLock<Vec<u8>> = LazyLock::new(shared::killed_ledger);

/// The sectors in which a record of the log begins, in their order.
static RECORDS: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let sectors = (shared::PAGE..LEDGER.len()).step_by(SECTOR);
    sectors.take_while(|at| *at < shared::PAGE + LOG_BYTES).filter(|at| LEDGER[*at..].starts_with(MAGIC)).collect()
});

libfuzzer_sys::fuzz_target!(init: shared::let_panics_be_caught(), |bytes: &[u8]| {
    let Some((how, bytes)) = bytes.split_first() else { return };
    let mut image = LEDGER.clone();
    let place = RECORDS[usize::from(how >> 1) % RECORDS.len()];
    let length = bytes.len().min(1 << 16);
    if how % 2 == 1 {
        seal(&mut image, place, &bytes[..length]);
    } else {
        image[place..place + length].copy_from_slice(&bytes[..length]);
    }
    shared::open_and_read(&image);
});

/// Makes `payload` that of the record at `place`, whose generation and number stay.
fn seal(image: &mut [u8], place: usize, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("it is short");
    image[place + 4..place + 8].copy_from_slice(&length.to_le_bytes());
    image[place + HEAD..place + HEAD + payload.len()].copy_from_slice(payload);
    let creation_id: [u8; 16] = image[24..40].try_into().expect("sixteen bytes");
    let mut hasher = SipHasher24::new_with_key(&creation_id);
    hasher.write(&image[place + 4..place + 24]);
    hasher.write(payload);
    image[place + 24..place + HEAD].copy_from_slice(&hasher.finish128().as_bytes());
}
