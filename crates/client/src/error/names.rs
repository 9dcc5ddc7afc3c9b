//! The names of errors in events and metrics.

use super::Error;
use telemetry::Reason;

impl Error {
    /// The reason for events.
    pub fn reason(&self) -> Reason {
        match self {
            Error::Unresolved { .. }
            | Error::NotListening { .. }
            | Error::Unreachable { .. }
            | Error::MovedInside { .. }
            | Error::PageServerRefuses { .. }
            | Error::ProxyRefuses { .. } => Reason::UpstreamUnreachable,
            Error::Tls { .. } | Error::DatabaseWithoutTls { .. } => Reason::UpstreamTls,
            Error::Silent { .. } | Error::TooSlow { .. } => Reason::UpstreamTimeout,
            Error::Cut { .. } | Error::PageServerBroke { .. } => Reason::UpstreamCut,
            Error::NotHttp { .. }
            | Error::BadResponse { .. }
            | Error::TooLarge { .. }
            | Error::TooManyRedirects { .. }
            | Error::BadRedirect { .. }
            | Error::OutOfReach { .. } => Reason::UpstreamInvalid,
            Error::Crowded { .. } => Reason::BoundFull,
            Error::Paused { .. } => Reason::UpstreamPaused,
            Error::LeftAlone { .. } => Reason::UpstreamLeftAlone,
            Error::NotAUrl { .. }
            | Error::NotABackend { .. }
            | Error::NotAPageServer { .. }
            | Error::NotADatabase { .. }
            | Error::BadPem { .. }
            | Error::CredentialsUnsendable { .. }
            | Error::NetworkNotAllowed { .. } => Reason::UpstreamMisset,
            Error::NotRead { .. } | Error::NotTaken { .. } => Reason::Io,
        }
    }

    /// The name in metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Error::NotAUrl { .. } => "not_a_url",
            Error::NotABackend { .. } => "not_a_backend",
            Error::NotAPageServer { .. } => "not_a_page_server",
            Error::NotADatabase { .. } => "not_a_database",
            Error::DatabaseWithoutTls { .. } => "database_without_tls",
            Error::PageServerRefuses { .. } => "page_server_refuses",
            Error::PageServerBroke { .. } => "page_server_broke",
            Error::BadPem { .. } => "bad_pem",
            Error::Tls { .. } => "tls",
            Error::ProxyRefuses { .. } => "proxy_refuses",
            Error::CredentialsUnsendable { .. } => "credentials_unsendable",
            Error::Unresolved { .. } => "unresolved",
            Error::NotListening { .. } => "not_listening",
            Error::Unreachable { .. } => "unreachable",
            Error::Silent { .. } => "silent",
            Error::TooSlow { .. } => "too_slow",
            Error::Crowded { .. } => "crowded",
            Error::Paused { .. } => "paused",
            Error::LeftAlone { .. } => "left_alone",
            Error::Cut { .. } => "cut",
            Error::NotHttp { .. } => "not_http",
            Error::BadResponse { .. } => "bad_response",
            Error::TooLarge { .. } => "too_large",
            Error::TooManyRedirects { .. } => "too_many_redirects",
            Error::BadRedirect { .. } => "bad_redirect",
            Error::OutOfReach { .. } => "out_of_reach",
            Error::NetworkNotAllowed { .. } => "network_not_allowed",
            Error::MovedInside { .. } => "moved_inside",
            Error::NotRead { .. } => "not_read",
            Error::NotTaken { .. } => "not_taken",
        }
    }
}
