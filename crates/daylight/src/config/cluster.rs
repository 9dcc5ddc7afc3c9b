//! The types of the settings of a database that several machines share.

use super::value::Value;
use client::DatabaseUrl;
use std::path::PathBuf;

/// Longest name of a node, in bytes.
const NAME_MAX: usize = 63;

/// The default of `cluster.drain_s`.
pub(super) const DRAIN_S: u64 = 5;

/// The URL of a database of PostgreSQL, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OptionalDatabase(pub Option<DatabaseUrl>);

impl Value for OptionalDatabase {
    const EXPECTS: &'static str = "`postgres://HOST:PORT/NAME` or `postgres://USER@HOST:PORT/NAME`, without a password (`cluster.database_password`)";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        DatabaseUrl::new(text).ok().map(|url| Self(Some(url)))
    }

    fn json(&self) -> serde_json::Value {
        self.0.as_ref().map(DatabaseUrl::to_string).unwrap_or_default().into()
    }
}

/// The certificates with which the server of the database is believed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DatabaseTrust {
    /// It needs none: the connection is not encrypted.
    #[default]
    Plain,
    /// The certificates that the machine trusts.
    Machine,
    /// The certificates of a PEM file, besides the machine's.
    File(PathBuf),
}

/// The word for [`DatabaseTrust::Machine`].
const MACHINE: &str = "machine";

impl Value for DatabaseTrust {
    const EXPECTS: &'static str = "the path of a PEM file, or `machine`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        if text == MACHINE {
            return Some(Self::Machine);
        }
        PathBuf::parse(text).map(Self::File)
    }

    fn json(&self) -> serde_json::Value {
        match self {
            Self::Plain => "".into(),
            Self::Machine => MACHINE.into(),
            Self::File(path) => path.json(),
        }
    }
}

/// The default of `cluster.stale_private_s`.
pub(super) const STALE_PRIVATE_S: u64 = 60;

/// When a change is acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Acknowledge {
    /// Every node that calls its answers fresh has it.
    #[default]
    Everywhere,
    /// It is committed, and this node has it.
    Here,
}

impl Value for Acknowledge {
    const EXPECTS: &'static str = "`everywhere` or `here`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        [Self::Everywhere, Self::Here].into_iter().find(|known| known.word() == text)
    }

    fn json(&self) -> serde_json::Value {
        self.word().into()
    }
}

impl Acknowledge {
    fn word(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Here => "here",
        }
    }
}

/// The name of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeName(pub String);

impl NodeName {
    /// The name of this machine, as far as a node may have it.
    pub(super) fn of_machine() -> Self {
        Self::made_of(&rustix::system::uname().nodename().to_string_lossy())
    }

    fn made_of(host: &str) -> Self {
        let plain = |c: char| if is_plain(c) { c } else { '-' };
        let name: String = host.chars().take(NAME_MAX).map(plain).collect();
        Self(if name.is_empty() { "node".to_owned() } else { name })
    }
}

impl Value for NodeName {
    const EXPECTS: &'static str = "1 to 63 letters, digits, `.`, `-` and `_`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        ((1..=NAME_MAX).contains(&text.len()) && text.chars().all(is_plain)).then(|| Self(text.to_owned()))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().into()
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_named_as_its_machine_as_far_as_the_letters_of_that_go() {
        for (host, name) in [("db-1.example", "db-1.example"), ("", "node"), ("a b\u{e4}", "a-b-")] {
            assert_eq!(NodeName::made_of(host).0, name);
            assert_eq!(NodeName::parse(name), Some(NodeName(name.to_owned())));
        }
        assert_eq!(NodeName::made_of(&"a".repeat(99)).0.len(), NAME_MAX);
        for wrong in ["", "a b", "a/b", &"a".repeat(NAME_MAX + 1)] {
            assert_eq!(NodeName::parse(wrong), None);
        }
    }

    #[test]
    fn a_database_is_shown_without_what_its_default_leaves_out() {
        let database = OptionalDatabase::parse("postgres://db/packages").unwrap();
        assert_eq!(database.json(), "postgres://daylight@db:5432/packages");
        assert_eq!(OptionalDatabase::parse(database.json().as_str().unwrap()), Some(database));
        assert_eq!(OptionalDatabase::parse("postgres://me:hush@db/packages"), None);
        for trust in ["machine", "/etc/db.pem"] {
            assert_eq!(DatabaseTrust::parse(trust).unwrap().json(), trust);
        }
        assert_eq!(DatabaseTrust::parse(""), None);
    }
}
