//! The tokens of the server in memory, read again when one has changed.

use super::caller::Caller;
use super::credentials::{Credentials, Lack};
use super::error::Error;
use super::otp::{self, OtpError, Shown};
use super::table::{Token, TokenTable};
use arc_swap::ArcSwap;
use front::Request;
use http::HeaderMap;
use repository::Scope;
use std::collections::HashMap;
use std::sync::Arc;
use store::Store;
use telemetry::{Clock, Event, Millis, Op};
use tokio::sync::Mutex;

/// The tokens, and the rules for what they allow.
#[derive(Debug)]
pub struct Access {
    pub(super) store: Arc<Store>,
    pub(super) clock: Clock,
    table: ArcSwap<TokenTable>,
    /// Held while the table is read again.
    reading: Mutex<()>,
    started: Millis,
    /// When the keys were made that were revoked within the last day, by owner. They count like keys that work.
    pub(super) revoked_keys: std::sync::Mutex<HashMap<String, Vec<Millis>>>,
}

impl Access {
    /// Reads the tokens.
    pub async fn open(store: Arc<Store>, clock: Clock, event: &mut Event) -> Result<Self, Error> {
        let table = TokenTable::read(&store, event).await?;
        let started = clock.now();
        Ok(Self {
            store,
            clock,
            table: ArcSwap::from_pointee(table),
            reading: Mutex::new(()),
            started,
            revoked_keys: Default::default(),
        })
    }

    /// The current tokens: those in memory while their stamp holds, else read from the store.
    pub async fn table(&self, event: &mut Event) -> Result<Arc<TokenTable>, Error> {
        let table = self.table.load_full();
        if self.is_current(&table) {
            return Ok(table);
        }
        let _turn = event.waited(Op::TurnWait, self.reading.lock()).await;
        let table = self.table.load_full();
        if self.is_current(&table) {
            return Ok(table);
        }
        let table = Arc::new(TokenTable::read(&self.store, event).await?);
        self.table.store(table.clone());
        Ok(table)
    }

    fn is_current(&self, table: &TokenTable) -> bool {
        self.store.revisions().holds_at(&table.stamp, || self.clock.now())
    }

    /// The class of the pages that these credentials may read, and its expiry. `None`: the token is unknown, or not believed, or the table must
    /// be read again first; then only public pages are served. Takes no lock, as the front calls it for every request.
    pub fn class(&self, headers: &HeaderMap) -> Option<(u64, Millis)> {
        let credentials = Credentials::read(headers)?;
        let table = self.table.load();
        if !self.is_current(&table) || self.store.believes_tokens().is_err() {
            return None;
        }
        let token = table.find(&credentials, self.clock.now())?;
        Some((token.class, token.record.expires.unwrap_or(Millis(i64::MAX))))
    }

    /// The same class, for limits of concurrent requests. Reads the table again where it must. Says nothing about permissions.
    pub async fn holder(&self, headers: &HeaderMap, event: &mut Event) -> Result<Option<u64>, Error> {
        let Some(credentials) = Credentials::read(headers) else { return Ok(None) };
        let (table, now) = (self.table(event).await?, self.clock.now());
        let token = event.time(Op::TokenCheck, || table.find(&credentials, now));
        Ok(token.map(|token| token.class))
    }

    /// Uses up the one-time password of a request, if `token` demands one.
    pub(super) async fn check_password(
        &self,
        token: &Token,
        request: &Request,
        event: &mut Event,
    ) -> Result<(), Error> {
        self.check_code(token, request.headers.get("otp").map(|value| value.as_bytes()), request, event).await
    }

    /// Uses up this one-time password, if `token` demands one.
    pub(super) async fn check_code(
        &self,
        token: &Token,
        code: Option<&[u8]>,
        request: &Request,
        event: &mut Event,
    ) -> Result<(), Error> {
        let Some(key) = &token.record.otp else { return Ok(()) };
        let refused = |why| Error::Password { token: token.record.name.clone(), why };
        let code = code.ok_or_else(|| refused(OtpError::Missing))?;
        let shown = Shown {
            key: key.clone(),
            code: code.to_vec(),
            client: front::client(request.client),
            now: self.clock.now(),
            untold: (token.record.created < self.started).then_some(self.started),
        };
        let taken = self.store.change_note(otp::note(key), move |note| shown.take(note), event).await?;
        taken.map_err(refused)
    }

    /// Whether the secret is that of a token with every right.
    pub async fn is_admin(&self, secret: &client::Secret, event: &mut Event) -> Result<bool, Error> {
        let found = self.table(event).await?.find(&Credentials::of_secret(secret), self.clock.now());
        Ok(found.is_some_and(|token| token.allows(Scope::Admin, None)))
    }

    /// Whether a token with every right works now.
    pub async fn has_admin(&self, event: &mut Event) -> Result<bool, Error> {
        let now = self.clock.now();
        let tokens = self.table(event).await?.tokens();
        Ok(tokens.iter().any(|token| token.lives(now) && token.allows(Scope::Admin, None)))
    }

    /// The caller that the header `Authorization` shows. Fails for a token that is unknown, or not believed now.
    pub(super) async fn bearer(&self, request: &Request, event: &mut Event) -> Result<Caller, Error> {
        self.believed(self.bearer_unchecked(request, event).await?)
    }

    /// The caller, unless the token is not believed now.
    pub(super) fn believed(&self, caller: Caller) -> Result<Caller, Error> {
        if caller.token.is_some() {
            self.store.believes_tokens()?;
        }
        Ok(caller)
    }

    /// The caller that the header `Authorization` shows, whether the token is believed or not.
    pub(super) async fn bearer_unchecked(&self, request: &Request, event: &mut Event) -> Result<Caller, Error> {
        let (table, client) = (self.table(event).await?, request.recorded_client);
        let Some(credentials) = Credentials::read(&request.headers) else {
            return Ok(Caller { token: None, client, stamp: table.stamp });
        };
        let now = self.clock.now();
        let Some(token) = event.time(Op::TokenCheck, || table.find(&credentials, now)) else {
            // This is for operators. The response does not tell strangers that such a token was valid.
            if let Some(Token { record, .. }) = table.known(&credentials).next().map(|token| &**token)
                && let Some(expires) = record.expires
            {
                event.detail = Event::text(&format!("the token `{}` expired on {expires}", record.name));
            }
            return Err(match credentials.lack() {
                Some(Lack::Unset(variable)) => Error::VariableUnset(variable),
                Some(Lack::Empty) => Error::TokenEmpty,
                None => Error::CredentialsUnknown,
            });
        };
        event.token.clone_from(&token.record.name);
        Ok(Caller { token: Some(token), client, stamp: table.stamp })
    }
}
