//! Looks at the health path of backends.

use super::backend::{AppBackend, with_cause};
use super::health::Check;
use client::BackendBody;
use http::header::{CONNECTION, HOST, USER_AGENT};
use http::uri::PathAndQuery;
use http::{HeaderValue, Request};
use std::time::Duration;
use telemetry::Event;
use tokio::time::{sleep, timeout};

/// How often.
const EVERY: Duration = Duration::from_secs(5);
/// How long an answer may take.
const CHECK_MAX: Duration = Duration::from_secs(2);

/// The path that tells the health of a backend.
#[derive(Debug)]
pub(super) struct HealthPath {
    path: PathAndQuery,
    /// The host that is asked for. `None`: that of the backend.
    host: Option<HeaderValue>,
}

impl HealthPath {
    /// The first host of the application is asked for: Rails and Django refuse hosts that they do not know.
    pub(super) fn new(path: &str, hosts: &[String]) -> Result<Self, String> {
        let bad = || format!("its health path `{path}` is not a path");
        if !path.starts_with('/') {
            return Err(bad());
        }
        let read = PathAndQuery::try_from(path).map_err(|_| bad())?;
        let host = hosts.iter().find(|host| !host.starts_with('*'));
        Ok(Self { path: read, host: host.and_then(|host| HeaderValue::from_str(host).ok()) })
    }

    /// The request for it.
    fn request(&self, backend: &str) -> Request<BackendBody> {
        let of_backend = || {
            let authority = backend.split_once("://").map_or("localhost", |(_, authority)| authority);
            HeaderValue::from_str(authority).unwrap_or(HeaderValue::from_static("localhost"))
        };
        let mut request = Request::new(BackendBody::Empty);
        *request.uri_mut() = self.path.clone().into();
        request.headers_mut().insert(HOST, self.host.clone().unwrap_or_else(of_backend));
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static("daylight"));
        request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        request
    }
}

/// Looks at the health of a backend, again and again.
pub(super) async fn watch(backend: &AppBackend, path: &HealthPath, is_starting: impl Fn() -> bool) {
    loop {
        // While the command starts, it cannot be healthy.
        if !is_starting() {
            backend.checked(check(backend, path).await);
        }
        sleep(EVERY).await;
    }
}

/// Looks once, over a connection of its own: an idle one tells nothing about whether others are accepted.
pub(super) async fn check(backend: &AppBackend, path: &HealthPath) -> Check {
    let mut event = Event::job("app.health", backend.recorder().clock().now());
    let asked = async {
        let mut connection = backend.backend().connect(&mut event).await?;
        let sent = connection.send(path.request(backend.name()), None).await;
        Ok(sent.map_err(|failed| failed.error)?.status())
    };
    let path = &path.path;
    match timeout(CHECK_MAX, asked).await {
        Ok(Ok(status)) if status.is_success() || status.is_redirection() => Check::Healthy,
        Ok(Ok(http::StatusCode::SERVICE_UNAVAILABLE)) => Check::Draining,
        Ok(Ok(status)) => Check::Failed(format!("its health path `{path}` answers {}", status.as_u16())),
        Ok(Err(error)) => Check::Failed(with_cause(&error)),
        Err(_) => Check::Failed(format!("its health path `{path}` did not answer within {} s", CHECK_MAX.as_secs())),
    }
}
