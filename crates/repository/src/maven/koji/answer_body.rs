//! The body of a hub's response on its way into the reader: unpacked, counted, and never more than the limit.

use crate::upstream::KOJI_ANSWER_MAX;
use crate::upstream::failure::Failure;
use flate2::write::MultiGzDecoder;
use format::koji::question::Question;
use format::koji::reading::{AnswerReader, Reply};
use format::koji::unreadable::Unreadable;
use std::io::{self, Write};
use std::sync::Arc;
use telemetry::{Bound, Reason};

/// How a body is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
}

impl Coding {
    /// Reads a `Content-Encoding`; `None`: it was not asked for.
    pub(crate) fn read(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Some(Self::Identity),
            "gzip" | "x-gzip" => Some(Self::Gzip),
            _ => None,
        }
    }
}

/// A body that is arriving.
pub(crate) enum AnswerBody {
    Plain(Box<Counted>),
    Packed(Box<MultiGzDecoder<Counted>>),
}

/// The reader, and the bytes of it that count in the bound.
pub(crate) struct Counted {
    reader: AnswerReader,
    bound: Arc<Bound>,
    held: u64,
    /// Why a write failed.
    failure: Option<Failure>,
}

impl AnswerBody {
    /// The body of the answers to these questions. Its bytes count in `bound`.
    pub(crate) fn new(questions: Vec<Question>, coding: Coding, bound: Arc<Bound>) -> Self {
        let reader = AnswerReader::new(questions, KOJI_ANSWER_MAX);
        let counted = Counted { reader, bound, held: 0, failure: None };
        match coding {
            Coding::Identity => Self::Plain(Box::new(counted)),
            Coding::Gzip => Self::Packed(Box::new(MultiGzDecoder::new(counted))),
        }
    }

    /// Reads the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Plain(counted) => counted.push(bytes),
            Self::Packed(decoder) => {
                let written = decoder.write_all(bytes);
                written.map_err(|error| decoder.get_mut().failed(&error))
            }
        }
    }

    /// The answers, after the last bytes.
    pub(crate) fn finish(self) -> Result<Reply, Failure> {
        let mut counted = match self {
            Self::Plain(counted) => *counted,
            Self::Packed(mut decoder) => {
                let ended = decoder.try_finish();
                ended.map_err(|error| decoder.get_mut().failed(&error))?;
                let ended = decoder.finish();
                ended.map_err(|error| broken(&error))?
            }
        };
        counted.take()?.finish().map_err(|error| unreadable(&error))
    }
}

impl Counted {
    fn push(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.bound.take(bytes.len() as u64).map_err(|_| {
            Failure::new(Reason::BoundFull, "the answers of hubs that are being read have no room for more".to_owned())
        })?;
        self.held += bytes.len() as u64;
        self.reader.push(bytes).map_err(|error| unreadable(&error))
    }

    /// The reader, unless it failed.
    fn take(&mut self) -> Result<AnswerReader, Failure> {
        let reader = std::mem::replace(&mut self.reader, AnswerReader::new(Vec::new(), 0));
        self.failure.take().map_or(Ok(reader), Err)
    }

    /// Why a write failed: what the reader found, or the packing.
    fn failed(&mut self, error: &io::Error) -> Failure {
        self.failure.take().unwrap_or_else(|| broken(error))
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes).map_err(|failure| {
            self.failure = Some(failure);
            io::Error::other("the answer is not read further")
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.bound.give(self.held);
    }
}

fn unreadable(error: &Unreadable) -> Failure {
    Failure::new(Reason::UpstreamInvalid, format!("the hub's answer, {error}"))
}

fn broken(error: &io::Error) -> Failure {
    Failure::new(Reason::UpstreamInvalid, format!("the hub's answer cannot be unpacked: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use telemetry::BoundName;

    const XML: &str =
        "<methodResponse><params><param><value><boolean>1</boolean></value></param></params></methodResponse>";

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn bound(capacity: u64) -> Arc<Bound> {
        Bound::new(BoundName::KojiAnswers, "", capacity)
    }

    fn read(bytes: &[u8], coding: Coding, bound: &Arc<Bound>) -> Result<Reply, Failure> {
        let question = Question::ChangedSince { event: Default::default(), tags: Vec::new() };
        let mut body = AnswerBody::new(vec![question], coding, bound.clone());
        for piece in bytes.chunks(7) {
            body.push(piece)?;
        }
        body.finish()
    }

    #[test]
    fn a_body_is_read_plain_and_packed_and_gives_its_bytes_back() {
        let bound = bound(1000);
        for (bytes, coding) in [(XML.as_bytes().to_vec(), Coding::Identity), (packed(XML), Coding::Gzip)] {
            assert!(matches!(read(&bytes, coding, &bound), Ok(Reply::Answers(answers)) if answers.len() == 1));
        }
        assert_eq!((bound.used(), bound.highest()), (0, XML.len() as u64));
        assert_eq!([" GZIP", "", "br"].map(Coding::read), [Some(Coding::Gzip), Some(Coding::Identity), None]);
    }

    #[test]
    fn a_packed_body_that_is_damaged_cut_or_too_long_is_refused_with_the_reason() {
        let room = bound(100_000);
        let reason = |bytes: &[u8], room| read(bytes, Coding::Gzip, room).unwrap_err().reason;
        let whole = packed(XML);
        for at in 0..whole.len() {
            assert_eq!(reason(&whole[..at], &room), Reason::UpstreamInvalid, "{at}");
        }
        assert_eq!(reason(b"<html>", &room), Reason::UpstreamInvalid);
        let bomb = packed(&format!("{XML}{}", " ".repeat(10_000_000)));
        assert_eq!(reason(&bomb, &room), Reason::BoundFull);
        let text = read(&packed(&XML.replace("boolean", "base64")), Coding::Gzip, &room).unwrap_err().detail();
        assert!(text.contains("at byte") && text.contains("base64"), "{text}");
        assert_eq!(room.used(), 0);
    }
}
