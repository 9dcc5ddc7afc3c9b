//! Making and revoking tokens.

use super::credentials::hash;
use super::{Access, Scope};
use crate::error::Error;
use client::Secret;
use store::{Batch, Change, CommitError, Expect, RepositoryId, TokenRecord};
use telemetry::{Event, Millis};

/// Longest name of a token or an owner, in bytes.
const NAME_MAX: usize = 128;

/// What a new token is to be.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub owner: String,
    /// What it is good for; at least one.
    pub scopes: Vec<Scope>,
    /// Which repositories it is for, with the names they have now; empty: all.
    pub repositories: Vec<(RepositoryId, String)>,
    /// When it stops to work.
    pub expires: Option<Millis>,
}

impl Access {
    /// Makes a token with the given secret, or a new one.
    pub async fn create(
        &self,
        new: NewToken,
        secret: Option<Secret>,
        by: &str,
        event: &mut Event,
    ) -> Result<(Secret, TokenRecord), Error> {
        let now = self.clock.now();
        for (what, text) in [("name", &new.name), ("owner", &new.owner)] {
            if text.len() > NAME_MAX || text.chars().any(char::is_control) {
                return Err(Error::Input(format!(
                    "a token's {what} has at most {NAME_MAX} bytes and no control characters"
                )));
            }
        }
        if new.name.is_empty() || new.name.contains('/') || new.name == "." || new.name == ".." {
            return Err(Error::Input("a token needs a name, without a `/` and not `.` or `..`".into()));
        }
        if new.scopes.is_empty() {
            return Err(Error::Input("a token needs at least one scope of read, write, delete, admin".into()));
        }
        if new.expires.is_some_and(|at| at <= now) {
            return Err(Error::Input("the token would have expired already".into()));
        }
        let secret = match secret {
            Some(given) => given,
            None => super::new_secret()?,
        };
        let record = TokenRecord {
            name: new.name,
            owner: new.owner,
            hash: hash(secret.expose().as_bytes()),
            scopes: new.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            repository_ids: new.repositories.iter().map(|(id, _)| *id).collect(),
            repositories: new.repositories.into_iter().map(|(_, name)| name).collect(),
            unit: None,
            maker: None,
            otp: None,
            created: now,
            expires: new.expires,
            revoked: None,
        };
        self.commit(vec![Expect::TokenNameFree(record.name.clone())], record.clone(), by, event).await?;
        Ok((secret, record))
    }

    /// Revokes the token of that name: it stops to work before this returns.
    pub async fn revoke(&self, name: &str, by: &str, event: &mut Event) -> Result<(), Error> {
        let table = self.table(event).await?;
        let token = table.tokens().into_iter().find(|token| token.record.name == name);
        let token = token.ok_or_else(|| Error::NoSuchToken(Event::text(name)))?;
        let record = TokenRecord { revoked: Some(self.clock.now()), ..token.record.clone() };
        self.commit(Vec::new(), record, by, event).await
    }

    async fn commit(&self, expect: Vec<Expect>, record: TokenRecord, by: &str, event: &mut Event) -> Result<(), Error> {
        let name = record.name.clone();
        let batch = Batch { by: by.to_owned(), at: self.clock.now(), expect, changes: vec![Change::Token { record }] };
        match self.store.commit(batch, event).await {
            Ok(_) => Ok(()),
            Err(CommitError::Conflict(_)) => Err(Error::TokenNameTaken(name)),
            Err(CommitError::Error(error)) => Err(error.into()),
        }
    }
}
