//! The tokens in memory, found by their hashes.

use super::credentials::Credentials;
use super::error::Error;
use client::Secret;
use repository::{People, Scope};
use std::collections::HashMap;
use std::sync::Arc;
use store::{Digest, RepositoryId, Stamp, Store, TokenRecord, Unit};
use subtle::ConstantTimeEq;
use telemetry::{Event, Millis};

/// A token that is not revoked.
#[derive(Debug)]
pub struct Token {
    /// Its record in the journal.
    pub record: TokenRecord,
    /// The class of the pages of its bearer; never the class of public pages.
    pub class: u64,
}

impl Token {
    /// Its owner: a person or a machine.
    pub fn owner(&self) -> &str {
        if self.record.owner.is_empty() { &self.record.name } else { &self.record.owner }
    }

    /// Whether it has not expired at `now`.
    pub fn lives(&self, now: Millis) -> bool {
        self.record.expires.is_none_or(|expires| now < expires)
    }

    /// Whether it has `scope`, in any repository.
    pub fn scoped(&self, scope: Scope) -> bool {
        self.record.scopes.iter().any(|had| had == scope.as_str() || had == Scope::Admin.as_str())
    }

    /// Whether it is for all repositories.
    pub fn is_for_all(&self) -> bool {
        self.record.repositories.is_empty()
    }

    /// Whether it is for that repository.
    pub fn is_for(&self, repository: RepositoryId) -> bool {
        self.is_for_all() || self.record.repository_ids.contains(&repository)
    }

    /// Whether it has `scope` in a repository, or (`None`) in all of them.
    pub fn allows(&self, scope: Scope, repository: Option<RepositoryId>) -> bool {
        self.scoped(scope) && (self.is_for_all() || repository.is_some_and(|id| self.is_for(id)))
    }
}

/// All tokens that are not revoked, at a revision.
#[derive(Debug)]
pub struct TokenTable {
    by_hash: HashMap<Digest, Arc<Token>>,
    /// The revision, taken before the tokens were read.
    pub stamp: Stamp,
}

impl People for TokenTable {
    fn has_token(&self, owner: &str) -> bool {
        self.by_hash.values().any(|token| token.owner() == owner)
    }
}

impl TokenTable {
    /// Reads the tokens from the store.
    pub(super) async fn read(store: &Store, event: &mut Event) -> Result<Self, Error> {
        let stamp = store.revisions().stamp([Unit::Tokens], Millis(i64::MAX));
        let tokens = store.tokens(event).await?;
        let by_hash = tokens.into_iter().map(|record| {
            // The class is a part of the secret's hash: it is stable, and no two tokens have the same.
            let mut class = [0; 8];
            class.copy_from_slice(&record.hash.0[..8]);
            (record.hash, Arc::new(Token { record, class: u64::from_le_bytes(class).max(1) }))
        });
        Ok(Self { by_hash: by_hash.collect(), stamp })
    }

    /// The token of these credentials, if it is known and has not expired at `now`.
    pub fn find(&self, credentials: &Credentials, now: Millis) -> Option<Arc<Token>> {
        self.known(credentials).find(|token| token.lives(now)).cloned()
    }

    /// The tokens of these credentials, expired or not.
    pub(super) fn known<'a>(&'a self, credentials: &'a Credentials) -> impl Iterator<Item = &'a Arc<Token>> {
        credentials.candidates().iter().filter_map(|hash| {
            let token = self.by_hash.get(hash)?;
            bool::from(token.record.hash.0.ct_eq(&hash.0)).then_some(token)
        })
    }

    /// The token with this secret, if it has not expired.
    pub fn of_secret(&self, secret: &Secret, now: Millis) -> Option<Arc<Token>> {
        self.find(&Credentials::of_secret(secret), now)
    }

    /// The token with this hash.
    pub(super) fn of_hash(&self, hash: &Digest) -> Option<&Arc<Token>> {
        self.by_hash.get(hash)
    }

    /// The token that `key` was made with, if it is a key that a client made by signing in.
    pub(super) fn maker(&self, key: &Token) -> Option<&Arc<Token>> {
        self.by_hash.get(&key.record.maker?)
    }

    /// Whether the token of that name is `token`, or a key that was made with it, or with such a key.
    pub(super) fn made_with(&self, name: &str, token: &Token) -> bool {
        let mut next = self.by_hash.values().find(|one| one.record.name == name);
        while let Some(one) = next {
            if one.record.hash == token.record.hash {
                return true;
            }
            // A maker is older than what it makes, so this ends.
            next = one.record.maker.and_then(|maker| self.by_hash.get(&maker));
        }
        false
    }

    /// The keys whose maker was revoked.
    pub(super) fn orphans(&self) -> Vec<Arc<Token>> {
        let orphan = |token: &&Arc<Token>| token.record.maker.is_some_and(|maker| !self.by_hash.contains_key(&maker));
        self.by_hash.values().filter(orphan).cloned().collect()
    }

    /// All tokens, sorted by name.
    pub fn tokens(&self) -> Vec<Arc<Token>> {
        let mut all: Vec<_> = self.by_hash.values().cloned().collect();
        all.sort_by(|a, b| a.record.name.cmp(&b.record.name));
        all
    }
}
