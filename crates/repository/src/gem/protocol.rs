//! The index protocols of a repository, each of which can be switched off while the server runs: clients then fall back
//! to what they knew before it, or go without.

use crate::error::Error;
use crate::gem::Question;
use crate::repository::Repository;
use std::collections::BTreeMap;
use telemetry::Event;

/// A way in which clients read what a repository has. A closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `/versions`, `/info/NAME` and `/names`: Bundler since 1.12, RubyGems since 3.5.
    CompactIndex,
    /// `/api/v1/dependencies`: Bundler before 1.12 and RubyGems before 3.2.3, and whoever is refused the compact index.
    Dependencies,
    /// `specs.4.8.gz` and its like, and a gemspec for each version under `quick/`: `gem` up to the newest, and every
    /// Bundler where nothing better is answered.
    FullIndex,
}

impl Protocol {
    /// All of them.
    pub const ALL: &'static [Protocol] = &[Protocol::CompactIndex, Protocol::Dependencies, Protocol::FullIndex];

    /// Its name in settings, journal rows and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Protocol::CompactIndex => "compact_index",
            Protocol::Dependencies => "dependencies",
            Protocol::FullIndex => "full_index",
        }
    }

    /// The protocol of that name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.iter().copied().find(|protocol| protocol.as_str() == name);
        found.ok_or_else(|| Error::NoSuchProtocol(Event::text(name)))
    }

    /// The protocol that a question is part of.
    fn of(question: &Question<'_>) -> Option<Self> {
        match question {
            Question::Versions | Question::Names | Question::Info(_) => Some(Protocol::CompactIndex),
            Question::Dependencies(_) => Some(Protocol::Dependencies),
            Question::Specs(_) | Question::Gemspec(_) => Some(Protocol::FullIndex),
            Question::Call(..) | Question::Own(..) => None,
            Question::Root | Question::Gem(_) | Question::Download(_) | Question::Push | Question::Yank => None,
        }
    }
}

impl Repository {
    /// Whether `protocol` is answered.
    pub fn speaks(&self, protocol: Protocol) -> bool {
        !self.record.protocols_off.iter().any(|name| name == protocol.as_str())
    }

    /// Every protocol, and whether it is answered.
    pub fn protocols(&self) -> BTreeMap<&'static str, bool> {
        Protocol::ALL.iter().map(|protocol| (protocol.as_str(), self.speaks(*protocol))).collect()
    }

    /// Refuses a question of a protocol that is switched off.
    pub(crate) fn understands(&self, question: &Question<'_>) -> Result<(), Error> {
        match Protocol::of(question) {
            Some(protocol) if !self.speaks(protocol) => Err(Error::ProtocolOff(protocol)),
            _ => Ok(()),
        }
    }
}
