//! The answer that everyone is told from then on: out of a file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use keyledger::admin::{Content, Outcome};
use keyledger::options::RESPONSE_BYTES_MAX;

use crate::arguments::ResolveArguments;
use crate::failure::{Failure, Result};
use crate::words;

/// What the command line says became of it.
pub(crate) fn outcome(arguments: &ResolveArguments) -> Result<Outcome> {
    let read = |path: &Path| -> Result<(String, Content)> {
        let bytes = bytes_of(path)?;
        let media_type = arguments.media_type.clone().unwrap_or_else(|| media_type(path, &bytes).to_owned());
        Ok((media_type, Content::of(&bytes)))
    };
    if let Some(path) = &arguments.completed {
        let (media_type, body) = read(path)?;
        return Ok(Outcome::Completed { media_type, body });
    }
    if let Some(path) = &arguments.failed {
        let (media_type, body) = read(path)?;
        return Ok(Outcome::Failed { media_type, body });
    }
    Ok(Outcome::NotDone)
}

/// No more of it than a ledger keeps (S4): of a longer one nobody would be told anything.
fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let failed = |error| Failure::of_file(path, &error);
    let source: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    let mut bytes = Vec::new();
    source.take(RESPONSE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > RESPONSE_BYTES_MAX {
        let most = words::bytes(RESPONSE_BYTES_MAX as u64);
        let what = format!("{}: an answer is kept up to {most}; nobody would be told this one", path.display());
        return Err(Failure::new("too_large", what));
    }
    Ok(bytes)
}

pub(super) fn length(body: &Content) -> String {
    words::bytes(body.bytes().map_or(0, |bytes| bytes.len() as u64))
}

/// By the file's name, then by what is in it.
fn media_type(path: &Path, bytes: &[u8]) -> &'static str {
    let is_text = std::str::from_utf8(bytes).is_ok();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => "application/json",
        Some("http") => keyledger_http::message::MEDIA_TYPE,
        Some("txt") if is_text => "text/plain; charset=utf-8",
        _ if bytes.starts_with(b"HTTP/1.") => keyledger_http::message::MEDIA_TYPE,
        _ if serde_json::from_slice::<serde_json::Value>(bytes).is_ok() => "application/json",
        _ if is_text => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::media_type;
    use std::path::Path;

    #[test]
    fn an_answers_media_type_is_told_by_its_name_then_by_what_it_is() {
        let told = |name: &str, bytes: &[u8]| media_type(Path::new(name), bytes);
        assert_eq!(told("a.json", b"{}"), "application/json");
        assert_eq!(told("a", b"{\"a\":1}"), "application/json");
        assert_eq!(told("a", b"HTTP/1.1 200 \r\n\r\n"), "application/http");
        assert_eq!(told("-", b"done"), "text/plain; charset=utf-8");
        assert_eq!(told("a.txt", &[0xff]), "application/octet-stream");
    }
}
