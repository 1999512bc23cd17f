//! Words that no file may hold: what is put off, what is switched off, and where somebody's machine keeps things.

use super::tree::File;

/// Spelled in two halves each, so that this file does not hold them either.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    ("todo", "!(", "write it, or leave it out"),
    ("unimplemented", "!(", "write it, or leave it out"),
    ("#[", "ignore", "a test that does not run holds nothing"),
    ("FIX", "ME", "mend it, or open an issue"),
    ("/ho", "me/", "a path of one machine"),
    ("/ro", "ot/", "a path of one machine"),
    ("/wo", "rk/", "a path of one machine"),
    ("/Us", "ers/", "a path of one machine"),
    ("C:\\", "Users", "a path of one machine"),
];

/// Every line that holds a forbidden word.
fn offences(files: &[File]) -> Vec<String> {
    let in_line = |path: &str, number: usize, line: &str| {
        let found = FORBIDDEN.iter().find(|(first, second, _)| line.contains(&format!("{first}{second}")));
        found.map(|(first, second, why)| format!("{path}:{number}: {first}{second}: {why}"))
    };
    let in_file = |file: &File| {
        let lines = file.text.lines().enumerate();
        lines.filter_map(|(index, line)| in_line(&file.path, index + 1, line)).collect::<Vec<_>>()
    };
    files.iter().flat_map(in_file).collect()
}

#[cfg(test)]
mod tests {
    use super::{FORBIDDEN, File, offences};
    use crate::{refuse, tree};

    #[test]
    fn nothing_is_put_off_or_switched_off_or_tied_to_a_machine() {
        refuse(&offences(&tree::files()));
    }

    #[test]
    fn each_forbidden_word_is_found() {
        for (first, second, _) in FORBIDDEN {
            let text = format!("one\nbefore {first}{second} after\n");
            assert_eq!(offences(&[File { path: "x".to_owned(), text }]).len(), 1, "{first}{second}");
        }
    }
}
