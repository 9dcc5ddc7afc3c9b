//! The situations in which a call gets no answer.

use crate::tls_error;
use crate::zone::Zone;
use std::error::Error as _;
use std::time::Duration;
use telemetry::{Millis, Reason};

/// Whose doing a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The server that was called, or the way to it.
    Upstream,
    /// Whoever asked for the call.
    Caller,
}

/// A call that got no answer. Hosts are `name:port`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL cannot be called.
    #[error("`{url}` is not a URL of the form `https://host:port/path`")]
    NotAUrl {
        /// As it was given, without what may be a password in it.
        url: String,
    },
    /// Certificates or a key that cannot be used.
    #[error("the {what} cannot be used: {cause}")]
    BadPem {
        /// Which of them.
        what: &'static str,
        /// What is wrong with them.
        cause: String,
    },
    /// The server and we do not come to a connection with TLS.
    #[error("cannot agree with `{host}` on TLS: {source}")]
    Tls {
        /// Who was meant.
        host: String,
        /// What is wrong.
        source: std::io::Error,
    },
    /// The proxy does not let us through.
    #[error("the proxy `{proxy}` does not let us through: it says {status}")]
    ProxyRefuses {
        /// Which one.
        proxy: String,
        /// What it says.
        status: u16,
    },
    /// A header or the credentials hold bytes that HTTP does not allow.
    #[error("the credentials for `{host}` hold characters that HTTP does not allow")]
    CredentialsUnsendable {
        /// Who was meant.
        host: String,
    },
    /// The name has no address.
    #[error("the name of `{host}` has no address")]
    Unresolved {
        /// Who was meant.
        host: String,
        /// What the resolver said.
        source: std::io::Error,
    },
    /// The machine is there and refuses connections.
    #[error("nothing listens on `{host}`")]
    NotListening {
        /// Who was meant.
        host: String,
    },
    /// The machine cannot be reached.
    #[error("cannot reach `{host}`")]
    Unreachable {
        /// Who was meant.
        host: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// No connection, or no complete answer, in the time given.
    #[error("`{host}` did not answer within {waited_ms} ms")]
    Silent {
        /// Who was meant.
        host: String,
        /// How long was waited.
        waited_ms: u64,
    },
    /// The connection ended before the answer did.
    #[error("`{host}` closed the connection before its answer was complete")]
    Cut {
        /// Who was meant.
        host: String,
        /// What hyper said.
        source: hyper::Error,
    },
    /// What came is no HTTP.
    #[error("what `{host}` answered is not HTTP")]
    NotHttp {
        /// Who was meant.
        host: String,
        /// What hyper said.
        source: hyper::Error,
    },
    /// The answer is over the limit.
    #[error("the answer of `{host}` is larger than {limit_bytes} bytes")]
    TooLarge {
        /// Who was meant.
        host: String,
        /// The limit.
        limit_bytes: u64,
    },
    /// A body arrives, but slower than anybody wants to wait for.
    #[error("`{host}` sends its answer too slowly: fewer than {bytes} bytes in {waited_ms} ms")]
    TooSlow {
        /// Who was meant.
        host: String,
        /// What should have come meanwhile.
        bytes: u64,
        /// How long was waited.
        waited_ms: u64,
    },
    /// Too many other calls are made to the host already.
    #[error("too many calls are made to `{host}` already")]
    Crowded {
        /// Who was meant.
        host: String,
    },
    /// The host asked not to be called for a while.
    #[error("`{host}` asked not to be called before {until}")]
    Paused {
        /// Who was meant.
        host: String,
        /// The end of the pause.
        until: Millis,
    },
    /// The host failed again and again and is left alone for a while.
    #[error("`{host}` is left alone for a while, as it failed again and again: {last}")]
    LeftAlone {
        /// Who was meant.
        host: String,
        /// When it is tried again; `None` while that is being done.
        until: Option<Millis>,
        /// How it failed last.
        last: String,
    },
    /// One redirect leads to the next.
    #[error("`{host}` redirects more than {limit} times")]
    TooManyRedirects {
        /// Who was called first.
        host: String,
        /// So many are followed.
        limit: usize,
    },
    /// A redirect leads where none may.
    #[error("`{host}` redirects to where Daylight does not follow: {why}")]
    BadRedirect {
        /// Who redirects.
        host: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A redirect leads to where who redirects is not.
    #[error("a redirect leads to `{host}`, which is further inside than who redirects, and is not followed")]
    OutOfReach {
        /// Where it leads.
        host: String,
    },
    /// Upstreams may not be in the network where the host is.
    #[error("`{host}` has a {} address, where no upstream may be", zone.as_str())]
    NetworkNotAllowed {
        /// Who was meant.
        host: String,
        /// Where it is.
        zone: Zone,
    },
    /// The name of an upstream leads further in than it did when it was first looked up.
    #[error("`{host}` has a {} address now, and had a {} one when it was first called", zone.as_str(), pinned.as_str())]
    MovedInside {
        /// Who was meant.
        host: String,
        /// Where its name leads now.
        zone: Zone,
        /// Where it led first.
        pinned: Zone,
    },
    /// The file that was to be sent cannot be read.
    #[error("cannot read what was to be sent to `{host}`")]
    NotRead {
        /// Who was meant.
        host: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Whoever called could not take what came.
    #[error("cannot write what `{host}` answered")]
    NotTaken {
        /// Who was meant.
        host: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// Whose doing it is.
    pub fn side(&self) -> Side {
        match self {
            Error::NotAUrl { .. }
            | Error::BadPem { .. }
            | Error::CredentialsUnsendable { .. }
            | Error::NetworkNotAllowed { .. }
            | Error::NotRead { .. }
            | Error::NotTaken { .. } => Side::Caller,
            _ => Side::Upstream,
        }
    }

    /// Whether the same call may go well later.
    pub fn retry(&self) -> bool {
        match self {
            Error::Unresolved { .. }
            | Error::NotListening { .. }
            | Error::Unreachable { .. }
            | Error::Silent { .. }
            | Error::TooSlow { .. }
            | Error::Crowded { .. }
            | Error::Paused { .. }
            | Error::LeftAlone { .. }
            | Error::ProxyRefuses { .. }
            | Error::Cut { .. } => true,
            Error::NotAUrl { .. }
            | Error::BadPem { .. }
            | Error::Tls { .. }
            | Error::CredentialsUnsendable { .. }
            | Error::NotHttp { .. }
            | Error::TooLarge { .. }
            | Error::TooManyRedirects { .. }
            | Error::BadRedirect { .. }
            | Error::OutOfReach { .. }
            | Error::NetworkNotAllowed { .. }
            | Error::MovedInside { .. }
            | Error::NotRead { .. }
            | Error::NotTaken { .. } => false,
        }
    }

    /// From when on the same call may go well, where that is known.
    pub fn until(&self) -> Option<Millis> {
        match self {
            Error::Paused { until, .. } => Some(*until),
            Error::LeftAlone { until, .. } => *until,
            _ => None,
        }
    }

    /// Whether it tells that the host or the way to it is not well, rather than this one answer.
    pub(crate) fn tells_of_host(&self) -> bool {
        matches!(
            self,
            Error::Unresolved { .. }
                | Error::NotListening { .. }
                | Error::Unreachable { .. }
                | Error::Silent { .. }
                | Error::TooSlow { .. }
                | Error::Cut { .. }
                | Error::Tls { .. }
                | Error::ProxyRefuses { .. }
                | Error::NotHttp { .. }
        )
    }

    /// Whether nothing came in time.
    pub(crate) fn is_silence(&self) -> bool {
        matches!(self, Error::Silent { .. })
    }

    /// For the event.
    pub fn reason(&self) -> Reason {
        match self {
            Error::Unresolved { .. }
            | Error::NotListening { .. }
            | Error::Unreachable { .. }
            | Error::MovedInside { .. }
            | Error::ProxyRefuses { .. } => Reason::UpstreamUnreachable,
            Error::Tls { .. } => Reason::UpstreamTls,
            Error::Silent { .. } | Error::TooSlow { .. } => Reason::UpstreamTimeout,
            Error::Cut { .. } => Reason::UpstreamCut,
            Error::NotHttp { .. }
            | Error::TooLarge { .. }
            | Error::TooManyRedirects { .. }
            | Error::BadRedirect { .. }
            | Error::OutOfReach { .. } => Reason::UpstreamInvalid,
            Error::Crowded { .. } => Reason::BoundFull,
            Error::Paused { .. } => Reason::UpstreamPaused,
            Error::LeftAlone { .. } => Reason::UpstreamLeftAlone,
            Error::NotAUrl { .. }
            | Error::BadPem { .. }
            | Error::CredentialsUnsendable { .. }
            | Error::NetworkNotAllowed { .. } => Reason::UpstreamMisset,
            Error::NotRead { .. } | Error::NotTaken { .. } => Reason::Io,
        }
    }

    /// Its name in metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Error::NotAUrl { .. } => "not_a_url",
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

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::BadPem { .. } => Some("a PEM file holds certificates, and, where one is shown, its key"),
            Error::Tls { source, .. } => tls_error::hint(source),
            Error::ProxyRefuses { status: 407, .. } => Some("it asks for credentials, or others than these"),
            Error::CredentialsUnsendable { .. } => Some("look for a line break at the end of the token"),
            Error::NotHttp { .. } => Some("is that the right port, and is it `http` there or `https`?"),
            Error::OutOfReach { .. } => {
                Some("if that host is meant, make it the URL of the repository: nobody else may choose it")
            }
            Error::NetworkNotAllowed { zone: Zone::LinkLocal, .. } => {
                Some("there clouds tell machines their credentials; `upstream.link_local_networks = true` allows it")
            }
            Error::NetworkNotAllowed { .. } => Some("`upstream.private_networks = true` allows it"),
            Error::MovedInside { .. } => Some(
                "if it has moved there, `daylight repo set NAME --remote URL` says so; else somebody else moved its name",
            ),
            Error::Unresolved { .. } => Some("is the name spelt right, and does this machine's DNS know it?"),
            _ => None,
        }
    }
}

/// `host` did not answer for so long.
pub(crate) fn silent(host: &str, waited: Duration) -> Error {
    let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
    Error::Silent { host: host.to_owned(), waited_ms }
}

/// What hyper says of a call to `host`.
pub(crate) fn broken(host: &str, source: hyper::Error) -> Error {
    let host = host.to_owned();
    if source.is_parse() {
        return Error::NotHttp { host, source };
    }
    // A server that wants a certificate says so only after its handshake, where the answer would begin (RFC 8446 4.4.2.4).
    let mut cause = source.source();
    while let Some(error) = cause {
        if let Some(source) = error.downcast_ref().and_then(tls_error::refusal) {
            return Error::Tls { host, source };
        }
        cause = error.source();
    }
    Error::Cut { host, source }
}
