//! The rules of access in their simplest form: who may do what in which repository at which moment.

use std::collections::{BTreeMap, BTreeSet};
use telemetry::Millis;

/// A token that exists or existed.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) secret: String,
    pub(super) scope: &'static str,
    /// The seals of its repositories. A repository that takes the name of one has another seal. Empty: all.
    pub(super) repositories: BTreeSet<String>,
    pub(super) expires: Option<Millis>,
    pub(super) revoked: bool,
}

impl Token {
    fn good(&self, now: Millis) -> bool {
        !self.revoked && self.expires.is_none_or(|expires| now < expires)
    }

    fn is_for(&self, repository: &Repository) -> bool {
        self.repositories.is_empty() || self.repositories.contains(&repository.seal)
    }

    fn allows(&self, scope: &str, repository: &Repository) -> bool {
        (self.scope == scope || self.scope == "admin") && self.is_for(repository)
    }
}

/// A repository that exists.
#[derive(Debug, Default)]
pub(super) struct Repository {
    pub(super) private: bool,
    /// Unique among all repositories that ever existed, and a part of every gem in it.
    pub(super) seal: String,
    /// The versions of the one gem: live or withdrawn.
    pub(super) versions: BTreeMap<u8, bool>,
    /// The order of the pushes.
    pub(super) pushed: Vec<u8>,
}

/// The expected answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allowed,
    /// With this status.
    Refused(u16),
}

/// The true state.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) repositories: BTreeMap<usize, Repository>,
    pub(super) tokens: Vec<Token>,
    pub(super) now: Millis,
}

impl Rules {
    /// Whether a caller with these credentials may do this. `None` stands for a text that is no token. There is always
    /// a private repository, so a caller without a token never learns which names exist.
    pub(super) fn judge(&self, shown: &[Option<usize>], scope: &str, repository: usize) -> Verdict {
        let good = shown.iter().flatten().map(|at| &self.tokens[*at]).find(|token| token.good(self.now));
        let Some(there) = self.repositories.get(&repository) else {
            return Verdict::Refused(match good {
                Some(token) if token.repositories.is_empty() => 404,
                // As for a private repository that it is not for.
                Some(_) => 403,
                None => 401,
            });
        };
        match good {
            Some(token) if token.allows(scope, there) => Verdict::Allowed,
            _ if scope == "read" && !there.private => Verdict::Allowed,
            Some(_) => Verdict::Refused(403),
            None => Verdict::Refused(401),
        }
    }
}
