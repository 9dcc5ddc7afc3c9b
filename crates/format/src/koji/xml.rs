//! Reads XML in pieces as they arrive: complete tags and texts are parsed, and the rest waits for the next piece. So no answer
//! is in memory as a whole.

use crate::koji::unreadable::{Unreadable, Why};
use quick_xml::Reader;
use quick_xml::errors::{Error, SyntaxError};
use quick_xml::events::Event;

/// The longest text, in bytes.
pub(super) const TEXT_MAX: usize = 1 << 20;
/// The most bytes that wait for the end of a text: each of its characters may be an entity of six.
const WAITING_TEXT_MAX: usize = 6 * TEXT_MAX;
/// The longest tag or comment, in bytes. A hub writes none of more than forty.
const WAITING_MARKUP_MAX: usize = 64 << 10;

/// The bytes of a document that are not parsed yet.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    waiting: Vec<u8>,
    /// The position of the first waiting byte.
    at: u64,
}

impl Pieces {
    /// The bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.at + self.waiting.len() as u64
    }

    /// Parses the tags and texts that these bytes complete. A text is complete at the next `<`.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        take: impl FnMut(Event<'_>) -> Result<(), Why>,
    ) -> Result<(), Unreadable> {
        let begun = self.waiting.len();
        self.waiting.extend_from_slice(bytes);
        match bytes.iter().rposition(|byte| *byte == b'<').map(|last| begun + last) {
            Some(last) if last > 0 => self.parse(last, take)?,
            Some(_) | None => {}
        }
        let most = if self.waiting.first() == Some(&b'<') && !self.waiting.contains(&b'>') {
            WAITING_MARKUP_MAX
        } else {
            WAITING_TEXT_MAX
        };
        if self.waiting.len() > most {
            return Err(Unreadable { at: self.at, why: Why::LongPart(most) });
        }
        Ok(())
    }

    /// Parses the rest.
    pub(super) fn finish(&mut self, take: impl FnMut(Event<'_>) -> Result<(), Why>) -> Result<(), Unreadable> {
        self.parse(self.waiting.len(), take)?;
        if self.waiting.is_empty() { Ok(()) } else { Err(Unreadable { at: self.at, why: Why::Cut }) }
    }

    /// Parses the first `end` bytes, as far as they are complete.
    fn parse(&mut self, end: usize, mut take: impl FnMut(Event<'_>) -> Result<(), Why>) -> Result<(), Unreadable> {
        let mut reader = Reader::from_reader(self.waiting.get(..end).unwrap_or_default());
        // Elements begin and end in different pieces, so their names are compared by the reader of values.
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_unmatched_ends = true;
        let mut done = 0;
        loop {
            let wrong = |why| Err(Unreadable { at: self.at + done, why });
            match reader.read_event() {
                Ok(Event::Eof) => break,
                Ok(event) => match take(event) {
                    Ok(()) => done = reader.buffer_position(),
                    Err(why) => return wrong(why),
                },
                Err(Error::Syntax(error)) if error != SyntaxError::InvalidBangMarkup => {
                    // A `<` stood in a comment or in an attribute, and its end is still to come.
                    let waiting = end.saturating_sub(usize::try_from(done).unwrap_or(end));
                    if waiting > WAITING_MARKUP_MAX.max(TEXT_MAX) {
                        return wrong(Why::LongPart(TEXT_MAX));
                    }
                    break;
                }
                Err(error) => return wrong(Why::NotXml(error.to_string())),
            }
        }
        self.waiting.drain(..usize::try_from(done).unwrap_or(end).min(end));
        self.at += done;
        Ok(())
    }
}
