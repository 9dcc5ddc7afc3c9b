//! The commands that servers of pages get, as bytes.

use std::io::Write;

/// The protocol of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageProtocol {
    /// memcached's text protocol, with its meta commands.
    Memcached,
    /// RESP, the protocol of Redis and Valkey.
    Redis {
        /// The number of the database (`/N` in the URL).
        database: u32,
    },
}

/// A command. Each gets one reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageCommand<'a> {
    /// Reads an item.
    Read {
        /// Its key.
        key: &'a [u8],
        /// In how many seconds it expires at most for this client to get the right to write it again (`R` of memcached).
        early_s: Option<u32>,
    },
    /// Reads the version of an item, and only from servers that have none (Redis) or only whole items (memcached before 1.6) the item.
    Version {
        /// Its key.
        key: &'a [u8],
        /// As in [`PageCommand::Read`].
        early_s: Option<u32>,
    },
    /// Takes the lock of a page for 10 s, in Redis: [`super::PageReply::Done`] to one client, [`super::PageReply::Missing`] to the others.
    Lock {
        /// The key of the page.
        key: &'a [u8],
    },
}

/// How long a lock is held, in milliseconds.
const LOCK_MS: &[u8] = b"10000";

/// The commands that a server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// memcached with meta commands (1.6).
    Meta,
    /// memcached without them, and servers that speak its older protocol.
    Gets,
    /// RESP, version 2.
    Resp,
}

impl PageCommand<'_> {
    /// Appends the command. `turn` counts the commands of the connection.
    pub(super) fn write(self, dialect: Dialect, turn: u8, into: &mut Vec<u8>) {
        match (dialect, self) {
            (Dialect::Meta, Self::Read { key, early_s }) => meta(key, b" v f c O", early_s, turn, into),
            (Dialect::Meta, Self::Version { key, early_s }) => meta(key, b" c O", early_s, turn, into),
            (Dialect::Gets, Self::Read { key, .. } | Self::Version { key, .. }) => {
                for part in [&b"gets "[..], key, b"\r\n"] {
                    into.extend_from_slice(part);
                }
            }
            (Dialect::Resp, Self::Read { key, .. } | Self::Version { key, .. }) => resp(&[b"GET", key], into),
            (Dialect::Resp, Self::Lock { key }) => {
                resp(&[b"SET", &[key, b":l"].concat(), b"1", b"NX", b"PX", LOCK_MS], into);
            }
            // Here a read gives the right to write a page again. `mn` alone keeps the order of the replies.
            (Dialect::Meta | Dialect::Gets, Self::Lock { .. }) => into.extend_from_slice(b"mn\r\n"),
        }
    }
}

/// The letter that memcached sends back with the reply to a command, which shows that both count alike.
pub(super) fn opaque(turn: u8) -> u8 {
    b'A' + turn % 26
}

fn meta(key: &[u8], flags: &[u8], early_s: Option<u32>, turn: u8, into: &mut Vec<u8>) {
    for part in [&b"mg "[..], key, flags, &[opaque(turn)]] {
        into.extend_from_slice(part);
    }
    if let Some(early_s) = early_s {
        // Writing to memory does not fail.
        let _ = write!(into, " R{early_s}");
    }
    into.extend_from_slice(b"\r\n");
}

/// An array of texts with their lengths.
pub(super) fn resp(parts: &[&[u8]], into: &mut Vec<u8>) {
    let _ = write!(into, "*{}\r\n", parts.len());
    for part in parts {
        let _ = write!(into, "${}\r\n", part.len());
        into.extend_from_slice(part);
        into.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_written_in_the_words_of_its_server() {
        let read = PageCommand::Read { key: b"ns:k", early_s: None };
        let early = PageCommand::Version { key: b"ns:k", early_s: Some(30) };
        for (dialect, command, bytes) in [
            (Dialect::Meta, read, "mg ns:k v f c OA\r\n"),
            (Dialect::Meta, early, "mg ns:k c OA R30\r\n"),
            (Dialect::Gets, read, "gets ns:k\r\n"),
            (Dialect::Gets, early, "gets ns:k\r\n"),
            (Dialect::Resp, read, "*2\r\n$3\r\nGET\r\n$4\r\nns:k\r\n"),
            (Dialect::Resp, early, "*2\r\n$3\r\nGET\r\n$4\r\nns:k\r\n"),
            (
                Dialect::Resp,
                PageCommand::Lock { key: b"k" },
                "*6\r\n$3\r\nSET\r\n$3\r\nk:l\r\n$1\r\n1\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n10000\r\n",
            ),
        ] {
            let mut written = Vec::new();
            command.write(dialect, 26, &mut written);
            assert_eq!(String::from_utf8(written).unwrap(), bytes, "{dialect:?} {command:?}");
        }
    }
}
