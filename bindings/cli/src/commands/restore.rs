//! Putting a copy of a snapshot in the place of a ledger file.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use keyledger::{ErrorCode, Ledger};

use crate::confirm::confirm;
use crate::failure::{Failure, Result};
use crate::interrupt::{self, Unfinished};
use crate::output::Output;
use crate::{holder, progress, words};

const PIECE: usize = 1 << 20;

/// The file at `file` is the old one or the new one at every instant; the old one stays beside it.
pub(super) fn run(output: Output, yes: bool, file: &Path, from: &Path) -> Result<()> {
    let old = Old::of(file)?;
    let kept = old
        .as_ref()
        .map(|_| beside(file, &format!("replaced-{}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ"))));
    let what =
        kept.as_ref().map_or_else(String::new, |kept| format!("; what is there now is kept as {}", kept.display()));
    confirm(&format!("{} will be a copy of {}{what}", file.display(), from.display()), yes)?;
    let (copied, new) = (Unfinished::at(beside(file, "restoring-copy")), Unfinished::at(beside(file, "restoring")));
    copy(from, copied.path())?;
    let records = renewed(copied.path(), new.path())?;
    if let Some(kept) = &kept {
        fs::hard_link(file, kept).map_err(|error| Failure::of_file(kept, &error))?;
    }
    fs::rename(new.path(), file).map_err(|error| Failure::of_file(file, &error))?;
    sync_folder(file)?;
    drop(old);
    let told = serde_json::json!({ "kind": "restored", "records": records, "kept": kept });
    output.answer(&told, |output| {
        let kept = kept.as_ref().map_or_else(String::new, |kept| format!("; the old file is {}", kept.display()));
        output.line(format!("{}: restored, {}{kept}", file.display(), words::count(records, "record", "records")))
    })
}

/// The file that is there now, held so that nobody opens it meanwhile, unless it is beyond that.
struct Old(Option<Ledger>);

impl Old {
    fn of(file: &Path) -> Result<Option<Self>> {
        if file.symlink_metadata().is_err() {
            return Ok(None);
        }
        match Ledger::open(file) {
            Ok(ledger) => Ok(Some(Old(Some(ledger)))),
            Err(error) => match error.code() {
                ErrorCode::AlreadyOpen => Err(holder::held(file)),
                ErrorCode::Corrupt | ErrorCode::WrongFormat => Ok(Some(Old(None))),
                _ => Err(error.into()),
            },
        }
    }
}

impl Drop for Old {
    fn drop(&mut self) {
        if let Some(ledger) = self.0.take() {
            // It is another name's file by now.
            let _ = ledger.close();
        }
    }
}

/// A hidden name beside the file for what is unfinished, else a name that is seen.
fn beside(file: &Path, what: &str) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let hidden = what.starts_with("restoring");
    file.with_file_name(if hidden {
        format!(".{name}.{}.{what}", std::process::id())
    } else {
        format!("{name}.{what}")
    })
}

/// The snapshot itself is only read.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let of_from = |error| Failure::of_file(from, &error);
    let of_to = |error| Failure::of_file(to, &error);
    let mut source = File::open(from).map_err(of_from)?;
    let length = source.metadata().map_err(of_from)?.len();
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut target = options.open(to).map_err(of_to)?;
    let bar = progress::bar(length, "copying");
    let mut piece = vec![0; PIECE];
    loop {
        let read = source.read(&mut piece).map_err(of_from)?;
        if read == 0 {
            break;
        }
        target.write_all(&piece[..read]).map_err(of_to)?;
        bar.inc(read as u64);
    }
    bar.finish_and_clear();
    Ok(())
}

/// A ledger of its own (I5) out of the copy, if the copy is well; how many records it has.
fn renewed(copied: &Path, new: &Path) -> Result<u64> {
    let spinner = progress::spinner("checking");
    let ledger = Ledger::open(copied)?;
    let checked = ledger.check()?;
    if !checked.is_well() {
        let faults = words::count(checked.fault_count, "fault", "faults");
        return Err(Failure::new("corrupt", format!("the snapshot is damaged: {faults}; nothing was changed")));
    }
    interrupt::copies_to(new);
    ledger.snapshot(new)?;
    ledger.close()?;
    spinner.finish_and_clear();
    Ok(checked.records)
}

fn sync_folder(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| Failure::of_file(folder, &error))?;
    }
    Ok(())
}
