//! The situations in which a call gets no answer.

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
    #[error("`{url}` is not a URL of the form `http://host:port/path`")]
    NotAUrl {
        /// As it was given, without what may be a password in it.
        url: String,
    },
    /// The URL asks for TLS.
    #[error("cannot call `{host}`: https is not supported yet")]
    HttpsUnsupported {
        /// Who was meant.
        host: String,
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
            | Error::HttpsUnsupported { .. }
            | Error::CredentialsUnsendable { .. }
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
            | Error::Cut { .. } => true,
            Error::NotAUrl { .. }
            | Error::HttpsUnsupported { .. }
            | Error::CredentialsUnsendable { .. }
            | Error::NotHttp { .. }
            | Error::TooLarge { .. }
            | Error::NotRead { .. }
            | Error::NotTaken { .. } => false,
        }
    }

    /// Its name in metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Error::NotAUrl { .. } => "not_a_url",
            Error::HttpsUnsupported { .. } => "https_unsupported",
            Error::CredentialsUnsendable { .. } => "credentials_unsendable",
            Error::Unresolved { .. } => "unresolved",
            Error::NotListening { .. } => "not_listening",
            Error::Unreachable { .. } => "unreachable",
            Error::Silent { .. } => "silent",
            Error::Cut { .. } => "cut",
            Error::NotHttp { .. } => "not_http",
            Error::TooLarge { .. } => "too_large",
            Error::NotRead { .. } => "not_read",
            Error::NotTaken { .. } => "not_taken",
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::HttpsUnsupported { .. } => Some("call it over `http://`, or through a proxy on this machine"),
            Error::CredentialsUnsendable { .. } => Some("look for a line break at the end of the token"),
            Error::NotHttp { .. } => Some("is that the right port, and does it speak plain HTTP?"),
            Error::Unresolved { .. } => Some("is the name spelt right, and does this machine's DNS know it?"),
            _ => None,
        }
    }
}
