//! The questions of programs about gems, apart from the indexes, and changes of owners.

use format::gem::call::Form;
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// A question of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Describe {
    /// The subject.
    pub what: What,
    /// The repository's URL, without a slash at the end.
    pub base: String,
    /// The format of the answer.
    pub form: Form,
}

/// The subject of a program's question.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum What {
    /// A gem, with its newest version.
    Gem(String),
    /// All its versions.
    Versions(String),
    /// The number of its newest version.
    Latest(String),
    /// One version, for any platform or for this one.
    Version(String, String, Option<String>),
    /// Its owners.
    Owners(String),
    /// The gems that the caller owns.
    Own,
    /// A page of the gems whose names contain all these words. Pages count from 1.
    Search(Vec<String>, usize),
    /// Names with this prefix.
    Complete(String),
    /// The newest gems.
    Newest,
    /// The newest versions.
    Updated,
    /// A page of the versions of a time span. Pages count from 1.
    Between(Millis, Millis, usize),
}

impl What {
    /// Whether the answer is made from the versions of one gem.
    pub(crate) fn is_of_versions(&self) -> bool {
        self.gem().is_some() && !matches!(self, What::Owners(_))
    }

    /// Whether the answer has URLs of the repository in it.
    pub(crate) fn has_urls(&self) -> bool {
        match self {
            What::Versions(_) | What::Latest(_) | What::Owners(_) | What::Complete(_) => false,
            What::Gem(_) | What::Version(..) | What::Own | What::Search(..) => true,
            What::Newest | What::Updated | What::Between(..) => true,
        }
    }

    /// The size of its texts apart from the name of the gem, in bytes.
    pub(crate) fn weight(&self) -> usize {
        match self {
            What::Version(_, number, platform) => number.len() + platform.as_ref().map_or(0, String::len),
            _ => 0,
        }
    }

    /// The only gem that it is about.
    pub(crate) fn gem(&self) -> Option<&str> {
        match self {
            What::Gem(name) | What::Versions(name) | What::Latest(name) | What::Version(name, ..) => Some(name),
            What::Owners(name) => Some(name),
            _ => None,
        }
    }
}

/// The role of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May publish, yank, and change owners.
    #[default]
    Owner,
    /// May publish and yank.
    Maintainer,
}

/// A change of the owners of a gem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerChange {
    /// Adds an owner.
    Add(Role),
    /// Removes an owner.
    Remove,
    /// Changes the role of an owner.
    Become(Role),
}
