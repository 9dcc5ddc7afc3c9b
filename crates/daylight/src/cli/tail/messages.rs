//! Reads a stream of Server-Sent Events (WHATWG HTML, 9.2), in whatever pieces it arrives.

use std::io;

/// The longest line. The server sends shorter ones.
const LINE_MAX: usize = 1 << 20;

/// A message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// Its name; empty: it is an event of the server.
    pub(super) name: String,
    /// Its data: JSON.
    pub(super) data: String,
}

/// The part of a stream that has not ended a message.
#[derive(Debug, Default)]
pub(super) struct Messages {
    line: Vec<u8>,
    begun: Message,
}

impl Messages {
    /// Reads a piece, and passes the messages that it completes to `take`.
    pub(super) fn read(&mut self, piece: &[u8], mut take: impl FnMut(Message) -> io::Result<()>) -> io::Result<()> {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.len() > LINE_MAX {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line of the answer is longer than 1 MiB"));
            }
            if !self.line.ends_with(b"\n") {
                return Ok(());
            }
            let line = String::from_utf8_lossy(&self.line).trim_end_matches(['\r', '\n']).to_owned();
            self.line.clear();
            if line.is_empty() {
                let message = std::mem::take(&mut self.begun);
                if message != Message::default() {
                    take(message)?;
                }
                continue;
            }
            // A line that begins with a colon is a comment.
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => self.begun.name = value.to_owned(),
                "data" => self.begun.data.push_str(value),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: &str =
        ":\n\nretry: 2000\nevent: start\ndata: {}\n\ndata: {\"é\":1}\n\n:\n\nevent:lost\r\ndata:1\r\n\r\ndata: half";

    proptest! {
        #[test]
        fn messages_are_the_same_in_whatever_pieces_they_arrive(cuts in prop::collection::vec(0..STREAM.len(), 0..9)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let (mut messages, mut read, mut from) = (Messages::default(), Vec::new(), 0);
            for to in cuts.into_iter().chain([STREAM.len()]) {
                let take = |message: Message| {
                    read.push((message.name, message.data));
                    Ok(())
                };
                messages.read(&STREAM.as_bytes()[from..to], take).unwrap();
                from = to;
            }
            let expected = [("start", "{}"), ("", "{\"é\":1}"), ("lost", "1")];
            prop_assert_eq!(read, expected.map(|(name, data)| (name.to_owned(), data.to_owned())));
        }
    }

    #[test]
    fn an_endless_line_is_an_error() {
        let mut messages = Messages::default();
        assert!((0..3).any(|_| messages.read(&vec![b'x'; LINE_MAX / 2], |_| Ok(())).is_err()));
    }
}
