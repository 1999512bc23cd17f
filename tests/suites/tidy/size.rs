//! Files and functions that can be read at one go.

use super::source::{Token, closing, starts, tokens};
use super::tree::File;

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;

/// Every file and every function that is too long.
fn offences(files: &[File]) -> Vec<String> {
    files.iter().flat_map(|file| long_file(file).into_iter().chain(long_functions(file))).collect()
}

fn long_file(file: &File) -> Option<String> {
    let lines = file.text.lines().count();
    (lines > FILE_LINES_MAX).then(|| format!("{}: {lines} lines", file.path))
}

fn long_functions(file: &File) -> Vec<String> {
    let tokens = tokens(file);
    let lengths = (0..tokens.len()).filter_map(|at| function_length(&tokens, at));
    let long = lengths.filter(|(_, _, lines)| *lines > FUNCTION_LINES_MAX);
    long.map(|(name, line, lines)| format!("{}:{line}: fn {name} has {lines} lines", file.path)).collect()
}

/// Name, first line and number of lines of the function that begins at `at`, if one with a body does.
fn function_length(tokens: &[Token], at: usize) -> Option<(&str, usize, usize)> {
    if !starts(tokens, at, &["fn"]) {
        return None;
    }
    let mut body = at + 2;
    while !starts(tokens, body, &["{"]) {
        body = match tokens.get(body)?.text.as_str() {
            ";" | "}" => return None,
            "(" | "[" => closing(tokens, body) + 1,
            _ => body + 1,
        };
    }
    let end = tokens.get(closing(tokens, body))?.line;
    Some((&tokens[at + 1].text, tokens[at].line, end + 1 - tokens[at].line))
}

#[cfg(test)]
mod tests {
    use super::{FILE_LINES_MAX, FUNCTION_LINES_MAX, File, offences};
    use crate::{refuse, tree};

    fn sample(text: String) -> Vec<String> {
        offences(&[File { path: "x.rs".to_owned(), text }])
    }

    #[test]
    fn files_and_functions_can_be_read_at_one_go() {
        refuse(&offences(&tree::rust_files()));
    }

    #[test]
    fn a_long_file_is_refused() {
        assert_eq!(sample("//\n".repeat(FILE_LINES_MAX + 1)), ["x.rs: 401 lines"]);
        assert!(sample("//\n".repeat(FILE_LINES_MAX)).is_empty());
    }

    #[test]
    fn a_long_function_is_refused() {
        let function = |lines: usize| format!("trait T {{ fn g(); }}\nfn f() {{\n{}}}", "g();\n".repeat(lines - 2));
        assert_eq!(sample(function(FUNCTION_LINES_MAX + 1)), ["x.rs:2: fn f has 71 lines"]);
        assert!(sample(function(FUNCTION_LINES_MAX)).is_empty());
    }
}
