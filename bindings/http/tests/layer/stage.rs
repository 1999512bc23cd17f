//! A server on loopback, and a client of raw sockets.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use axum::Router;
use axum::http::request::Parts;
use keyledger::Scope;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// A server that ends when this is dropped.
pub(crate) struct Server {
    pub(crate) port: u16,
    _runtime: Runtime,
}

impl Server {
    pub(crate) fn of(router: Router) -> Self {
        Self::with_blocking_threads(router, 512)
    }

    /// One whose runtime has that many threads for what blocks.
    pub(crate) fn with_blocking_threads(router: Router, count: usize) -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).max_blocking_threads(count).enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { port, _runtime: runtime }
    }

    /// Everything that comes back for these bytes, until the server closes the connection.
    pub(crate) fn raw(&self, request: &str) -> String {
        let mut connection = connect(self.port);
        // A server may answer, and close, before it has read everything.
        let _ = connection.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = connection.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The status and the body of the answer to a POST.
    pub(crate) fn post(&self, path: &str, key: &str) -> (u16, String) {
        post(self.port, path, key)
    }
}

/// Everybody is one user here.
pub(crate) fn one_user(_: &Parts) -> Option<Scope> {
    Scope::new("somebody").ok()
}

/// The bytes of a POST whose body is its path.
pub(crate) fn request(path: &str, key: &str) -> String {
    let length = path.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n");
    format!("{head}Idempotency-Key: \"{key}\"\r\n\r\n{path}")
}

pub(crate) fn post(port: u16, path: &str, key: &str) -> (u16, String) {
    let mut connection = connect(port);
    connection.write_all(request(path, key).as_bytes()).expect("the request is sent");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("the answer comes");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    (head[9..12].parse().expect("a status"), body.to_owned())
}

/// Sends a request, or a part of it, and goes away. Nobody knows how much of it arrives.
pub(crate) fn post_and_leave(port: u16, path: &str, key: &str, percent: usize) {
    let mut connection = connect(port);
    let request = request(path, key);
    let sent = &request.as_bytes()[..request.len() * percent / 100];
    connection.write_all(sent).expect("a part is sent");
    std::thread::sleep(Duration::from_micros(fastrand::u64(0..3000)));
    let _ = connection.shutdown(Shutdown::Both);
}

fn connect(port: u16) -> TcpStream {
    let connection = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    connection.set_read_timeout(Some(Duration::from_secs(20))).expect("a time limit");
    connection
}
