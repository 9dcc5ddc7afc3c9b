//! A request as a backend gets it.

use super::error::PassError;
use super::request_head;
use crate::app::App;
use crate::lanes::LaneId;
use crate::sendfile;
use crate::spool::{NotSpooled, SpooledUpload};
use client::BackendBody;
use front::{Interim, Request};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Uri, Version, header};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use telemetry::Event;

/// A request as a backend gets it.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// The method.
    pub(crate) method: Method,
    /// Path and query, as the client sent them.
    pub(crate) target: PathAndQuery,
    /// The end-to-end headers, with `Host` and the forwarding headers.
    pub(crate) headers: HeaderMap,
    /// Its body, which has arrived completely. `None`: it has none.
    pub(crate) upload: Option<SpooledUpload>,
    /// Gets the interim responses.
    pub(crate) interim: Interim,
    /// The lane of its path.
    pub(crate) lane: LaneId,
    /// The client wishes to change the protocol.
    pub(super) upgrades: bool,
    /// The client cannot tell a part of a body of unknown length from the whole: HTTP/1.0.
    pub(crate) needs_len: bool,
}

impl Outgoing {
    /// Makes it from the request of a client, and receives the body first.
    pub(crate) async fn of(app: &Arc<App>, request: &mut Request, event: &mut Event) -> Result<Self, PassError> {
        let target = request.target().filter(|_| request.method != Method::CONNECT).ok_or(PassError::NotAProxy)?;
        let upgrade = request_head::upgrade(request);
        let told = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING];
        let told = told.iter().any(|name| request.headers.contains_key(name));
        let mut headers = request_head::of(app, request, event.at, upgrade.as_ref());
        let upload = match request.upload.is_none() {
            true => None,
            false => {
                let upload = &mut request.upload;
                Some(app.spool.receive(upload, request_head::clean_trailers, event).await.map_err(not_spooled)?)
            }
        };
        // A request that told that it has no body tells it on. The length of a body is told with the body.
        if upload.is_none() && told {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        Ok(Self {
            method: request.method.clone(),
            lane: app.lanes.of(target.path()),
            target,
            headers,
            upload,
            interim: request.interim.clone(),
            upgrades: upgrade.is_some(),
            needs_len: request.version < Version::HTTP_11,
        })
    }

    /// The same request once more, for a refresh in the background. `None`: it has a body, or changes the protocol.
    pub(crate) fn again(&self) -> Option<Self> {
        (self.upload.is_none() && !self.upgrades).then(|| Self {
            method: self.method.clone(),
            target: self.target.clone(),
            headers: self.headers.clone(),
            upload: None,
            interim: Interim::default(),
            lane: self.lane,
            upgrades: false,
            needs_len: false,
        })
    }

    /// Whether it may be sent once more after it may have been received (RFC 9110, 9.2.2), by methods that change nothing.
    pub(super) fn is_safe(&self) -> bool {
        [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE].contains(&self.method)
    }

    /// The request without the offer to send files for the application. `false`: it had none, or its method may change something.
    pub(super) fn declines_files(&mut self) -> bool {
        let offered = self.headers.remove(sendfile::X_SENDFILE_TYPE).is_some();
        self.headers.remove(sendfile::X_ACCEL_MAPPING);
        offered && [Method::GET, Method::HEAD].contains(&self.method)
    }

    /// The request for one attempt. `progress` has the time of the last piece of its body that the backend took.
    pub(super) fn request(&self, progress: &Arc<AtomicU64>) -> http::Request<BackendBody> {
        let body = match &self.upload {
            None => BackendBody::Empty,
            Some(upload) => match upload.bytes() {
                Some(bytes) => BackendBody::Bytes(bytes),
                None => BackendBody::Source(Box::new(upload.reader(progress.clone()))),
            },
        };
        let mut request = http::Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = Uri::from(self.target.clone());
        *request.headers_mut() = self.headers.clone();
        request
    }
}

fn not_spooled(why: NotSpooled) -> PassError {
    match why {
        NotSpooled::Upload(error) => PassError::Upload(error),
        NotSpooled::Full => PassError::SpoolFull,
        NotSpooled::Io(error) => PassError::Spool(error),
    }
}
