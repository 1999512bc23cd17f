//! What a part needs of the system and does not find: installed on Debian as root, else told.

use crate::test::parts::Step;
use std::process::{Command, Stdio};

/// Nothing where `is_there`; else the commands that install `packages`, where that can be done here. Where it cannot, the part goes on
/// without, and its own first step that needs them fails and says so.
pub(crate) fn install(is_there: bool, packages: &[&str]) -> Vec<Step> {
    let is_root_on_debian = quietly(Command::new("sh").args(["-c", "test $(id -u) = 0 && command -v apt-get"]));
    if is_there || !is_root_on_debian {
        return Vec::new();
    }
    let mut update = Command::new("apt-get");
    update.args(["update", "-qq"]);
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages);
    vec![Step::new(update), Step::new(install)]
}

/// Whether a command ends well. Nothing of it is seen.
pub(crate) fn quietly(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}
