//! The first commands of a connection: they prove who calls, select the database, and ask whether meta commands are known.

use super::command::{Dialect, PageProtocol, resp};
use super::connection::PageConnection;
use super::replies::{PageReplies, PageReply, PageWant};
use crate::backend::BackendStream;
use crate::error::Error;
use crate::secret::Secret;
use std::pin::Pin;
use std::sync::Arc;

/// The refusal of memcached with `-Y` before the proof (1.6.18).
const UNAUTHENTICATED: &str = "CLIENT_ERROR unauthenticated";
/// No reply to these commands has a value.
const NOTHING: PageWant = PageWant { limit_bytes: 0, known: None };

impl PageConnection {
    /// Greets a server over a stream that was just opened.
    pub(super) async fn greet(
        name: Arc<str>,
        stream: Pin<Box<dyn BackendStream>>,
        protocol: PageProtocol,
        credentials: Option<&Secret>,
    ) -> Result<Self, Error> {
        match protocol {
            PageProtocol::Memcached => memcached(Self::new(name, stream, Dialect::Meta), credentials).await,
            PageProtocol::Redis { database } => {
                redis(Self::new(name, stream, Dialect::Resp), credentials, database).await
            }
        }
    }

    /// The error of a server that refuses. Redis repeats the arguments of a command that it does not know, so the password is taken out.
    fn refused(&self, reply: PageReply, credentials: Option<&Secret>) -> Error {
        let why = match reply {
            PageReply::Refused { why, .. } if credentials.is_some_and(|secret| tells(&why, secret)) => {
                why.split(' ').next().unwrap_or_default().to_owned()
            }
            PageReply::Refused { why, .. } => why,
            _ => "it gives an unexpected reply".to_owned(),
        };
        Error::PageServerRefuses { host: self.name.to_string(), why }
    }
}

async fn memcached(mut connection: PageConnection, credentials: Option<&Secret>) -> Result<PageConnection, Error> {
    let mut probed = probe(&mut connection).await?;
    if let (PageReply::Refused { why, .. }, Some(secret)) = (&probed, credentials)
        && why.starts_with(UNAUTHENTICATED)
    {
        // Authentication of the text protocol (`-Y` of memcached 1.5.15): the first `set`, of any key, has `USER PASSWORD`. A server without
        // authentication would store it, so it is only sent to one that asks for it.
        let proof = secret.expose().replacen(':', " ", 1);
        connection.out.extend_from_slice(format!("set daylight 0 0 {}\r\n{proof}\r\n", proof.len()).as_bytes());
        ask(&mut connection, credentials).await?;
        probed = probe(&mut connection).await?;
    }
    let dialect = match probed {
        PageReply::Done => Dialect::Meta,
        PageReply::Refused { why, .. } if why == "ERROR" => Dialect::Gets,
        reply => return Err(connection.refused(reply, credentials)),
    };
    if matches!(dialect, Dialect::Meta) {
        connection.out.extend_from_slice(b"stats\r\n");
        connection.replies.expect_figures();
        match connection.reply(NOTHING).await? {
            PageReply::Missing => connection.instance = connection.replies.instance(),
            // A proxy, perhaps.
            PageReply::Refused { .. } => {}
            reply => return Err(connection.refused(reply, credentials)),
        }
    }
    // Commands and replies are counted from here.
    connection.replies = PageReplies::of(dialect);
    Ok(connection)
}

/// Asks whether meta commands are known.
async fn probe(connection: &mut PageConnection) -> Result<PageReply, Error> {
    connection.out.extend_from_slice(b"mn\r\n");
    connection.reply(NOTHING).await
}

async fn redis(
    mut connection: PageConnection,
    credentials: Option<&Secret>,
    database: u32,
) -> Result<PageConnection, Error> {
    let mut commands = Vec::new();
    if let Some(secret) = credentials {
        let parts = match secret.expose().split_once(':') {
            Some((user, password)) => vec![&b"AUTH"[..], user.as_bytes(), password.as_bytes()],
            None => vec![&b"AUTH"[..], secret.expose().as_bytes()],
        };
        resp(&parts, &mut commands);
        connection.out.append(&mut commands);
        ask(&mut connection, credentials).await?;
    }
    let database = database.to_string();
    match database.as_str() {
        // Its reply shows that the server works, and does not only accept connections.
        "0" => resp(&[b"PING"], &mut connection.out),
        database => resp(&[b"SELECT", database.as_bytes()], &mut connection.out),
    }
    ask(&mut connection, credentials).await?;
    Ok(connection)
}

/// Sends the commands, and waits for the consent of the server.
async fn ask(connection: &mut PageConnection, credentials: Option<&Secret>) -> Result<(), Error> {
    match connection.reply(NOTHING).await? {
        PageReply::Done => Ok(()),
        reply => Err(connection.refused(reply, credentials)),
    }
}

/// Whether a text has a part of the credentials.
fn tells(text: &str, credentials: &Secret) -> bool {
    credentials.expose().split(':').any(|part| !part.is_empty() && text.contains(part))
}
