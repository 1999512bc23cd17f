//! Putting a copy of a snapshot in the place of a ledger file.

mod owner;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use keyledger::{ErrorCode, Ledger};

use crate::arguments::Consent;
use crate::confirm::confirm;
use crate::failure::{Failure, Result};
use crate::interrupt::{self, Unfinished};
use crate::output::Output;
use crate::{holder, progress, words};
use owner::Ownership;

const PIECE: usize = 1 << 20;

/// The file at `file` is the old one or the new one at every instant; the old one stays beside it. The new one is whose the old one was.
pub(super) fn run(output: Output, consent: Consent, file: &Path, from: &Path) -> Result<()> {
    // A link stays a link: what it leads to is replaced.
    let file = &*file.canonicalize().unwrap_or_else(|_| file.to_owned());
    check_source(from, file)?;
    drop(Old::of(file)?);
    let ownership = Ownership::tried(file)?;
    let lost = ownership.lost();
    announce(file, from, lost.as_deref(), consent, output)?;
    let old = Old::of(file)?;
    let kept = old.as_ref().map(|_| kept_at(file));
    let (copied, new) = (Unfinished::at(beside(file, "restoring-copy")), Unfinished::at(beside(file, "restoring")));
    copy(from, copied.path())?;
    let records = renewed(copied.path(), new.path()).map_err(|failure| of_source(failure, copied.path(), from))?;
    if let Some(kept) = &kept {
        fs::hard_link(file, kept).map_err(|error| Failure::of_file(kept, &error))?;
    }
    put(new.path(), file, &ownership).map_err(|error| Failure::of_file(file, &error))?;
    sync_folder(file)?;
    drop(old);
    let mut told = serde_json::json!({ "kind": "restored", "records": records, "kept": kept });
    if let Some(lost) = lost {
        told["warning"] = lost.into();
    }
    output.answer(&told, |output| {
        let kept = kept.as_ref().map_or_else(String::new, |kept| format!("; the old file is {}", kept.display()));
        output.line(format!("{}: restored, {}{kept}", file.display(), words::count(records, "record", "records")))
    })
}

/// Says what will be done, and returns if it may be. That the file will be somebody else's is told also where nobody is asked; in JSON
/// it comes with the answer.
fn announce(file: &Path, from: &Path, lost: Option<&str>, consent: Consent, output: Output) -> Result<()> {
    let what = if file.exists() { "; what is there now is kept beside it" } else { "" };
    let warning = lost.map_or_else(String::new, |lost| format!(". {lost}"));
    if consent.yes
        && let Some(lost) = lost.filter(|_| !output.json)
    {
        writeln!(std::io::stderr(), "keyledger: {}: {lost}", file.display())?;
    }
    confirm(&format!("{} will be a copy of {}{what}{warning}", file.display(), from.display()), consent.yes)
}

/// A file of its own that nobody writes to.
fn check_source(from: &Path, file: &Path) -> Result<()> {
    let metadata = from.metadata().map_err(|error| Failure::of_file(from, &error))?;
    if !metadata.is_file() {
        return Err(Failure::new("wrong_format", format!("{}: it is no file, and so no ledger", from.display())));
    }
    let source = from.canonicalize().map_err(|error| Failure::of_file(from, &error))?;
    if source == file {
        let what = format!("{}: that is the file itself; name a snapshot of it", from.display());
        return Err(Failure::invalid(what));
    }
    let others = holder::others(&source);
    if others.is_empty() {
        return Ok(());
    }
    let what = format!("{}: open in {others}; take a copy of it with `snapshot`, and restore that", from.display());
    Err(Failure::new("already_open", what))
}

/// What went wrong with the copy is wrong with the snapshot, which is the name that somebody knows.
fn of_source(failure: Failure, copied: &Path, from: &Path) -> Failure {
    let Failure { code, message } = failure;
    let named = message.replace(&copied.display().to_string(), &from.display().to_string());
    let message = match code.as_str() {
        "wrong_format" => named.replace("choose another path", "name a snapshot"),
        "corrupt" => named.replace("restore it from a snapshot", "name another snapshot"),
        _ => named,
    };
    Failure { code, message }
}

/// The file that is there now, held so that nobody opens it meanwhile, unless it is beyond that.
struct Old(Option<Ledger>);

impl Old {
    fn of(file: &Path) -> Result<Option<Self>> {
        let Ok(metadata) = file.symlink_metadata() else { return Ok(None) };
        if metadata.is_dir() {
            return Err(Failure::new("wrong_format", format!("{}: that is a folder", file.display())));
        }
        match Ledger::open(file) {
            Ok(ledger) => Ok(Some(Old(Some(ledger)))),
            Err(error) => match error.code() {
                ErrorCode::AlreadyOpen => Err(holder::in_the_way_of_restore(file)),
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

/// A name for the old file that nothing has.
fn kept_at(file: &Path) -> PathBuf {
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ").to_string();
    let names =
        std::iter::once(format!("replaced-{now}")).chain((2..).map(|number| format!("replaced-{now}-{number}")));
    let mut paths = names.map(|name| beside(file, &name));
    paths.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| file.to_owned())
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
    let mut target = made(to).map_err(of_to)?;
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

/// A new file, which nobody else may open.
fn made(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
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

/// Moves the new file into its place; owner and mode are on the disk before.
fn put(new: &Path, file: &Path, ownership: &Ownership) -> std::io::Result<()> {
    // Opened while it is ours.
    let opened = File::open(new)?;
    ownership.give(new);
    opened.sync_all()?;
    fs::rename(new, file)
}

fn sync_folder(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| Failure::of_file(folder, &error))?;
    }
    Ok(())
}
