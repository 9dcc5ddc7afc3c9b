//! The rules of access, as simply as they can be said: who may do what with which repository at which moment.

use std::collections::{BTreeMap, BTreeSet};
use telemetry::Millis;

/// A token that was made.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) secret: String,
    pub(super) scope: &'static str,
    /// Seals of the repositories it is for, and of no other that takes their names; none: all.
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
    /// Different for each repository that ever was, and part of every gem pushed into it.
    pub(super) seal: String,
    /// Versions of the one gem: live or withdrawn.
    pub(super) versions: BTreeMap<u8, bool>,
    /// The order of the pushes.
    pub(super) pushed: Vec<u8>,
}

/// What an answer must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allowed,
    /// With this status.
    Refused(u16),
}

/// What is true.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) repositories: BTreeMap<usize, Repository>,
    pub(super) tokens: Vec<Token>,
    pub(super) now: Millis,
}

impl Rules {
    /// Whether who shows these tokens (`None` among them: something that is no token) may do this. There is always a private
    /// repository, so that nobody learns without a token which names there are.
    pub(super) fn judge(&self, shown: &[Option<usize>], scope: &str, repository: usize) -> Verdict {
        let good = shown.iter().flatten().map(|at| &self.tokens[*at]).find(|token| token.good(self.now));
        let Some(there) = self.repositories.get(&repository) else {
            return Verdict::Refused(if good.is_some() { 404 } else { 401 });
        };
        match good {
            Some(token) if token.allows(scope, there) => Verdict::Allowed,
            _ if scope == "read" && !there.private => Verdict::Allowed,
            Some(token) if there.private && !token.is_for(there) => Verdict::Refused(404),
            Some(_) => Verdict::Refused(403),
            None => Verdict::Refused(401),
        }
    }
}
