//! Bodies: of requests, that were read or pass through; of responses, that were held back or flow.

use std::error::Error;
use std::future::poll_fn;
use std::iter::successors;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Either, Full, LengthLimitError};
use tokio::sync::mpsc;

/// An error of any body.
pub type BoxError = Box<dyn Error + Send + Sync>;
/// What the inner service reads: the client's own body, or the bytes that were read of it.
pub type RequestBody<B> = Either<B, Full<Bytes>>;
/// What is sent: the inner service's own body, or one of the layer's.
pub type ResponseBody<B> = Either<B, UnsyncBoxBody<Bytes, BoxError>>;

/// How reading a request's body ended.
pub(super) enum Read {
    Whole(Bytes),
    TooLarge,
    Broken,
}

/// Reads a body of at most `bytes_max` bytes. A limit around the layer may be lower.
pub(super) async fn read<B>(body: B, bytes_max: usize) -> Read
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    if body.size_hint().lower() > bytes_max as u64 {
        return Read::TooLarge;
    }
    let mut body = pin!(body);
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = match frame.map_err(Into::into) {
            Ok(frame) => frame,
            Err(error) if is_past_limit(&*error) => return Read::TooLarge,
            Err(_) => return Read::Broken,
        };
        let Ok(data) = frame.into_data() else { continue };
        if read.len().saturating_add(data.len()) > bytes_max {
            return Read::TooLarge;
        }
        read.extend_from_slice(&data);
    }
    Read::Whole(read.freeze())
}

/// Whether it is, or comes from, the error of a body that is longer than somebody allows.
fn is_past_limit(error: &(dyn Error + 'static)) -> bool {
    successors(Some(error), |&error| error.source()).any(<dyn Error>::is::<LengthLimitError>)
}

/// All of a body that is there already.
pub(super) fn whole<B>(bytes: Bytes) -> ResponseBody<B> {
    Either::Right(Full::new(bytes).map_err(|never| match never {}).boxed_unsync())
}

/// The receiving end of a body that is still being written.
pub(super) struct Flow {
    frames: mpsc::Receiver<Result<Bytes, BoxError>>,
}

/// A body, and where to write it. Writing to one that nobody reads any more does nothing.
pub(super) fn flow<B>() -> (Pour, ResponseBody<B>) {
    let (pour, frames) = mpsc::channel(8);
    (Pour { frames: pour }, Either::Right(Flow { frames }.boxed_unsync()))
}

impl Body for Flow {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.frames.poll_recv(context).map(|next| next.map(|data| data.map(Frame::data)))
    }
}

/// The writing end.
pub(super) struct Pour {
    frames: mpsc::Sender<Result<Bytes, BoxError>>,
}

impl Pour {
    pub(super) async fn pour(&self, data: Result<Bytes, BoxError>) {
        // A client that has gone away stops nothing (H9).
        let _ = self.frames.send(data).await;
    }

    /// All that is left of a body. After an error there is nothing left of it, whatever it says.
    pub(super) async fn pour_all<B>(&self, mut body: Pin<&mut B>)
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        while let Some(data) = next(body.as_mut()).await {
            let is_broken = data.is_err();
            self.pour(data).await;
            if is_broken {
                return;
            }
        }
    }
}

/// The next data of a body; trailers are none of it. A body that panics has broken off.
pub(super) async fn next<B>(mut body: Pin<&mut B>) -> Option<Result<Bytes, BoxError>>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    loop {
        let poll =
            |context: &mut Context<'_>| match catch_unwind(AssertUnwindSafe(|| body.as_mut().poll_frame(context))) {
                Ok(polled) => polled.map_err(Into::into),
                Err(_) => Poll::Ready(Some(Err(BoxError::from("the body panicked")))),
            };
        match poll_fn(poll).await? {
            Ok(frame) => {
                if let Ok(data) = frame.into_data() {
                    return Some(Ok(data));
                }
            }
            Err(error) => return Some(Err(error)),
        }
    }
}
