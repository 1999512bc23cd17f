//! Words that are misspelt often. A short list of our own, not a dictionary: see docs/decisions/0005.

use super::tree::File;
use std::collections::BTreeMap;

/// Each line: what is written, and what was meant.
const LIST: &str = include_str!("misspellings.txt");

fn list() -> BTreeMap<&'static str, &'static str> {
    LIST.lines().filter_map(|line| line.split_once(' ')).collect()
}

/// Every misspelt word of the files.
fn offences(files: &[File]) -> Vec<String> {
    let list = list();
    let in_line =
        |line: &str| words(line).filter_map(|word| list.get(word.as_str()).map(|meant| (word, *meant))).collect();
    let in_file = |file: &File| {
        let lines = file.text.lines().enumerate();
        let found = lines.flat_map(|(index, line)| -> Vec<_> {
            let words: Vec<(String, &str)> = in_line(line);
            words.into_iter().map(|(word, meant)| format!("{}:{}: {word}: {meant}", file.path, index + 1)).collect()
        });
        found.collect::<Vec<_>>()
    };
    files.iter().flat_map(in_file).collect()
}

/// The words of a line in lower case; a name in snake case or camel case is several.
fn words(line: &str) -> impl Iterator<Item = String> {
    let runs = line.split(|letter: char| !letter.is_ascii_alphabetic());
    runs.flat_map(|run| {
        let mut words = vec![String::new()];
        let mut after_lower = false;
        for letter in run.chars() {
            if letter.is_ascii_uppercase() && after_lower {
                words.push(String::new());
            }
            after_lower = letter.is_ascii_lowercase();
            words.last_mut().expect("there is a word").push(letter.to_ascii_lowercase());
        }
        words
    })
}

#[cfg(test)]
mod tests {
    use super::{File, LIST, list, offences};
    use crate::{refuse, tree};

    #[test]
    fn no_word_is_misspelt() {
        // A lock file's hashes are letters that happen to be words.
        let no_prose = ["/misspellings.txt", "/package-lock.json"];
        let files = tree::files().into_iter().filter(|file| !no_prose.iter().any(|name| file.path.ends_with(name)));
        refuse(&offences(&files.collect::<Vec<_>>()));
    }

    #[test]
    fn a_misspelt_word_is_found_in_prose_and_in_names() {
        let (wrong, right) = list().into_iter().next().expect("the list is not empty");
        let name = format!("let the{}{}Count = get_{wrong}();", wrong[..1].to_uppercase(), &wrong[1..]);
        let text = format!("a {right}\na {wrong}, again\n{name}\n");
        assert_eq!(offences(&[File { path: "x".to_owned(), text }]).len(), 3);
    }

    #[test]
    fn the_list_is_in_order_and_no_word_of_it_is_meant_elsewhere() {
        let lines: Vec<&str> = LIST.lines().collect();
        assert!(lines.is_sorted(), "keep the list sorted");
        assert!(list().values().all(|meant| !list().contains_key(meant)));
    }
}
