//! The files of the project: those that git knows, and new ones that it would not ignore.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One text file of the project.
pub(crate) struct File {
    /// Its path from the top of the project, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The top of the project.
pub(crate) fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells a test where its package is");
    Path::new(&manifest).parent().expect("the package is in a folder of the project").to_owned()
}

/// Every text file of the project.
pub(crate) fn files() -> Vec<File> {
    let root = root();
    let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(listing).current_dir(&root).output().expect("git lists the files");
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).expect("paths are UTF-8");
    let read = |path: &str| {
        let text = String::from_utf8(std::fs::read(root.join(path)).ok()?).ok()?;
        Some(File { path: path.to_owned(), text })
    };
    let files: Vec<File> = names.split_terminator('\0').filter_map(read).collect();
    assert!(files.iter().any(|file| file.path == "core/src/lib.rs"), "the listing does not hold the library");
    files
}

/// Every Rust file of the project.
pub(crate) fn rust_files() -> Vec<File> {
    files().into_iter().filter(|file| is_rust(&file.path)).collect()
}

/// Whether a path is that of a Rust file.
pub(crate) fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// Every Rust file of the library.
pub(crate) fn library_files() -> Vec<File> {
    rust_files().into_iter().filter(|file| file.path.starts_with("core/src/")).collect()
}
