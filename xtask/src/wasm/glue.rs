//! What stands between JavaScript and the module: one file that runs on every platform.

use super::guard::guarded;
use super::{order, room};
use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

/// What the module is meant to have at most, compressed as it is sent: what a page can be asked to download.
const GZIP_BYTES_BAR: usize = 400_000;

/// What it has today, and a little: it is above the bar, and must not move away from it unseen.
const GZIP_BYTES_MAX: usize = 545_000;

/// Writes the glue and the module into `folder`.
pub(crate) fn write(module: &Path, folder: &Path) -> Result<ExitCode> {
    let mut glue = Bindgen::new();
    glue.input_path(module).web(true)?;
    glue.out_name("keyledger").typescript(true).omit_default_module_path(false);
    glue.remove_producers_section(true);
    glue.generate(folder)?;
    let (module, script) = (folder.join("keyledger_bg.wasm"), folder.join("keyledger.js"));
    let made = std::fs::read(&module).context("there is no module")?;
    std::fs::write(&module, room::with_room(&order::reordered(&made)?)?)?;
    let made = std::fs::read_to_string(&script).context("there is no glue")?;
    std::fs::write(&script, room::asking(&guarded(&made)?)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the module's size and whether it keeps the bar, and fails where it has grown.
pub(crate) fn weigh(module: &Path) -> Result<ExitCode> {
    let bytes = std::fs::read(module).context("there is no module")?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&bytes)?;
    let packed = gzip.finish()?.len();
    let verdict = if packed <= GZIP_BYTES_BAR { "within" } else { "ABOVE" };
    println!("keyledger_bg.wasm: {} bytes, {packed} with gzip -9: {verdict} the bar of {GZIP_BYTES_BAR}", bytes.len());
    Ok(if packed <= GZIP_BYTES_MAX { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
