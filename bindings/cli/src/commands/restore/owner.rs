//! Whose a restored file is. A program that opened the file before has to be able to open it afterwards, whoever restores it.

use std::fmt;
use std::path::Path;

use crate::failure::{Failure, Result};
use crate::interrupt::Unfinished;

/// Who may open a file. The system's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner {
    user: u32,
    group: u32,
    mode: u32,
}

/// Whose the restored file shall be, and whose it can be.
#[derive(Debug)]
pub(super) struct Ownership {
    wanted: Option<Owner>,
    given: Option<Owner>,
}

impl Ownership {
    /// Tries it out on a file beside `file`, which is taken away again.
    pub(super) fn tried(file: &Path) -> Result<Self> {
        let scratch = Unfinished::at(super::beside(file, "restoring-owner"));
        let folder = file.parent().unwrap_or(file);
        super::made(scratch.path()).map_err(|error| Failure::of_file(folder, &error))?;
        let wanted = system::wanted(file, scratch.path());
        let given = wanted.and_then(|wanted| system::give(scratch.path(), wanted));
        Ok(Self { wanted, given })
    }

    /// Gives the new file to them, as far as that can be.
    pub(super) fn give(&self, new: &Path) {
        self.wanted.and_then(|wanted| system::give(new, wanted));
    }

    /// What is not as it was, in words; `None`: all is.
    pub(super) fn lost(&self) -> Option<String> {
        let (wanted, given) = (self.wanted?, self.given?);
        (wanted != given).then(|| {
            format!(
                "it will belong to {given} instead of {wanted}, so whoever opens it now may not be able to any more"
            )
        })
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, group, mode } = self;
        write!(f, "user {user} and group {group} (mode {mode:04o})")
    }
}

#[cfg(unix)]
mod system {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::path::Path;

    use super::Owner;

    /// The bits of a mode that let somebody in, and those of the group.
    const ACCESS: u32 = 0o777;
    const OF_GROUP: u32 = 0o070;
    const ROOT: u32 = 0;

    fn of(path: &Path) -> Option<Owner> {
        let metadata = fs::metadata(path).ok()?;
        Some(Owner { user: metadata.uid(), group: metadata.gid(), mode: metadata.mode() & ACCESS })
    }

    /// That of the file; where there is none, and root asks, it is whose the folder is; else whose `scratch` is.
    pub(super) fn wanted(file: &Path, scratch: &Path) -> Option<Owner> {
        let own = of(scratch)?;
        let folder = || Some(Owner { mode: own.mode, ..of(scratch.parent()?)? });
        of(file).or_else(|| if own.user == ROOT { folder() } else { Some(own) })
    }

    /// Gives it away, as far as that is allowed; whose it is then. A group that it was not meant for may do nothing with it.
    pub(super) fn give(path: &Path, wanted: Owner) -> Option<Owner> {
        let Owner { user, group, mode } = wanted;
        if chown(path, Some(user), Some(group)).is_err() {
            let _ = chown(path, None, Some(group));
        }
        let is_of_group = of(path)?.group == group;
        let mode = if is_of_group { mode } else { mode & !OF_GROUP };
        let _ = fs::set_permissions(path, Permissions::from_mode(mode));
        of(path)
    }
}

#[cfg(not(unix))]
mod system {
    use std::path::Path;

    use super::Owner;

    pub(super) fn wanted(_: &Path, _: &Path) -> Option<Owner> {
        None
    }

    pub(super) fn give(_: &Path, _: Owner) -> Option<Owner> {
        None
    }
}
