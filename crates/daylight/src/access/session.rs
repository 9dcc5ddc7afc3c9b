//! Sessions of browsers. A session is a key of the token that was shown at the form to sign in: it ends with that token, is in the
//! journal, and has those scopes of the token that read.
//!
//! Its cookie is accepted for reading only, and its secret is no token: the table has the complement of its hash, so no header
//! `Authorization` with a stolen cookie finds it.

use super::caller::Caller;
use super::change::NewToken;
use super::credentials::{self, Credentials};
use super::error::Error;
use super::table::Token;
use super::tokens::Access;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use client::Secret;
use front::Request;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, Method, header};
use repository::{Author, ChangeSource, Scope};
use sha2::Sha256;
use std::sync::Arc;
use store::Digest;
use subtle::ConstantTimeEq;
use telemetry::{Event, Op};

/// How long a session lasts at most, in seconds.
pub(crate) const SESSION_S: u32 = 12 * 3600;
/// The cookie where browsers reach the server by HTTPS. They accept one of this name only with `Secure`, for this host and all paths, so
/// no other host of the domain can set it.
const SECURE: &str = "__Host-daylight";
/// The cookie elsewhere.
const PLAIN: &str = "daylight";
/// Length of a session's secret, in bytes: that of a token.
const SECRET_BYTES: usize = 52;
/// The scopes that read.
const READING: [Scope; 3] = [Scope::Read, Scope::Observe, Scope::Admin];
/// The most bytes of a token's name in the name of its sessions.
const NAME_MAX: usize = 96;

/// The name of the cookie of a server that browsers reach by HTTPS, or not.
pub(crate) fn cookie_name(https: bool) -> &'static str {
    if https { SECURE } else { PLAIN }
}

/// The cookie of a session as a browser sent it.
struct Cookie<'a> {
    name: &'static str,
    secret: &'a str,
}

impl Cookie<'_> {
    /// The hash under which the table has it. The complement: nobody knows a text with this hash, so it is no token's.
    fn hash(&self) -> Digest {
        let Digest(hash) = credentials::hash(format!("{}={}", self.name, self.secret).as_bytes());
        Digest(hash.map(|byte| !byte))
    }

    /// The secret in the forms of this session. Another site cannot read it.
    fn of_forms(&self) -> String {
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()) else { return String::new() };
        URL_SAFE_NO_PAD.encode(mac.chain_update(b"the forms of a session").finalize().into_bytes())
    }
}

/// The cookie of a session. The one with the safer name counts.
fn cookie(headers: &HeaderMap) -> Option<Cookie<'_>> {
    let find = |wanted: &'static str| {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let secret = pairs.find(|(name, secret)| *name == wanted && secret.len() == SECRET_BYTES)?.1;
        Some(Cookie { name: wanted, secret })
    };
    find(SECURE).or_else(|| find(PLAIN))
}

/// The credentials in the cookie of a request that reads. `None`: there are none, or a page of another site made a browser send it.
fn credentials(request: &Request) -> Option<Credentials> {
    let reads = matches!(request.method, Method::GET | Method::HEAD);
    let cookie = cookie(&request.headers).filter(|_| reads && !credentials::is_cross_site(&request.headers))?;
    Some(Credentials::of_hash(cookie.hash()))
}

/// The secret that the forms of this caller's session carry. `None`: there is no cookie.
pub(crate) fn secret_of_forms(request: &Request) -> Option<String> {
    cookie(&request.headers).map(|cookie| cookie.of_forms())
}

impl Access {
    /// The caller of a request: the bearer of a token, or of the cookie of a session where the request reads. Fails for a token that is
    /// unknown; a session that has ended is none.
    pub(super) async fn caller(&self, request: &Request, event: &mut Event) -> Result<Caller, Error> {
        self.believed(self.caller_unchecked(request, event).await?)
    }

    /// The same, whether the token is believed now or not.
    pub(super) async fn caller_unchecked(&self, request: &Request, event: &mut Event) -> Result<Caller, Error> {
        let cookie = match request.headers.contains_key(header::AUTHORIZATION) {
            true => None,
            false => credentials(request),
        };
        let Some(credentials) = cookie else { return self.bearer_unchecked(request, event).await };
        let (table, client) = (self.table(event).await?, request.recorded_client);
        let token = event.time(Op::TokenCheck, || table.find(&credentials, self.clock.now()));
        if let Some(token) = &token {
            event.token.clone_from(&token.record.name);
        }
        Ok(Caller { token, client, stamp: table.stamp })
    }

    /// Makes a session of the token with this secret, and returns the secret of its cookie. `code` is the one-time password that the
    /// token may demand, `https` whether browsers reach the server by HTTPS.
    pub(crate) async fn sign_in(
        &self,
        shown: &Secret,
        code: Option<&str>,
        https: bool,
        request: &Request,
        event: &mut Event,
    ) -> Result<Secret, Error> {
        let now = self.clock.now();
        let maker = self.table(event).await?.of_secret(shown, now).ok_or(Error::CredentialsUnknown)?;
        event.token.clone_from(&maker.record.name);
        let has = |scope: &Scope| maker.record.scopes.iter().any(|had| had == scope.as_str());
        let scopes: Vec<Scope> = READING.into_iter().filter(has).collect();
        if scopes.is_empty() {
            let name = &maker.record.name;
            let text = format!(
                "token `{name}` has none of the scopes `read`, `observe` and `admin`, so it shows nothing more"
            );
            return Err(Error::Input(text));
        }
        self.check_code(&maker, code.map(str::as_bytes), request, event).await?;
        let record = &maker.record;
        let mut end = record.name.len().min(NAME_MAX);
        while !record.name.is_char_boundary(end) {
            end -= 1;
        }
        let new = NewToken {
            name: format!("{}-web-{}", record.name[..end].trim_end(), event.id),
            owner: maker.owner().to_owned(),
            scopes,
            repositories: record.repository_ids.iter().copied().zip(record.repositories.iter().cloned()).collect(),
            unit: record.unit.clone(),
            expires: Some(now.plus(std::time::Duration::from_secs(SESSION_S.into()))),
            otp: false,
        };
        let name = cookie_name(https);
        let hashed = |secret: &Secret| Cookie { name, secret: secret.expose() }.hash();
        self.derive_hashed(&maker, new, &hashed, ChangeSource::Client(request.recorded_client), event).await
    }

    /// Ends the session of a request whose form has this secret. Nothing to do: there is no such session any more.
    pub(crate) async fn sign_out(&self, shown: &str, request: &Request, event: &mut Event) -> Result<(), Error> {
        let Some(cookie) = cookie(&request.headers) else { return Ok(()) };
        if !bool::from(cookie.of_forms().as_bytes().ct_eq(shown.as_bytes())) {
            return Err(Error::FormForged);
        }
        let table = self.table(event).await?;
        let Some(session) = table.find(&Credentials::of_hash(cookie.hash()), self.clock.now()) else { return Ok(()) };
        event.token.clone_from(&session.record.name);
        let by = Author::of_client(&session.record.name, request.recorded_client);
        match self.revoke(&session.record.name, by, event).await {
            Err(Error::NoSuchToken(_)) => Ok(()), // it was ended meanwhile
            done => done,
        }
    }

    /// Whether this token is a session, and so is signed out by a form.
    pub(crate) fn is_session(token: &Arc<Token>, request: &Request) -> bool {
        cookie(&request.headers).is_some_and(|cookie| cookie.hash() == token.record.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "daylight_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    fn request(method: Method, headers: &[(&'static str, &str)]) -> Request {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        Request::new(method, http::Uri::from_static("/"), headers.collect(), std::net::Ipv4Addr::LOCALHOST.into())
    }

    #[test]
    fn a_cookie_is_read_for_reading_only_and_never_for_another_site() {
        assert_eq!(SECRET.len(), SECRET_BYTES);
        let pair = format!("a=b; daylight={SECRET}; c=d");
        for (method, headers, reads) in [
            (Method::GET, vec![], true),
            (Method::HEAD, vec![], true),
            (Method::GET, vec![("sec-fetch-site", "same-origin")], true),
            (Method::GET, vec![("sec-fetch-site", "none")], true),
            (Method::GET, vec![("sec-fetch-site", "same-site")], false),
            (Method::GET, vec![("sec-fetch-site", "cross-site")], false),
            (Method::GET, vec![("origin", "null"), ("host", "here.test")], false),
            (Method::GET, vec![("origin", "http://evil.test"), ("host", "here.test")], false),
            (Method::POST, vec![("sec-fetch-site", "same-origin")], false),
            (Method::PUT, vec![], false),
            (Method::DELETE, vec![], false),
            (Method::PATCH, vec![], false),
        ] {
            let mut headers = headers;
            headers.push(("cookie", &pair));
            let found = credentials(&request(method.clone(), &headers));
            assert_eq!(found.is_some(), reads, "{method} {headers:?}");
        }
    }

    #[test]
    fn no_header_has_the_hash_of_a_session() {
        let cookie = Cookie { name: PLAIN, secret: SECRET };
        for text in [SECRET.to_owned(), format!("{PLAIN}={SECRET}"), format!("{SECURE}={SECRET}")] {
            assert_ne!(credentials::hash(text.as_bytes()), cookie.hash());
        }
        assert_ne!(Cookie { name: SECURE, secret: SECRET }.hash(), cookie.hash(), "a plain cookie is not a safe one");
    }

    #[test]
    fn of_many_cookies_the_safer_name_counts_and_odd_values_do_not() {
        let other = SECRET.replace('A', "B");
        let all = format!("daylight=short; daylight={SECRET}; __Host-daylight={other}; x");
        let request = request(Method::GET, &[("cookie", &all)]);
        let found = cookie(&request.headers).unwrap();
        assert_eq!((found.name, found.secret), (SECURE, &*other));
        let none = [format!("daylight={}", "A".repeat(10_000)), "daylight".into(), "=;=;;".into(), String::new()];
        for bomb in none {
            assert!(cookie(&HeaderMap::from_iter([(header::COOKIE, bomb.parse().unwrap())])).is_none(), "{bomb}");
        }
    }

    #[test]
    fn the_secret_of_forms_differs_by_session_and_is_not_the_cookie() {
        let other = SECRET.replace('A', "B");
        let of = |secret| Cookie { name: PLAIN, secret }.of_forms();
        assert_eq!(of(SECRET), of(SECRET));
        assert_ne!(of(SECRET), of(&other));
        assert!(of(SECRET).len() == 43 && !of(SECRET).contains(SECRET));
    }
}
