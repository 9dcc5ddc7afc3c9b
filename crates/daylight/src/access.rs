//! Who asks, and whether they may.

mod change;
mod credentials;
pub(crate) mod name;
mod otp;
mod table;

pub use change::{Made, NewToken};
pub use credentials::{Presented, new_secret};
pub use otp::Refused;
pub use table::{Table, Token};

use crate::error::Error;
use arc_swap::ArcSwap;
use front::Request;
use http::HeaderMap;
use otp::Codes;
use repository::Scope;
use repository::{Actor, Repositories, Repository};
use std::collections::HashMap;
use std::sync::Arc;
use store::{Stamp, Store};
use telemetry::{Clock, Event, Millis, Op};
use tokio::sync::Mutex;

/// Whoever asks: a token's bearer, or anyone.
#[derive(Debug, Clone)]
pub struct Who {
    /// The token they showed, if it is a good one.
    pub token: Option<Arc<Token>>,
    /// The revision of the tokens this was decided from.
    pub stamp: Stamp,
}

impl Who {
    /// As repositories know them.
    pub fn actor(&self) -> Actor<'_> {
        let token = self.token.as_deref();
        Actor {
            name: self.name(),
            owner: token.map_or("", Token::owner),
            only: token.and_then(|token| token.record.unit.as_deref()),
            admin: token.is_some_and(|token| token.scoped(Scope::Admin)),
        }
    }

    /// The name changes are journaled under.
    pub fn name(&self) -> &str {
        self.token.as_ref().map_or("anyone", |token| &token.record.name)
    }
}

/// The tokens, and the rules for what they allow.
#[derive(Debug)]
pub struct Access {
    store: Arc<Store>,
    clock: Clock,
    table: ArcSwap<Table>,
    /// Held while the table is read anew.
    reading: Mutex<()>,
    codes: Codes,
    /// When keys were made that are revoked by now, by owner: those of the last day, which count like keys that work.
    gone_keys: std::sync::Mutex<HashMap<String, Vec<Millis>>>,
}

/// Refuses to make something for a GET that a browser may send for a page (an image of it is enough): only RubyGems itself, which says
/// so as no page can have a browser say it, and nothing that browsers add.
pub(crate) fn refuse_browsers(headers: &HeaderMap) -> Result<(), Error> {
    if credentials::is_rubygems(headers) { Ok(()) } else { Err(Error::OnlyPosted) }
}

/// Refuses what a browser was made to send by a page of another site.
pub(crate) fn refuse_elsewhere(headers: &HeaderMap) -> Result<(), Error> {
    if credentials::from_elsewhere(headers) { Err(Error::CrossSite) } else { Ok(()) }
}

impl Access {
    /// Reads which tokens there are.
    pub async fn open(store: Arc<Store>, clock: Clock, event: &mut Event) -> Result<Self, Error> {
        let table = Table::read(&store, event).await?;
        let codes = Codes::new(clock.now());
        Ok(Self {
            store,
            clock,
            table: ArcSwap::from_pointee(table),
            reading: Mutex::new(()),
            codes,
            gone_keys: Default::default(),
        })
    }

    /// The tokens as they are now: those in memory while their stamp holds, else read anew.
    pub async fn table(&self, event: &mut Event) -> Result<Arc<Table>, Error> {
        let table = self.table.load_full();
        if self.holds(&table) {
            return Ok(table);
        }
        let _turn = self.reading.lock().await;
        let table = self.table.load_full();
        if self.holds(&table) {
            return Ok(table);
        }
        let table = Arc::new(Table::read(&self.store, event).await?);
        self.table.store(table.clone());
        Ok(table)
    }

    fn holds(&self, table: &Table) -> bool {
        self.store.revisions().holds(&table.stamp, self.clock.now())
    }

    /// The page class of whoever shows these credentials, and until when. `None`: not known here and now, so no page
    /// but a public one is theirs. Takes no lock: the front asks on every request.
    pub fn class(&self, headers: &HeaderMap) -> Option<(u64, Millis)> {
        let presented = Presented::read(headers)?;
        let table = self.table.load();
        if !self.holds(&table) {
            return None;
        }
        let token = table.find(&presented, self.clock.now())?;
        Some((token.class, token.record.expires.unwrap_or(Millis(i64::MAX))))
    }

    /// The same of whoever shows them, also where tokens have changed since anybody asked; not whether they may do anything.
    pub async fn holder(&self, headers: &HeaderMap, event: &mut Event) -> Result<Option<u64>, Error> {
        let Some(presented) = Presented::read(headers) else { return Ok(None) };
        let token = self.table(event).await?.find(&presented, self.clock.now());
        Ok(token.map(|token| token.class))
    }

    /// The repository of that name with the revision of its settings, for whoever may know whether there is one. Where some
    /// repositories are private, a request without a good token gets one and the same answer for a private name and for a
    /// name that is not there; so does a token that is for other repositories.
    pub async fn repository(
        &self,
        repositories: &Repositories,
        name: &str,
        headers: &HeaderMap,
        event: &mut Event,
    ) -> Result<(Arc<Repository>, Stamp), Error> {
        let known = repositories.known(event).await?;
        let found = known.by_name.get(name);
        let nothing = || repository::Error::NoSuchRepository(name.to_owned());
        let secret = match found {
            Some(repository) => repository.record.private,
            None => known.by_name.values().any(|repository| repository.record.private),
        };
        if secret {
            let token = self.who(headers, event).await?.token;
            let token = token.ok_or_else(|| Error::PrivateOrMissing(name.to_owned()))?;
            if found.is_some_and(|repository| !token.is_for(repository.id)) {
                return Err(nothing().into());
            }
        }
        Ok((found.ok_or_else(nothing)?.clone(), known.stamp))
    }

    /// Who asks for `scope` on `repository`. Anyone may read what is not private; everything else needs a good token,
    /// and the password of the moment where the token demands one.
    pub async fn content(
        &self,
        request: &Request,
        scope: Scope,
        repository: &Repository,
        event: &mut Event,
    ) -> Result<Who, Error> {
        let headers = &request.headers;
        if scope != Scope::Read && credentials::from_elsewhere(headers) {
            return Err(Error::CrossSite);
        }
        let open = scope == Scope::Read && !repository.record.private;
        let name = &repository.record.name;
        match self.who(headers, event).await {
            Ok(who) => match &who.token {
                Some(token) if token.allows(scope, Some(repository.id)) => {
                    if scope != Scope::Read {
                        self.password(token, request)?;
                    }
                    Ok(who)
                }
                _ if open => Ok(who),
                Some(token) if token.scoped(scope) => {
                    Err(Error::RepositoryNotNamed { token: token.record.name.clone(), repository: name.clone() })
                }
                Some(token) => {
                    Err(Error::ScopeMissing { token: token.record.name.clone(), scope, repository: Some(name.clone()) })
                }
                None => Err(Error::CredentialsMissing { scope, repository: Some(name.clone()) }),
            },
            Err(Error::CredentialsUnknown) if open => Ok(Who { token: None, stamp: self.table(event).await?.stamp }),
            Err(error) => Err(error),
        }
    }

    /// Whose account this is about: a token that is good for something in `repository`. What changes the account also
    /// demands the password of the moment.
    pub async fn account(
        &self,
        request: &Request,
        repository: &Repository,
        changes: bool,
        event: &mut Event,
    ) -> Result<Arc<Token>, Error> {
        let headers = &request.headers;
        if changes && credentials::from_elsewhere(headers) {
            return Err(Error::CrossSite);
        }
        let token = self.who(headers, event).await?.token.ok_or(Error::AccountMissing)?;
        if !token.is_for(repository.id) {
            let (token, repository) = (token.record.name.clone(), repository.record.name.clone());
            return Err(Error::RepositoryNotNamed { token, repository });
        }
        if changes {
            self.password(&token, request)?;
        }
        Ok(token)
    }

    /// Who asks for something of the server as a whole.
    pub async fn server(&self, request: &Request, changes: bool, event: &mut Event) -> Result<Who, Error> {
        let headers = &request.headers;
        if credentials::from_elsewhere(headers) {
            return Err(Error::CrossSite);
        }
        let who = self.who(headers, event).await?;
        match &who.token {
            Some(token) if token.allows(Scope::Admin, None) => {
                if changes {
                    self.password(token, request)?;
                }
                Ok(who)
            }
            Some(token) => {
                Err(Error::ScopeMissing { token: token.record.name.clone(), scope: Scope::Admin, repository: None })
            }
            None => Err(Error::CredentialsMissing { scope: Scope::Admin, repository: None }),
        }
    }

    /// Whether whoever asks may revoke the token of that name without any scope or password: it is the token they show, or
    /// was made with it. Else a thief's wrong passwords would keep its owner from revoking what was stolen. The name that
    /// the change is journaled under; `None`: it takes an administrator.
    pub async fn may_revoke(&self, request: &Request, name: &str, event: &mut Event) -> Result<Option<String>, Error> {
        if credentials::from_elsewhere(&request.headers) {
            return Err(Error::CrossSite);
        }
        let Some(shown) = Presented::read(&request.headers) else { return Ok(None) };
        let table = self.table(event).await?;
        let by = table.find(&shown, self.clock.now());
        Ok(by.filter(|by| table.made_with(name, by)).map(|by| by.record.name.clone()))
    }

    /// Takes the one-time password that comes with a request, where `token` demands one.
    fn password(&self, token: &Token, request: &Request) -> Result<(), Error> {
        let Some(key) = token.record.otp.as_deref() else { return Ok(()) };
        let shown = request.headers.get("otp").map(|value| value.as_bytes());
        let client = front::client(request.client);
        let taken = self.codes.take(key, token.record.created, shown, client, self.clock.now());
        taken.map_err(|why| Error::Password { token: token.record.name.clone(), why })
    }

    /// Whether this secret is a token with every right.
    pub async fn is_admin(&self, secret: &client::Secret, event: &mut Event) -> Result<bool, Error> {
        let found = self.table(event).await?.find(&Presented::secret(secret), self.clock.now());
        Ok(found.is_some_and(|token| token.allows(Scope::Admin, None)))
    }

    /// Whether there is a token with every right that works now.
    pub async fn has_admin(&self, event: &mut Event) -> Result<bool, Error> {
        let now = self.clock.now();
        let tokens = self.table(event).await?.tokens();
        Ok(tokens.iter().any(|token| token.lives(now) && token.allows(Scope::Admin, None)))
    }

    async fn who(&self, headers: &HeaderMap, event: &mut Event) -> Result<Who, Error> {
        let table = self.table(event).await?;
        let Some(presented) = Presented::read(headers) else {
            return Ok(Who { token: None, stamp: table.stamp });
        };
        let now = self.clock.now();
        let token = event.time(Op::TokenCheck, || table.find(&presented, now)).ok_or(Error::CredentialsUnknown)?;
        event.token.clone_from(&token.record.name);
        Ok(Who { token: Some(token), stamp: table.stamp })
    }
}
