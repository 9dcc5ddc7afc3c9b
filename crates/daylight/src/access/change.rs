//! Making, widening and revoking tokens.

use super::credentials::{self, hash};
use super::error::Error;
use super::table::Token;
use super::tokens::Access;
use super::{name, otp};
use client::Secret;
use repository::{Author, ChangeSource, Scope};
use std::sync::Arc;
use store::{Change, CommitError, Digest, Expect, RepositoryId, TokenRecord};
use telemetry::{Event, Millis, lock};

/// Most keys of one owner that work, or were made within [`RECENT`]. Each is a row in the journal, and all are in memory.
const KEYS_MAX: usize = 100;
/// A day, in milliseconds.
const RECENT: i64 = 86_400_000;

/// How often a change of a token that lost a race is tried again.
const TRIES: usize = 100;

/// A token to be made.
#[derive(Debug, Clone, Default)]
pub struct NewToken {
    /// Its name.
    pub name: String,
    /// Its owner.
    pub owner: String,
    /// Its scopes, at least one.
    pub scopes: Vec<Scope>,
    /// The repositories that it is for, with their current names; empty: all.
    pub repositories: Vec<(RepositoryId, String)>,
    /// The only package that it may change; `None`: any.
    pub unit: Option<String>,
    /// When it expires.
    pub expires: Option<Millis>,
    /// Whether it demands one-time passwords.
    pub otp: bool,
}

/// A new token, with the secrets that are shown only once.
#[derive(Debug)]
pub struct CreatedToken {
    /// Its secret.
    pub secret: Secret,
    /// The URI with the key of its one-time passwords, for an app that shows them.
    pub otp: Option<Secret>,
    /// Its record in the journal.
    pub record: TokenRecord,
}

impl Access {
    /// Makes a token with the given secret, or with a new one.
    pub async fn create(
        &self,
        new: NewToken,
        secret: Option<Secret>,
        by: Author<'_>,
        event: &mut Event,
    ) -> Result<CreatedToken, Error> {
        let made = self.prepare(new, secret)?;
        if let Some(key) = &made.record.otp {
            // Tells every process, also after a restart, that no code was used yet.
            let unused = |_: Option<&str>| (Some(otp::unused()), ());
            self.store.change_note(otp::note(key), unused, event).await?;
        }
        let expect = vec![Expect::TokenNameFree(made.record.name.clone())];
        self.write(expect, vec![made.record.clone()], by, event).await?;
        Ok(made)
    }

    /// A token with the given secret, or with a new one, that is not written yet.
    fn prepare(&self, new: NewToken, secret: Option<Secret>) -> Result<CreatedToken, Error> {
        let otp = new.otp.then(otp::new_key).transpose()?;
        let uri = otp.as_deref().map(|key| otp::uri(key, &new.name));
        let (secret, record) = self.record(new, secret)?;
        Ok(CreatedToken { secret, otp: uri, record: TokenRecord { otp, ..record } })
    }

    /// A token in place of any other with its name, with the changes that do this. For a batch of the caller, which expects that no token
    /// has changed.
    pub async fn replacement(
        &self,
        new: NewToken,
        secret: Option<Secret>,
        event: &mut Event,
    ) -> Result<(CreatedToken, Vec<Change>), Error> {
        let (table, now) = (self.table(event).await?, self.clock.now());
        let replaced: Vec<_> = table.tokens().into_iter().filter(|token| token.record.name == new.name).collect();
        let made_with = |one: &&Arc<Token>| replaced.iter().any(|token| table.made_with(&one.record.name, token));
        let all = table.tokens();
        let gone = all.iter().filter(made_with);
        let revoked = gone.map(|token| TokenRecord { revoked: Some(now), ..token.record.clone() });
        let mut records: Vec<_> = revoked.collect();
        let made = self.prepare(new, secret)?;
        records.push(made.record.clone());
        Ok((made, records.into_iter().map(|record| Change::Token { record }).collect()))
    }

    /// Makes a key with a token. The key has no more rights than the token, demands the same passwords, and expires with it.
    pub async fn derive(
        &self,
        maker: &Token,
        new: NewToken,
        from: ChangeSource,
        event: &mut Event,
    ) -> Result<Secret, Error> {
        self.derive_hashed(maker, new, &|secret| hash(secret.expose().as_bytes()), from, event).await
    }

    /// The same for a secret that is stored under another hash, as that of a session.
    pub(super) async fn derive_hashed(
        &self,
        maker: &Token,
        mut new: NewToken,
        hashed: &(dyn Fn(&Secret) -> Digest + Sync),
        from: ChangeSource,
        event: &mut Event,
    ) -> Result<Secret, Error> {
        name::check_free("name", &new.name)?;
        let made_by = &maker.record;
        if let Some(unit) = made_by.unit.as_deref().filter(|unit| new.unit.as_deref() != Some(unit)) {
            let (token, package) = (made_by.name.clone(), unit.to_owned());
            return Err(repository::Error::OnlyFor { token, package }.into());
        }
        if new.otp && made_by.otp.is_none() {
            let token = &made_by.name;
            return Err(Error::Input(format!("token `{token}` has no one-time passwords that the key could demand")));
        }
        if self.keys(&new.owner, event).await? >= KEYS_MAX {
            let owner = &new.owner;
            return Err(Error::Input(format!(
                "`{owner}` has {KEYS_MAX} keys, or made so many within a day: revoke the token they were made with, or wait"
            )));
        }
        new.expires = [new.expires, made_by.expires].into_iter().flatten().min();
        let (secret, record) = self.record(new, None)?;
        let hash = hashed(&secret);
        let record = TokenRecord { hash, maker: Some(made_by.hash), otp: made_by.otp.clone(), ..record };
        let expect = vec![Expect::TokenNameFree(record.name.clone()), Expect::TokenLives(made_by.hash)];
        self.write(expect, vec![record], Author { by: &made_by.name, from }, event).await?;
        Ok(secret)
    }

    /// The number of keys of an owner that work, or were made within a day. Revoked keys count, as their rows stay in the journal.
    async fn keys(&self, owner: &str, event: &mut Event) -> Result<usize, Error> {
        let (now, tokens) = (self.clock.now(), self.table(event).await?.tokens());
        let recent = |created: Millis| now.0.saturating_sub(created.0) < RECENT;
        let counts = |token: &Token| token.record.maker.is_some() && (token.lives(now) || recent(token.record.created));
        let present = tokens.iter().filter(|token| token.owner() == owner && counts(token)).count();
        let mut revoked = lock(&self.revoked_keys);
        revoked.retain(|_, created| {
            created.retain(|created| recent(*created));
            !created.is_empty()
        });
        Ok(present + revoked.get(owner).map_or(0, Vec::len))
    }

    /// Counts revoked keys, so that making and revoking keys is limited too. A restart forgets the count.
    fn count_revoked(&self, revoked: &[Arc<Token>]) {
        let mut keys = lock(&self.revoked_keys);
        for key in revoked.iter().filter(|token| token.record.maker.is_some()) {
            keys.entry(key.owner().to_owned()).or_default().push(key.record.created);
        }
    }

    /// Adds scopes to a key that was made with `maker`. Only its maker can, so that a key never has more rights than its maker.
    pub async fn widen(
        &self,
        key: &Token,
        scopes: &[Scope],
        maker: &Token,
        from: ChangeSource,
        event: &mut Event,
    ) -> Result<(), Error> {
        if key.record.maker != Some(maker.record.hash) {
            return Err(Error::NotItsMaker { key: key.record.name.clone(), token: maker.record.name.clone() });
        }
        for _ in 0..TRIES {
            let table = self.table(event).await?;
            let current = table.of_hash(&key.record.hash).ok_or(Error::CredentialsUnknown)?;
            let mut record = current.record.clone();
            let more = scopes.iter().filter(|scope| !current.scoped(**scope));
            record.scopes.extend(more.map(|scope| scope.as_str().to_owned()));
            let is = Expect::TokenIs(Box::new(current.record.clone()));
            let expect = vec![Expect::TokenLives(maker.record.hash), is];
            let author = Author { by: &maker.record.name, from };
            match self.write(expect, vec![record], author, event).await {
                // Somebody else widened it meanwhile, or it was revoked.
                Err(Error::TokenChanged) => {}
                done => return done,
            }
        }
        Err(Error::TokenChanged)
    }

    /// Revokes the token of that name, and the keys that were made with it. None of them works any more when this returns.
    pub async fn revoke(&self, name: &str, by: Author<'_>, event: &mut Event) -> Result<(), Error> {
        let table = self.table(event).await?;
        let named = |token: &Token| token.record.name == name;
        let mut gone: Vec<_> = table.tokens().into_iter().filter(|token| named(token)).collect();
        if gone.is_empty() {
            return Err(Error::NoSuchToken(Event::text(name)));
        }
        while !gone.is_empty() {
            let now = self.clock.now();
            let revoked = |token: &Token| TokenRecord { revoked: Some(now), ..token.record.clone() };
            self.write(Vec::new(), gone.iter().map(|token| revoked(token)).collect(), by, event).await?;
            self.count_revoked(&gone);
            // Keys may have been made meanwhile; from now on none can, without their maker.
            gone = self.table(event).await?.orphans();
        }
        Ok(())
    }

    /// A new token's record, and its secret.
    fn record(&self, new: NewToken, secret: Option<Secret>) -> Result<(Secret, TokenRecord), Error> {
        let now = self.clock.now();
        for (what, text) in [("name", &new.name), ("owner", &new.owner)] {
            name::check(what, text)?;
        }
        // Letters of other alphabets may look like ASCII, and the name is part of the URL that revokes the token.
        if new.name.is_empty()
            || !new.name.is_ascii()
            || new.name.contains(['/', '\\'])
            || [".", ".."].contains(&&*new.name)
        {
            let text = "a token needs a name of ASCII characters, without `/` and `\\`, and not `.` or `..`";
            return Err(Error::Input(text.into()));
        }
        if new.scopes.is_empty() {
            return Err(Error::Input(format!("a token needs at least one scope of {}", Scope::list())));
        }
        if new.expires.is_some_and(|at| at <= now) {
            return Err(Error::Input("the token would have expired already".into()));
        }
        let secret = match secret {
            Some(given) => given,
            None => credentials::new_secret()?,
        };
        let record = TokenRecord {
            name: new.name,
            owner: new.owner,
            hash: hash(secret.expose().as_bytes()),
            scopes: new.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            repository_ids: new.repositories.iter().map(|(id, _)| *id).collect(),
            repositories: new.repositories.into_iter().map(|(_, name)| name).collect(),
            unit: new.unit,
            maker: None,
            otp: None,
            created: now,
            expires: new.expires,
            revoked: None,
        };
        Ok((secret, record))
    }

    async fn write(
        &self,
        expect: Vec<Expect>,
        records: Vec<TokenRecord>,
        by: Author<'_>,
        event: &mut Event,
    ) -> Result<(), Error> {
        let changes = records.into_iter().map(|record| Change::Token { record }).collect();
        match self.store.commit(by.batch(self.store.now(), expect, changes), event).await {
            Ok(_) => Ok(()),
            Err(CommitError::Conflict(conflict)) => match conflict.0 {
                Expect::TokenNameFree(name) => Err(Error::TokenNameTaken(name)),
                Expect::TokenIs(_) => Err(Error::TokenChanged),
                // It was revoked meanwhile.
                _ => Err(Error::CredentialsUnknown),
            },
            Err(CommitError::Error(error)) => Err(error.into()),
        }
    }
}
