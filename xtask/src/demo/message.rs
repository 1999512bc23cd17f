//! An HTTP message as it passes the proxy: a first line, field lines, a body whose length is told.

use anyhow::{Result, ensure};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) first_line: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    /// An answer that the proxy makes up.
    pub(crate) fn answer(status: u16, fields: &[(&str, &str)]) -> Self {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let length = ("Content-Length".to_owned(), "0".to_owned());
        Self { first_line: format!("HTTP/1.1 {status} -"), fields: fields.chain([length]).collect(), body: Vec::new() }
    }

    /// Reads one message.
    pub(crate) fn read(stream: &TcpStream) -> Result<Self> {
        let mut reader = BufReader::new(stream);
        let mut message = Self { first_line: line(&mut reader)?, ..Self::default() };
        loop {
            let line = line(&mut reader)?;
            let Some((name, value)) = line.split_once(':') else { break };
            message.fields.push((name.to_owned(), value.trim().to_owned()));
        }
        let length = message.field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        message.body = vec![0; length];
        reader.read_exact(&mut message.body)?;
        Ok(message)
    }

    /// Writes it, as the last one of its connection.
    pub(crate) fn write(&self, mut stream: &TcpStream) -> Result<()> {
        let mut bytes = format!("{}\r\nConnection: close\r\n", self.first_line).into_bytes();
        for (name, value) in self.fields.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("connection")) {
            write!(bytes, "{name}: {value}\r\n")?;
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        Ok(stream.write_all(&bytes)?)
    }

    /// The value of the first line of that name.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.fields.iter();
        lines.find(|(line, _)| line.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The second word of its first line: a request's path, an answer's status.
    pub(crate) fn second_word(&self) -> &str {
        self.first_line.split_whitespace().nth(1).unwrap_or_default()
    }
}

fn line(reader: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    ensure!(reader.read_line(&mut line)? > 0, "a message breaks off");
    Ok(line.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::Message;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn what_was_written_is_read_save_for_what_belongs_to_the_connection() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let line = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fields = vec![line("connection", "keep-alive"), line("X", "a: b"), line("Content-Length", "2")];
        let message = Message { first_line: "POST /x HTTP/1.1".to_owned(), fields, body: b"\r\n".to_vec() };
        message.write(&sender).unwrap();
        let read = Message::read(&listener.accept().unwrap().0).unwrap();
        assert_eq!((read.second_word(), read.field("x"), &read.body), ("/x", Some("a: b"), &message.body));
        assert_eq!(read.field("Connection"), Some("close"));
    }
}
