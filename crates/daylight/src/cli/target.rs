//! The server that a command calls: its URL, the token for it, and the certificates to trust.

use super::context::Context;
use super::failure::{Failure, plain};
use anyhow::ensure;
use client::{Pem, Secret, TlsTrouble, Trust};
use std::fs::File;
use std::io::Read;

/// The URL of `daylight serve` without flags.
const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";
/// The admin URL of `daylight front` without flags.
pub(super) const FRONT_SERVER: &str = "http://127.0.0.1:8081";
/// Maximum size of a file of certificates, in bytes: twice the size of all public authorities together.
const TRUST_MAX_BYTES: u64 = 1 << 20;

/// A server, as flags and environment name it.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// Without a slash at the end.
    pub(super) url: String,
    pub(super) token: Option<Secret>,
    pub(super) trust: Trust,
}

impl Target {
    pub(super) fn of(context: &Context<'_>) -> anyhow::Result<Self> {
        Self::or(DEFAULT_SERVER, context)
    }

    /// The server with this URL, which an argument names. Its token is that of the environment.
    pub(super) fn named(url: &str, context: &Context<'_>) -> anyhow::Result<Self> {
        let url = url.trim_end_matches('/');
        if client::host_of(url).is_none() || url.contains(['?', '#']) {
            let hint = "write it as `http://HOST:PORT` or `https://HOST`, without a user, a query or a fragment";
            return Err(Failure::usage(format!("`{}` is not the URL of a server", without_user(url)), hint).into());
        }
        Ok(Self { url: url.to_owned(), ..Self::or(url, context)? })
    }

    /// The same; `default` is called where neither names one.
    pub(super) fn or(default: &str, context: &Context<'_>) -> anyhow::Result<Self> {
        let (flags, environment) = (context.flags, context.environment);
        let url = flags.server.as_deref().or_else(|| environment.server()).unwrap_or(default);
        let trust = match flags.server_trust.as_deref().or_else(|| environment.trust()) {
            Some(path) => trust(path)?,
            None => Trust::default(),
        };
        Ok(Self { url: url.trim_end_matches('/').to_owned(), token: environment.token(), trust })
    }
}

/// A URL for messages. The part before an `@` may have a password.
pub(super) fn without_user(url: &str) -> String {
    plain(url.rsplit_once('@').map_or(url, |(_, host)| host))
}

fn trust(path: &str) -> Result<Trust, Failure> {
    read(path).map_err(|error| {
        let hint = "`--server-trust` and `DAYLIGHT_TRUST` name a PEM file with `-----BEGIN CERTIFICATE-----` in it";
        Failure::usage(format!("cannot use the trusted certificates in `{}`: {error}", plain(path)), hint)
    })
}

fn read(path: &str) -> anyhow::Result<Trust> {
    let mut bytes = Vec::new();
    File::open(path)?.take(TRUST_MAX_BYTES + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= TRUST_MAX_BYTES, "the file is larger than 1 MiB");
    Ok(Trust::new(&Pem::from(bytes))?)
}

/// The failure of a call, with a hint for this command line. The hints of the client are about the settings of
/// upstreams.
pub(super) fn call_failure(error: client::Error) -> anyhow::Error {
    let hint = match &error {
        client::Error::NotListening { .. } => {
            "name the server with `--server URL` or DAYLIGHT_SERVER; a server on this machine is started with `daylight serve` or `daylight front`"
        }
        client::Error::NotAUrl { .. } => {
            let hint = "`--server` and DAYLIGHT_SERVER name such a URL";
            return Failure::usage(error.to_string(), hint).into();
        }
        client::Error::Tls { .. } => match error.tls_trouble() {
            Some(TlsTrouble::UnknownIssuer) => {
                "this machine does not trust the certificate of the server: name a PEM file with the certificate of its authority, or \
                 with its own self-signed certificate, by `--server-trust FILE` or DAYLIGHT_TRUST"
            }
            Some(TlsTrouble::OtherName) => "the certificate is for another name: is the URL in `--server` right?",
            Some(TlsTrouble::Expired) => "the certificate has expired; is the clock of this machine right?",
            Some(TlsTrouble::NotTls) => "that is not TLS: does the server speak `http://` on this port?",
            Some(TlsTrouble::Refused) => {
                "the server refused this client; this command cannot show a client certificate"
            }
            None => return error.into(),
        },
        _ => return error.into(),
    };
    Failure::new(error.to_string(), Some(hint.to_owned())).into()
}
