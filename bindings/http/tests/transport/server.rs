//! A server on loopback that does what a script says, and keeps every request as it came.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the server does with one connection.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Reads the request and sends these bytes.
    Answer(Vec<u8>),
    /// Reads the request and says nothing, until the other side has gone.
    Silence,
    /// Reads the request, sends these bytes, and then nothing, until the other side has gone.
    Stall(Vec<u8>),
    /// Reads the request and closes.
    Cut,
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Request line and field lines, without their ends.
    pub(crate) head: Vec<String>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// The values of the lines of one name.
    pub(crate) fn values(&self, name: &str) -> Vec<&str> {
        let lines = self.head.iter().filter_map(|line| line.split_once(": "));
        lines.filter(|(line, _)| line.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }
}

pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Takes one connection for each act, in order.
    pub(crate) fn start(script: Vec<Act>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let (port, seen) = (listener.local_addr().unwrap().port(), Arc::default());
        let server = Self { port, seen: Arc::clone(&seen) };
        thread::spawn(move || {
            for act in script {
                serve(&listener.accept().unwrap().0, &act, &seen);
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// An answer that closes its connection.
pub(crate) fn answer(status: u16, fields: &[(&str, &str)], body: &str) -> Act {
    let mut text = format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in fields {
        text.extend([name, ": ", value, "\r\n"]);
    }
    text.extend(["\r\n", body]);
    Act::Answer(text.into_bytes())
}

fn serve(mut stream: &TcpStream, act: &Act, seen: &Mutex<Vec<Seen>>) {
    seen.lock().unwrap().push(read(stream));
    match act {
        Act::Answer(bytes) => stream.write_all(bytes).unwrap(),
        Act::Silence => drop(stream.read(&mut [0; 1])),
        Act::Stall(bytes) => {
            stream.write_all(bytes).unwrap();
            drop(stream.read(&mut [0; 1]));
        }
        Act::Cut => {}
    }
}

fn read(stream: &TcpStream) -> Seen {
    let mut reader = BufReader::new(stream);
    let mut seen = Seen { head: Vec::new(), body: Vec::new() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            line => seen.head.push(line.to_owned()),
        }
    }
    let length = seen.values("content-length").first().map_or(0, |length| length.parse().unwrap());
    seen.body = vec![0; length];
    reader.read_exact(&mut seen.body).unwrap();
    seen
}
