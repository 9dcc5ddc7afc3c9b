//! The author and the origin of a change. Every row of the journal has both.

use std::fmt;
use std::net::IpAddr;
use store::{Batch, Change, Expect};
use telemetry::Millis;

/// The origin of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChangeSource {
    /// A client. `None`: its address may not be recorded.
    Client(Option<IpAddr>),
    /// A command of the command line that works on a data folder.
    CommandLine,
    /// The server itself.
    #[default]
    Server,
}

impl fmt::Display for ChangeSource {
    /// The form in rows of the journal: an address without a port, `client`, `cli` or `server`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeSource::Client(Some(address)) => address.to_canonical().fmt(f),
            ChangeSource::Client(None) => f.write_str("client"),
            ChangeSource::CommandLine => f.write_str("cli"),
            ChangeSource::Server => f.write_str("server"),
        }
    }
}

/// The author and the origin of a change.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// The name of a token, or [`Author::DAYLIGHT`].
    pub by: &'a str,
    /// The origin of the change.
    pub from: ChangeSource,
}

impl<'a> Author<'a> {
    /// The name under which the journal records changes by the server.
    pub const DAYLIGHT: &'static str = "daylight";

    /// The author of changes that the server makes on its own.
    pub const SERVER: Author<'static> = Author { by: Self::DAYLIGHT, from: ChangeSource::Server };

    /// The author of a change that the holder of the token `by` requests from the address `client`, if it may be recorded.
    pub fn of_client(by: &'a str, client: Option<IpAddr>) -> Self {
        Self { by, from: ChangeSource::Client(client) }
    }

    /// A batch of changes by this author. The store commits all of them or none.
    pub fn batch(self, at: Millis, expect: Vec<Expect>, changes: Vec<Change>) -> Batch {
        Batch { by: self.by.to_owned(), from: self.from.to_string(), at, expect, changes, ..Batch::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_of_a_change_is_one_address_or_a_word() {
        let of = |text: &str| Author::of_client("ci", text.parse().ok()).from.to_string();
        assert_eq!(
            (of("192.0.2.1"), of("2001:db8::1"), of("::ffff:192.0.2.1"), of("")),
            ("192.0.2.1".into(), "2001:db8::1".into(), "192.0.2.1".into(), "client".into())
        );
        assert_eq!(
            (Author::SERVER.from.to_string(), ChangeSource::CommandLine.to_string()),
            ("server".into(), "cli".into())
        );
    }
}
