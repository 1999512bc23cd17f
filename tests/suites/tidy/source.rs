//! Rust source as a flat list of tokens: comments and the insides of strings are gone, the bodies of macros are not.

use super::tree::File;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A word, a sign, a bracket; literals are one word, `""`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The tokens of a file.
pub(crate) fn tokens(file: &File) -> Vec<Token> {
    let stream: TokenStream = file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path));
    let mut flat = Vec::new();
    flatten(stream, &mut flat);
    flat
}

fn flatten(stream: TokenStream, flat: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let mut push = |text: String, line| flat.push(Token { text, line });
        match tree {
            TokenTree::Ident(ident) => push(ident.to_string(), line),
            TokenTree::Punct(punct) => push(punct.as_char().to_string(), line),
            TokenTree::Literal(_) => push("\"\"".to_owned(), line),
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                push(open.to_owned(), line);
                let last = group.span_close().end().line;
                flatten(group.stream(), flat);
                flat.push(Token { text: close.to_owned(), line: last });
            }
        }
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// Whether the tokens from `at` on have these texts.
pub(crate) fn starts(tokens: &[Token], at: usize, texts: &[&str]) -> bool {
    tokens.get(at..at + texts.len()).is_some_and(|run| run.iter().zip(texts).all(|(token, text)| token.text == *text))
}

/// The index of the bracket that closes the one at `open`.
pub(crate) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len()
}

/// The tokens without the modules that are compiled for tests only.
pub(crate) fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(end) = test_module_end(tokens, at) {
            at = end;
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Where the module ends that begins at `at` with `#[cfg(test)]`, if one does.
fn test_module_end(tokens: &[Token], at: usize) -> Option<usize> {
    if !starts(tokens, at, &["#", "[", "cfg", "("]) {
        return None;
    }
    let attribute = closing(tokens, at + 1);
    let condition = &tokens[at + 4..attribute];
    let says = |word: &str| condition.iter().any(|token| token.text == word);
    if !says("test") || says("not") || !starts(tokens, attribute + 1, &["mod"]) {
        return None;
    }
    let body = attribute + 3;
    Some(if starts(tokens, body, &["{"]) { closing(tokens, body) + 1 } else { body + 1 })
}

#[cfg(test)]
mod tests {
    use super::{File, tokens, without_tests};

    #[test]
    fn comments_and_strings_hold_no_words() {
        let text = "// unsafe\n/* redb */ fn f() { g(\"unsafe\"); }".to_owned();
        let file = File { path: String::new(), text };
        assert!(tokens(&file).iter().all(|token| token.text != "unsafe" && token.text != "redb"));
    }

    #[test]
    fn modules_for_tests_are_cut_out_and_nothing_else() {
        let text = "fn a() {} #[cfg(test)] mod tests { fn b() {} } #[cfg(not(test))] mod c { fn d() {} }".to_owned();
        let kept = without_tests(&tokens(&File { path: String::new(), text }));
        let words: Vec<&str> = kept.iter().map(|token| token.text.as_str()).collect();
        assert!(words.contains(&"a") && words.contains(&"d") && !words.contains(&"b"));
    }
}
