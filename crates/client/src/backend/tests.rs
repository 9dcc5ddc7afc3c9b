//! Connections to an origin that says what a test has it say.

mod origin;
mod requests;
mod responses;
mod steps;

use super::*;
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use origin::{CLOSE, Origin};
use std::future::poll_fn;
use telemetry::{Event, Millis};

async fn connected(url: &str) -> BackendConnection {
    Backend::new(url).unwrap().connect(&mut Event::job("test", Millis(1))).await.unwrap()
}

fn get(path: &str) -> Request<BackendBody> {
    Request::get(path).header("host", "app").body(BackendBody::Empty).unwrap()
}

/// A whole body, and its trailers.
type Whole = (String, Option<HeaderMap>);

async fn whole(connection: &mut BackendConnection, body: &mut Incoming) -> Result<Whole, crate::Error> {
    let (mut data, mut trailers) = (Vec::new(), None);
    while let Some(frame) = poll_fn(|cx| connection.poll_frame(body, cx)).await {
        match frame?.into_data() {
            Ok(piece) => data.extend_from_slice(&piece),
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
    }
    Ok((String::from_utf8(data).unwrap(), trailers))
}

/// The outcome of one request to an origin that gives `answer`: the response and its body, or the label of the error. And whether the
/// connection can be used again.
async fn asked(request: Request<BackendBody>, answer: &str) -> (Result<(Response<()>, Whole), &'static str>, bool) {
    let origin = Origin::new(&[answer]);
    let mut connection = connected(&origin.url).await;
    let response = match connection.send(request, None).await {
        Ok(response) => response,
        Err(failed) => return (Err(failed.error.label()), connection.is_reusable()),
    };
    let (head, mut body) = response.into_parts();
    let read = whole(&mut connection, &mut body).await;
    let outcome = read.map(|whole| (Response::from_parts(head, ()), whole)).map_err(|error| error.label());
    (outcome, connection.is_reusable())
}

/// Waits until a connection cannot be used any more.
async fn ends(connection: &mut BackendConnection) {
    while connection.is_reusable() {
        tokio::task::yield_now().await;
    }
}
