//! Requests and responses as bytes on a connection.

use std::io::{Read, Write};
use std::net::TcpStream;

use keyledger_http::Answer;
use keyledger_http::message::{Fields, lines_of};

use crate::format::Request;
use crate::stage::PATIENCE;

/// What came back.
#[derive(Debug)]
pub(crate) enum Got {
    Whole(Answer),
    /// The connection ended in the middle, or before the first byte.
    Broken,
}

/// A connection on which `request` has been sent.
pub(crate) fn send(port: u16, request: &Request) -> TcpStream {
    let mut connection = connect(port);
    let body = framed_body(request);
    connection.write_all(&head(request)).expect("the head is sent");
    // A server may answer, and close, before it has read everything.
    let _ = connection.write_all(&body);
    connection
}

/// The same, but the body is cut in its middle.
pub(crate) fn send_half(port: u16, request: &Request) {
    let mut connection = connect(port);
    let body = framed_body(request);
    connection.write_all(&head(request)).expect("the head is sent");
    connection.write_all(&body[..body.len() / 2]).expect("half of the body is sent");
}

fn connect(port: u16) -> TcpStream {
    let connection = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    connection.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    connection
}

fn head(request: &Request) -> Vec<u8> {
    let framing = match request.pieces {
        None => format!("Content-Length: {}", request.body.bytes().len()),
        Some(_) => "Transfer-Encoding: chunked".to_owned(),
    };
    let first = format!("{} {} HTTP/1.1", request.method, request.target);
    let own = ["Host: pay.example".to_owned(), "Connection: close".to_owned(), framing];
    let lines: Vec<String> = std::iter::once(first).chain(own).chain(request.lines()).collect();
    (lines.join("\r\n") + "\r\n\r\n").into_bytes()
}

fn framed_body(request: &Request) -> Vec<u8> {
    let body = request.body.bytes();
    let Some(pieces) = request.pieces else { return body };
    let mut random = fastrand::Rng::with_seed(body.len() as u64 + pieces as u64);
    let mut cuts: Vec<usize> = (1..pieces).map(|_| random.usize(1..body.len())).collect();
    cuts.extend([0, body.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let mut framed = Vec::new();
    for piece in cuts.windows(2) {
        framed.extend(format!("{:x}\r\n", piece[1] - piece[0]).into_bytes());
        framed.extend_from_slice(&body[piece[0]..piece[1]]);
        framed.extend_from_slice(b"\r\n");
    }
    framed.extend_from_slice(b"0\r\n\r\n");
    framed
}

/// Reads to the end of the connection.
pub(crate) fn receive(mut connection: TcpStream, has_body: bool) -> Got {
    let mut bytes = Vec::new();
    // A reset after the answer says nothing about the answer.
    let _ = connection.read_to_end(&mut bytes);
    understand(&bytes, has_body).map_or(Got::Broken, Got::Whole)
}

fn understand(bytes: &[u8], has_body: bool) -> Option<Answer> {
    let mut lines = [httparse::EMPTY_HEADER; 100];
    let mut message = httparse::Response::new(&mut lines);
    let httparse::Status::Complete(length) = message.parse(bytes).ok()? else { return None };
    let fields: Fields = message.headers.iter().map(|line| (line.name.to_owned(), line.value.to_vec())).collect();
    let status = message.code?;
    let rest = &bytes[length..];
    let body = if has_body && !matches!(status, 204 | 304) { unframed(&fields, rest)? } else { Vec::new() };
    Some(Answer { status, fields, body })
}

fn unframed(fields: &Fields, rest: &[u8]) -> Option<Vec<u8>> {
    if lines_of(fields, "Transfer-Encoding").any(|value| value == b"chunked") {
        return unchunked(rest);
    }
    let length = lines_of(fields, "Content-Length").next()?;
    let length: usize = std::str::from_utf8(length).ok()?.parse().ok()?;
    (rest.len() == length).then(|| rest.to_vec())
}

fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let httparse::Status::Complete((at, size)) = httparse::parse_chunk_size(rest).ok()? else { return None };
        let end = at + usize::try_from(size).ok()?;
        body.extend_from_slice(rest.get(at..end)?);
        rest = rest.get(end + 2..)?;
        if size == 0 {
            return Some(body);
        }
    }
}
