//! What programs ask about gems beside the indexes, and changes of who owns one.

use format::gem::call::Form;
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// A question of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Describe {
    /// What about.
    pub what: What,
    /// The repository's URL, without a slash at the end.
    pub base: String,
    /// How the answer is to be written.
    pub form: Form,
}

/// What a program asks about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum What {
    /// A gem, with its newest version.
    Gem(String),
    /// All its versions.
    Versions(String),
    /// The number of its newest version.
    Latest(String),
    /// One version, of any platform or of this.
    Version(String, String, Option<String>),
    /// Who owns it.
    Owners(String),
    /// The gems that whoever asks owns.
    Own,
    /// Gems with all these words in their names, a page of them from 1 on.
    Search(Vec<String>, usize),
    /// Names that begin so.
    Complete(String),
    /// The newest gems.
    Newest,
    /// The newest versions.
    Updated,
    /// The versions of a time, a page of them from 1 on.
    Between(Millis, Millis, usize),
}

impl What {
    /// Whether it is told from the versions of one gem.
    pub(crate) fn is_of_versions(&self) -> bool {
        self.gem().is_some() && !matches!(self, What::Owners(_))
    }

    /// Bytes of what it names beside the gem.
    pub(crate) fn weight(&self) -> usize {
        match self {
            What::Version(_, number, platform) => number.len() + platform.as_ref().map_or(0, String::len),
            _ => 0,
        }
    }

    /// The gem that it is about alone.
    pub(crate) fn gem(&self) -> Option<&str> {
        match self {
            What::Gem(name) | What::Versions(name) | What::Latest(name) | What::Version(name, ..) => Some(name),
            What::Owners(name) => Some(name),
            _ => None,
        }
    }
}

/// What an owner may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Publish, withdraw, and say who owns it.
    #[default]
    Owner,
    /// Publish and withdraw.
    Maintainer,
}

/// A change of who owns a gem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerChange {
    /// Another owner.
    Add(Role),
    /// One less.
    Remove,
    /// What an owner may do.
    Become(Role),
}
