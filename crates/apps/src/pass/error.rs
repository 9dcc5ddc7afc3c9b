//! Requests that could not be passed on, and the replies to them.

use crate::backends::NoBackend;
use crate::lanes::LaneFull;
use front::{Reply, UploadError};
use http::{HeaderValue, StatusCode, header};
use std::time::Duration;
use telemetry::{Event, Outcome, Reason};

/// A request could not be passed on, or got no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PassError {
    /// `CONNECT`: this is no proxy for other servers.
    #[error("this server opens no connections to others\n")]
    NotAProxy,
    /// The body of the request did not arrive.
    #[error("{0}\n")]
    Upload(#[from] UploadError),
    /// The spool has no room for an upload or for a response that must be whole before it is sent.
    #[error("there is no room for this body now\nhint: try again later\n")]
    SpoolFull,
    /// The spool cannot be written.
    #[error("there is no room for this body now\nhint: try again later\n")]
    Spool(#[source] std::io::Error),
    /// No slot was free in time.
    #[error("the application is busy\nhint: try again later\n")]
    Busy {
        /// When another request may get one.
        retry_after: Duration,
    },
    /// Too many WebSockets and event streams are open.
    #[error("too many connections to the application are open\nhint: try again later\n")]
    StreamsFull,
    /// The command of the application had not opened its port in time.
    #[error("the application is starting\nhint: try again later\n")]
    Starting,
    /// No backend accepts connections.
    #[error("the application cannot be reached\n")]
    Down {
        /// For operators.
        detail: String,
    },
    /// A backend accepted the request and did not answer in time.
    #[error("the application did not answer in time\n")]
    Silent {
        /// How long it had.
        waited: Duration,
    },
    /// A backend closed its connection before its response was complete.
    #[error("the application closed its connection before its response was complete\n")]
    Cut {
        /// For operators.
        detail: String,
    },
    /// The response is not valid HTTP.
    #[error("the response of the application is not valid\n")]
    Invalid {
        /// For operators.
        detail: String,
    },
}

impl PassError {
    /// The error for a call of a backend that failed.
    pub(crate) fn of_call(error: &client::Error) -> Self {
        let detail = error.to_string();
        match error.reason() {
            Reason::UpstreamInvalid => Self::Invalid { detail },
            Reason::UpstreamUnreachable | Reason::UpstreamTls | Reason::UpstreamMisset => Self::Down { detail },
            _ => Self::Cut { detail },
        }
    }

    /// Whether the application failed, so that an older response may be used (RFC 5861, 4).
    pub(crate) fn is_of_app(&self) -> bool {
        !matches!(self, Self::NotAProxy | Self::Upload(_) | Self::SpoolFull | Self::Spool(_) | Self::StreamsFull)
    }

    /// The reason for events.
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::NotAProxy => Reason::MethodNotAllowed,
            Self::Upload(UploadError::TooLarge { .. }) => Reason::TooLarge,
            Self::Upload(UploadError::TooSlow) => Reason::BodyTooSlow,
            Self::Upload(UploadError::Short) => Reason::BodyShort,
            Self::SpoolFull | Self::Spool(_) => Reason::SpoolFull,
            Self::Busy { .. } | Self::StreamsFull => Reason::AppBusy,
            Self::Starting => Reason::AppStarting,
            Self::Down { .. } => Reason::AppDown,
            Self::Silent { .. } => Reason::AppSilent,
            Self::Cut { .. } => Reason::AppCut,
            Self::Invalid { .. } => Reason::AppInvalid,
        }
    }

    /// The status, and when to try again.
    fn status(&self) -> (StatusCode, Option<Duration>) {
        const SOON: Duration = Duration::from_secs(5);
        match self {
            Self::NotAProxy => (StatusCode::METHOD_NOT_ALLOWED, None),
            Self::Upload(UploadError::TooLarge { .. }) => (StatusCode::PAYLOAD_TOO_LARGE, None),
            Self::Upload(UploadError::TooSlow) => (StatusCode::REQUEST_TIMEOUT, None),
            Self::Upload(UploadError::Short) => (StatusCode::BAD_REQUEST, None),
            Self::Busy { retry_after } => (StatusCode::SERVICE_UNAVAILABLE, Some(*retry_after)),
            Self::SpoolFull | Self::Spool(_) | Self::StreamsFull | Self::Starting => {
                (StatusCode::SERVICE_UNAVAILABLE, Some(SOON))
            }
            Self::Silent { .. } => (StatusCode::GATEWAY_TIMEOUT, None),
            Self::Down { .. } | Self::Cut { .. } | Self::Invalid { .. } => (StatusCode::BAD_GATEWAY, None),
        }
    }

    /// Records why in the event, and makes the reply.
    pub(crate) fn into_reply(self, event: &mut Event) -> Reply {
        let (status, again) = self.status();
        event.reason = Some(self.reason());
        if status == StatusCode::SERVICE_UNAVAILABLE {
            event.outcome = Some(Outcome::Shed);
        }
        match &self {
            Self::Down { detail } | Self::Cut { detail } | Self::Invalid { detail } => {
                event.detail = Event::text(detail)
            }
            Self::Silent { waited } => event.detail = format!("it did not answer within {} s", waited.as_secs()),
            Self::Spool(error) => event.detail = format!("the spool cannot be written: {error}"),
            _ => {}
        }
        let mut reply = Reply::text(status, self.to_string());
        // A failure is of this moment: no cache on the way may keep it.
        reply.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(again) = again {
            reply.headers.insert(header::RETRY_AFTER, again.as_secs().max(1).into());
        }
        reply
    }
}

impl From<LaneFull> for PassError {
    fn from(full: LaneFull) -> Self {
        Self::Busy { retry_after: full.retry_after }
    }
}

impl From<NoBackend> for PassError {
    fn from(none: NoBackend) -> Self {
        match none {
            NoBackend::Down(detail) => Self::Down { detail },
            NoBackend::Starting => Self::Starting,
        }
    }
}
