//! What stands between JavaScript and the module: one file that runs on every platform.

use super::order;
use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

/// The most that the module may have, compressed as it is sent: what a page can be asked to download.
const GZIP_BYTES_MAX: usize = 400_000;

/// Writes the glue and the module into `folder`.
pub(crate) fn write(module: &Path, folder: &Path) -> Result<ExitCode> {
    let mut glue = Bindgen::new();
    glue.input_path(module).web(true)?;
    glue.out_name("keyledger").typescript(true).omit_default_module_path(false);
    glue.remove_producers_section(true);
    glue.generate(folder)?;
    order::reorder(&folder.join("keyledger_bg.wasm"))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the module's size, and fails where it is above the bar.
pub(crate) fn weigh(module: &Path) -> Result<ExitCode> {
    let bytes = std::fs::read(module).context("there is no module")?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&bytes)?;
    let packed = gzip.finish()?.len();
    println!("keyledger_bg.wasm: {} bytes, {packed} bytes with gzip -9; at most {GZIP_BYTES_MAX}", bytes.len());
    Ok(if packed <= GZIP_BYTES_MAX { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
