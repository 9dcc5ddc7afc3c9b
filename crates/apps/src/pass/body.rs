//! The body of a response, received at the speed of its backend.

use super::answered::Answered;
use super::error::PassError;
use crate::app::App;
use crate::spool::{Broken, Copying, Queue, QueueReader};
use bytes::{Bytes, BytesMut};
use front::Stream;
use http::HeaderMap;
use hyper::body::Frame;
use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use telemetry::{Event, Op, Reason, Tick, under_way};
use tokio::task::{spawn_local, yield_now};
use tokio::time::sleep;

/// A body up to this length that is there at once needs no task and no spool.
const SMALL: usize = 64 << 10;

/// A body that is received by a task of its own, into a spool.
pub(crate) struct SpooledBody {
    queue: Queue,
    /// The reading end, where the whole body came before the reply.
    reader: Option<QueueReader>,
    /// Receives the rest, until the task begins.
    receiver: Rc<Cell<Option<Box<Receiver>>>>,
    len: Option<u64>,
}

/// A body that was received, or begun.
pub(super) enum Received {
    /// It is complete.
    Whole(Bytes),
    /// A task receives it.
    Spooled(SpooledBody),
}

/// Receives a body.
struct Receiver {
    app: Arc<App>,
    answered: Answered,
    /// The bytes that were there at once.
    first: Bytes,
    queue: Queue,
}

/// What polling a body for all that is there gives.
enum Begun {
    /// It is complete, with its trailers.
    Whole(Option<HeaderMap>),
    /// More is to come.
    More,
    /// It broke off.
    Broken(client::Error),
}

/// Receives a small body at once, and lets a task receive any other. `needs_len`: the client must know the length before the first byte.
pub(super) async fn receive(
    app: &Arc<App>,
    mut answered: Answered,
    needs_len: bool,
    event: &mut Event,
) -> Result<Received, PassError> {
    let mut first = BytesMut::with_capacity(answered.len().map_or(0, |len| len.min(SMALL as u64) as usize));
    let mut begun = begin(&mut answered, &mut first);
    let small = answered.len().is_none_or(|left| left + first.len() as u64 <= SMALL as u64);
    if matches!(begun, Begun::More) && small && first.len() < SMALL {
        // Servers write the head and the body in two writes: the second one often comes right behind.
        yield_now().await;
        begun = begin(&mut answered, &mut first);
    }
    let len = answered.len().map(|left| left + first.len() as u64);
    let queue = Queue::since(answered.at);
    match begun {
        Begun::Whole(None) => {
            event.add(Op::AppBody, Tick::now().since(answered.at));
            answered.finish();
            return Ok(Received::Whole(first.freeze()));
        }
        Begun::Whole(trailers) => {
            queue.begin_with(first.freeze());
            queue.end(Ok(trailers));
            answered.finish();
            let receiver = Rc::default();
            return Ok(Received::Spooled(SpooledBody { queue, reader: None, receiver, len }));
        }
        Begun::Broken(error) => {
            let error = PassError::of_call(&error);
            answered.lease.failed(error.reason());
            return Err(error);
        }
        Begun::More => {}
    }
    let receiver = Receiver { app: app.clone(), answered, first: first.freeze(), queue: queue.clone() };
    let mut body = SpooledBody { queue, reader: None, receiver: Rc::new(Cell::new(Some(Box::new(receiver)))), len };
    if needs_len && len.is_none() {
        let _waits = under_way(Op::AppBody);
        body.len = Some(body.whole().await?);
    }
    Ok(Received::Spooled(body))
}

/// Takes the frames that are there, up to [`SMALL`] bytes.
fn begin(answered: &mut Answered, first: &mut BytesMut) -> Begun {
    let mut cx = Context::from_waker(Waker::noop());
    while first.len() < SMALL {
        match answered.poll_frame(&mut cx) {
            Poll::Ready(Some(Ok(frame))) => match data_or_trailers(frame) {
                Ok(bytes) => first.extend_from_slice(&bytes),
                Err(trailers) => return Begun::Whole(Some(trailers)),
            },
            Poll::Ready(Some(Err(error))) => return Begun::Broken(error),
            Poll::Ready(None) => return Begun::Whole(None),
            Poll::Pending => break,
        }
    }
    Begun::More
}

fn data_or_trailers(frame: Frame<Bytes>) -> Result<Bytes, HeaderMap> {
    frame.into_data().map_err(|frame| frame.into_trailers().unwrap_or_default())
}

impl SpooledBody {
    /// The declared length.
    pub(crate) fn len(&self) -> Option<u64> {
        self.len
    }

    /// The stream for the client.
    pub(super) fn into_stream(self) -> Stream {
        let reader = self.reader.unwrap_or_else(|| self.queue.reader());
        start(&self.receiver);
        Stream::new(reader, self.len)
    }

    /// The whole body, once it has come completely; `None`: it was cut, or is longer than `limit` bytes. To be called before the reply is made.
    /// Its first poll starts the task, unless the client's stream did; nobody else reads the body then.
    pub(crate) fn copy(&self, limit: usize) -> impl Future<Output = Option<Bytes>> + use<> {
        let fits = self.len.is_none_or(|len| len <= limit as u64);
        let copy = fits.then(|| CopiedBody { copying: self.queue.copy(limit), receiver: self.receiver.clone() });
        async move {
            let CopiedBody { copying, receiver } = copy?;
            start(&receiver);
            copying.await
        }
    }

    /// Waits for the end of the body, and returns its length.
    async fn whole(&mut self) -> Result<u64, PassError> {
        self.reader = Some(self.queue.late_reader());
        start(&self.receiver);
        self.queue.whole().await.map_err(|Broken { reason, detail }| match reason {
            Reason::SpoolFull => PassError::SpoolFull,
            Reason::AppInvalid => PassError::Invalid { detail },
            _ => PassError::Cut { detail },
        })
    }
}

struct CopiedBody {
    copying: Copying,
    receiver: Rc<Cell<Option<Box<Receiver>>>>,
}

fn start(receiver: &Cell<Option<Box<Receiver>>>) {
    if let Some(receiver) = receiver.take() {
        spawn_local(receiver.run());
    }
}

impl Receiver {
    /// Receives the body to its end, or until nobody wants it any more. The slot is free when the backend has sent its last byte.
    async fn run(self: Box<Self>) {
        let Self { app, mut answered, first, queue } = *self;
        let idle = app.options.body_idle;
        let mut next = Some(Ok(first));
        let end = loop {
            match next {
                Some(Ok(bytes)) => {
                    if let Err(broken) = queue.push(&app.spool, bytes).await {
                        break Err(broken);
                    }
                }
                Some(Err(trailers)) => break Ok(Some(trailers)),
                None => break Ok(None),
            }
            next = match frame(&mut answered, &queue, idle).await {
                Next::Frame(next) => next,
                Next::Broken(broken) => break Err(broken),
                // Dropping the connection tells the backend.
                Next::Unwanted => return,
            };
        };
        match &end {
            Ok(_) => answered.finish(),
            Err(broken) => {
                answered.lease.failed(broken.reason);
                drop(answered);
            }
        }
        queue.end(end);
    }
}

/// What comes next.
enum Next {
    /// Bytes, or trailers, or the end.
    Frame(Option<Result<Bytes, HeaderMap>>),
    Broken(Broken),
    Unwanted,
}

async fn frame(answered: &mut Answered, queue: &Queue, idle: Duration) -> Next {
    let mut silence = pin!(sleep(idle));
    poll_fn(|cx| {
        if queue.poll_unwanted(cx).is_ready() {
            return Poll::Ready(Next::Unwanted);
        }
        match answered.poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Next::Frame(Some(data_or_trailers(frame)))),
            Poll::Ready(Some(Err(error))) => {
                let (reason, detail) = (PassError::of_call(&error).reason(), error.to_string());
                Poll::Ready(Next::Broken(Broken { reason, detail }))
            }
            Poll::Ready(None) => Poll::Ready(Next::Frame(None)),
            Poll::Pending => silence.as_mut().poll(cx).map(|()| {
                let detail = format!("the application sent nothing for {idle:?} within its response");
                Next::Broken(Broken { reason: Reason::AppSilent, detail })
            }),
        }
    })
    .await
}

impl fmt::Debug for SpooledBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpooledBody").field("len", &self.len).finish_non_exhaustive()
    }
}
