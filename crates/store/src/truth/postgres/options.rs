//! The database of a store: its name, the way to it, and how long a change waits for it.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// A connection to the database whose TLS, if any, is set up.
pub trait DatabaseStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> DatabaseStream for T {}

/// An attempt to connect.
pub type DatabaseDialling<'a> = Pin<Box<dyn Future<Output = io::Result<Box<dyn DatabaseStream>>> + Send + 'a>>;

/// The way to the database. This crate opens no connections itself.
pub trait DatabaseDoor: fmt::Debug + Send + Sync {
    /// Connects. It ends in limited time, and its error is a sentence for people, such as "nothing listens on `127.0.0.1:5432`". Its kind is
    /// `PermissionDenied` where TLS fails, which only people can change.
    fn dial(&self) -> DatabaseDialling<'_>;

    /// The password, which is read again for each connection; `None`: there is none.
    fn password(&self) -> io::Result<Option<String>>;
}

/// The database that orders the changes of a store.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// Its URL without a password, for messages: `postgres://USER@HOST:PORT/NAME`.
    pub url: String,
    /// Its name.
    pub name: String,
    /// The user.
    pub user: String,
    /// The way to it.
    pub door: Arc<dyn DatabaseDoor>,
    /// Whether a data folder with changes that has belonged to no database writes them into this one, which must be empty. Otherwise it is
    /// refused ([`crate::Error::NotAdopted`]).
    pub adopt: bool,
    /// The name of this node, which each row of the journal has in the database. No two living nodes have the same.
    pub node: String,
    /// The URL by which other nodes reach this one.
    pub node_url: String,
    /// The version of the program.
    pub version: String,
    /// Whether a change is acknowledged only when every node has it that calls its answers fresh; otherwise when this node has it.
    pub everywhere: bool,
    /// How long tokens are believed after this node has lost the others: one of them may have been revoked since.
    pub stale_private: Duration,
    /// How long a change waits for the database, counted from the beginning of an outage. Then it is refused with
    /// [`crate::Error::DatabaseAway`].
    pub patience: Duration,
}
