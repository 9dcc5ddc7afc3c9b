//! The facts about one package. The journal keeps them permanently, and every index is rendered from them.
//!
//! Fields are only ever added, with a default, so that the oldest row can still be read. They cover the legacy index
//! (`Gem::Specification` in Marshal, without its lists of files) and the JSON answers.

use super::{Requirement, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A gem, as described by its gemspec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Version of this form; 1 so far.
    pub v: u32,
    /// Its name.
    pub name: String,
    /// Its version.
    pub number: Version,
    /// Its platform as pushed; `ruby` for all platforms.
    pub platform: String,
    /// The authors.
    pub authors: Vec<String>,
    /// Their addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub email: Vec<String>,
    /// Whether the gemspec has the addresses as a list. Only set for fewer than two: more are always a list.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub email_list: bool,
    /// A summary in one line.
    pub summary: String,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its home page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// Names of licences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub licenses: Vec<String>,
    /// Metadata, including links.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Its dependencies, in the order of the gemspec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Dependency>,
    /// The required version of Ruby.
    #[serde(default)]
    pub required_ruby: Requirement,
    /// The required version of RubyGems.
    #[serde(default)]
    pub required_rubygems: Requirement,
    /// Other requirements, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    /// Executables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executables: Vec<String>,
    /// Whether its installation builds native extensions.
    #[serde(default)]
    pub extensions: bool,
    /// The day it was built, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The version of RubyGems that built it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubygems_version: Option<String>,
    /// The form of its gemspec; 4 since RubyGems 1.3.
    pub specification_version: u32,
    /// Whether it carries a certificate chain and signatures. They are not verified here.
    #[serde(default)]
    pub signed: bool,
}

/// The facts that identify a version of a gem. Only these are read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Identity {
    /// Its version.
    pub number: Version,
    /// The pushed platform.
    pub platform: String,
}

/// The kind of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// To use the gem.
    Runtime,
    /// To develop the gem; not in the index.
    Development,
}

/// A dependency on another gem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// Whether it is needed at run time or for development.
    pub kind: Kind,
    /// The accepted versions.
    pub requirement: Requirement,
}

impl Package {
    /// The form version that is written now.
    pub const V: u32 = 1;

    /// `name-number`, and `-platform` unless that is `ruby`: unique in a repository, and the name of its file.
    pub fn full_name(&self) -> String {
        full_name(&self.name, self.number.as_str(), &self.platform)
    }
}

/// The full name from its parts, as for a yank. An empty platform means `ruby`.
pub fn full_name(name: &str, number: &str, platform: &str) -> String {
    format!("{name}-{}", slug(number, platform))
}

/// `number[-platform]`, as in index lines.
pub(crate) fn slug(number: &str, platform: &str) -> String {
    if platform.is_empty() || platform == "ruby" { number.to_owned() } else { format!("{number}-{platform}") }
}
