//! Serving on loopback as somebody's child: say the port, and leave when the parent is gone.

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// How long to ask for a port that something else has just let go of.
const BIND_PATIENCE: Duration = Duration::from_secs(10);

/// Serves until standard input ends, which it does when the parent closes it, or dies.
///
/// The first and only line on standard output is the port; `port` 0 takes a free one. Requests that are under way when
/// the parent goes are still answered.
pub async fn serve(port: u16, router: Router) -> io::Result<()> {
    let listener = bind(port).await?;
    println!("{}", listener.local_addr()?.port());
    io::stdout().flush()?;
    let parent = parent_gone();
    let ending = async move { parent.await.unwrap_or_default() };
    axum::serve(listener, router).with_graceful_shutdown(ending).await
}

async fn bind(port: u16) -> io::Result<TcpListener> {
    let started = Instant::now();
    loop {
        match TcpListener::bind(("127.0.0.1", port)).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse && started.elapsed() < BIND_PATIENCE => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            bound => return bound,
        }
    }
}

/// Returns when standard input ends, which it does when the parent closes it, or dies.
pub fn wait_for_parent() {
    let mut stdin = io::stdin().lock();
    let mut ignored = [0; 64];
    while stdin.read(&mut ignored).is_ok_and(|read| read > 0) {}
}

fn parent_gone() -> oneshot::Receiver<()> {
    let (tell, gone) = oneshot::channel();
    std::thread::spawn(move || {
        wait_for_parent();
        // Nobody listens any more when the server has ended first.
        let _ = tell.send(());
    });
    gone
}
