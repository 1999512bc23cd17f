//! A store object of the host's as the core's disk.

use std::fmt;
use std::io;

use keyledger::Disk;
use send_wrapper::SendWrapper;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// What a platform brings: a growing array of bytes that can be synced. All of it is synchronous.
    #[wasm_bindgen(typescript_type = "Store")]
    pub type Store;

    #[wasm_bindgen(method, catch)]
    fn length(this: &Store) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn read(this: &Store, offset: f64, into: &mut [u8]) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch)]
    fn write(this: &Store, offset: f64, bytes: &[u8]) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch, js_name = setLength)]
    fn set_length(this: &Store, length: f64) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch)]
    fn sync(this: &Store) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch)]
    fn close(this: &Store) -> Result<(), JsValue>;
}

/// The disk of one ledger.
pub(crate) struct JsDisk(SendWrapper<Store>);

impl JsDisk {
    pub(crate) fn new(store: Store) -> Self {
        Self(SendWrapper::new(store))
    }
}

impl Disk for JsDisk {
    fn len(&self) -> io::Result<u64> {
        let told = self.0.length().map_err(io_error)?;
        let length = told.as_f64().filter(|length| length.is_finite() && *length >= 0.0);
        length.map(whole).ok_or_else(|| io::Error::other("the store's length is no number of bytes"))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(number(offset), out).map_err(io_error)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(number(offset), data).map_err(io_error)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_length(number(len)).map_err(io_error)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync().map_err(io_error)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close().map_err(io_error)
    }
}

impl fmt::Debug for JsDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JsDisk")
    }
}

/// What the host threw.
#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn io_error(thrown: JsValue) -> io::Error {
    let message = thrown.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    io::Error::other(message.unwrap_or_else(|| format!("{thrown:?}")))
}

#[expect(clippy::cast_precision_loss, reason = "no file of a host's is longer than 2^53 bytes")]
fn number(bytes: u64) -> f64 {
    bytes as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a length that a host tells is a whole number"
)]
fn whole(number: f64) -> u64 {
    number as u64
}
