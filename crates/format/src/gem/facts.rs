//! The facts about one package: what the journal keeps, for ever, and what every index is rendered from.
//!
//! Fields are only ever added (with a default), so that the oldest row can still be read. All that the legacy index
//! (`Gem::Specification` in Marshal, without its lists of files) and the JSON answers need is here.

use super::{Requirement, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A gem, as its gemspec describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Version of this form; 1 so far.
    pub v: u32,
    /// Its name.
    pub name: String,
    /// Its version.
    pub number: Version,
    /// Its platform as it was pushed; `ruby` where it runs anywhere.
    pub platform: String,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// Where they can be written to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub email: Vec<String>,
    /// One line about it.
    pub summary: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// Names of licences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub licenses: Vec<String>,
    /// More facts, among them links.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// What it depends on, in the order of the gemspec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Dependency>,
    /// Which Ruby it needs.
    #[serde(default)]
    pub required_ruby: Requirement,
    /// Which RubyGems it needs.
    #[serde(default)]
    pub required_rubygems: Requirement,
    /// What else it needs, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    /// Programs it installs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executables: Vec<String>,
    /// Whether installing it builds something native.
    #[serde(default)]
    pub extensions: bool,
    /// The day it was built, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Which RubyGems built it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubygems_version: Option<String>,
    /// The form of its gemspec; 4 since RubyGems 1.3.
    pub specification_version: u32,
    /// Whether it carries a certificate chain and signatures. They are not verified here.
    #[serde(default)]
    pub signed: bool,
}

/// What of the facts tells a version from the gem's others: the rest is not read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Identity {
    /// Its version.
    pub number: Version,
    /// Its platform as it was pushed.
    pub platform: String,
}

/// When a dependency is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// To use the gem.
    Runtime,
    /// To work on the gem; not in the index.
    Development,
}

/// Another gem that is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// When it is needed.
    pub kind: Kind,
    /// Which versions of it.
    pub requirement: Requirement,
}

impl Package {
    /// The version of this form that is written now.
    pub const V: u32 = 1;

    /// `name-number`, and `-platform` unless that is `ruby`: unique in a repository, and the name of its file.
    pub fn full_name(&self) -> String {
        full_name(&self.name, self.number.as_str(), &self.platform)
    }
}

/// The full name of a gem of which only these are known, as for a yank. An empty platform means `ruby`.
pub fn full_name(name: &str, number: &str, platform: &str) -> String {
    format!("{name}-{}", slug(number, platform))
}

/// `number[-platform]`, as index lines have it.
pub(crate) fn slug(number: &str, platform: &str) -> String {
    if platform.is_empty() || platform == "ruby" { number.to_owned() } else { format!("{number}-{platform}") }
}
