//! Reads the credentials of a request in all forms that clients use. They are never printed.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use client::Secret;
use http::HeaderMap;
use http::header::{self, HeaderName};
use sha2::{Digest as _, Sha256};
use std::fmt;
use store::Digest;

/// Longest `Authorization` header that is read, in bytes.
const MAX: usize = 1024;

/// The credentials of a request: hashes of the one or two texts that may be a token. The texts are not stored.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    candidates: Vec<Digest>,
    lack: Option<Lack>,
}

/// Why credentials cannot be a token, as their form shows.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Lack {
    /// This environment variable should have been the password.
    Unset(String),
    /// There is no text where the token stands.
    Empty,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(***)")
    }
}

impl Credentials {
    /// Reads `Authorization`: a bare key (`gem push`), `Bearer` or `Basic`, whose user or password may be the token:
    /// Bundler is often told `https://TOKEN@host/` or `https://TOKEN:x-oauth-basic@host/`. `None`: there are none.
    pub fn read(headers: &HeaderMap) -> Option<Self> {
        let header = headers.get(header::AUTHORIZATION)?.as_bytes();
        if header.is_empty() || header.eq_ignore_ascii_case(b"bearer") {
            return Some(Self { lack: Some(Lack::Empty), ..Self::default() });
        }
        if header.len() > MAX {
            return Some(Self::default());
        }
        let (scheme, rest) = match header.iter().position(|byte| *byte == b' ') {
            Some(at) => (&header[..at], header[at + 1..].trim_ascii()),
            None => (&b""[..], header),
        };
        let mut lack = None;
        let candidates = if scheme.eq_ignore_ascii_case(b"basic") {
            let pair = STANDARD.decode(rest).unwrap_or_default();
            if pair == b":" {
                return None; // `gem` sends this where there is no terminal to ask for a name and a password
            }
            let colon = pair.iter().position(|byte| *byte == b':').unwrap_or(pair.len());
            let (user, password) = (&pair[..colon], pair.get(colon + 1..).unwrap_or_default());
            lack = if password.is_empty() { Some(Lack::Empty) } else { unset_variable(password).map(Lack::Unset) };
            [password, user].into_iter().filter(|text| !text.is_empty()).map(hash).collect()
        } else {
            vec![hash(rest)]
        };
        Some(Self { candidates, lack })
    }

    /// The credentials of a request with this secret.
    pub(super) fn of_secret(secret: &Secret) -> Self {
        Self { candidates: vec![hash(secret.expose().as_bytes())], lack: None }
    }

    /// The credentials whose hash is this.
    pub(super) fn of_hash(hash: Digest) -> Self {
        Self { candidates: vec![hash], lack: None }
    }

    /// The hashes, the most likely first.
    pub(super) fn candidates(&self) -> &[Digest] {
        &self.candidates
    }

    /// Why no text in them is a token, where their form shows it. The user name may be one all the same.
    pub(super) fn lack(self) -> Option<Lack> {
        self.lack
    }
}

/// The variable of a password `${env.NAME}`: Maven sends this text where the variable is not set. Only such a name is ever stored.
fn unset_variable(password: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(password).ok()?.strip_prefix("${env.")?.strip_suffix('}')?;
    let is_name = name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && !name.is_empty()).then(|| name.to_owned())
}

/// Whether a page of another site made a browser send the request, with stored credentials and without its user knowing. Browsers
/// send `Sec-Fetch-Site`, older ones an `Origin` that differs from the host; other clients send neither.
pub(super) fn is_cross_site(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text(HeaderName::from_static("sec-fetch-site")) {
        return !matches!(site, "same-origin" | "none");
    }
    let authority = |origin: &str| origin.split_once("://").map(|(_, authority)| authority.to_owned());
    text(header::ORIGIN).is_some_and(|origin| authority(origin).as_deref() != text(header::HOST))
}

/// Whether a browser says that a page of this server sent the request: every browser does with a form that is posted. `here` is the
/// origin by which browsers reach the server. A proxy in front may change the `Host`.
pub(super) fn is_from_here(headers: &HeaderMap, here: &str) -> bool {
    let origin = headers.get(header::ORIGIN).map(|value| value.to_str().unwrap_or("?"));
    match headers.get("sec-fetch-site") {
        Some(site) => site == "same-origin",
        None => origin.is_some_and(|origin| origin.eq_ignore_ascii_case(here)),
    }
}

/// Whether RubyGems sends the request. Its `User-Agent` begins like this since 1.3. A page cannot make a browser send another `User-Agent`
/// with stored credentials, and browsers add headers to the requests of pages.
pub(super) fn is_rubygems(headers: &HeaderMap) -> bool {
    let agent = headers.get(header::USER_AGENT).is_some_and(|agent| agent.as_bytes().starts_with(b"RubyGems/"));
    let adds = |name: &HeaderName| {
        *name == header::ORIGIN || *name == header::REFERER || name.as_str().starts_with("sec-fetch-")
    };
    agent && !headers.keys().any(adds)
}

/// The hash under which a secret is stored.
pub(crate) fn hash(secret: &[u8]) -> Digest {
    Digest(Sha256::digest(secret).into())
}

/// A new secret: 256 random bits. Fails only where the machine has no randomness.
pub fn new_secret() -> Result<Secret, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(Secret::new(format!("daylight_{}", URL_SAFE_NO_PAD.encode(bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(value: &str) -> Vec<Digest> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        Credentials::read(&headers).unwrap().candidates
    }

    #[test]
    fn the_token_is_read_in_every_form_that_clients_use() {
        let token = hash(b"daylight_x");
        assert_eq!(candidates("daylight_x"), [token]);
        assert_eq!(candidates("Bearer daylight_x"), [token]);
        for pair in ["daylight_x:", "daylight_x:x-oauth-basic", "me:daylight_x"] {
            let found = candidates(&format!("Basic {}", STANDARD.encode(pair)));
            assert!(found.contains(&token), "{pair}");
        }
        assert_eq!(candidates("Basic !!!"), []);
        assert_eq!(candidates(&"x".repeat(2000)), []);
    }

    #[test]
    fn a_password_that_names_a_variable_or_is_empty_is_told_from_others() {
        let of = |value: String| {
            Credentials::read(&HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())])).unwrap().lack()
        };
        let basic = |pair: &str| of(format!("Basic {}", STANDARD.encode(pair)));
        assert!(basic("x:${env.DAYLIGHT_TOKEN}") == Some(Lack::Unset("DAYLIGHT_TOKEN".to_owned())));
        for other in ["x:daylight_x", "x:${env.}", "x:${env.A B}", "x:${env.A", "${env.A}:x"] {
            assert!(basic(other).is_none(), "{other}");
        }
        for empty in [basic("ci:"), of(String::new()), of("Bearer".to_owned())] {
            assert!(empty == Some(Lack::Empty));
        }
    }

    #[test]
    fn no_credentials_differ_from_unknown_ones() {
        assert!(Credentials::read(&HeaderMap::new()).is_none());
        let nobody = HeaderMap::from_iter([(header::AUTHORIZATION, "Basic Og==".parse().unwrap())]);
        assert!(Credentials::read(&nobody).is_none());
    }

    #[test]
    fn requests_of_rubygems_are_told_from_those_of_pages() {
        let is = |all: &[(&'static str, &'static str)]| {
            let pair =
                |(name, value): &(&'static str, &'static str)| (HeaderName::from_static(name), value.parse().unwrap());
            is_rubygems(&all.iter().map(pair).collect())
        };
        let agent = ("user-agent", "RubyGems/3.1.6 x86_64-linux Ruby/2.7.8 (2023-03-30 patchlevel 225)");
        assert!(is(&[agent]) && is(&[agent, ("accept", "*/*")]));
        assert!(!is(&[]) && !is(&[("user-agent", "Mozilla/5.0 RubyGems/3.1.6")]));
        for added in
            [("origin", "null"), ("referer", "http://a/"), ("sec-fetch-dest", "image"), ("sec-fetch-site", "none")]
        {
            assert!(!is(&[agent, added]), "{added:?}");
        }
    }

    #[test]
    fn requests_of_other_sites_are_recognized_by_either_header() {
        for (name, value, cross_site) in [
            ("sec-fetch-site", "cross-site", true),
            ("sec-fetch-site", "same-site", true),
            ("sec-fetch-site", "same-origin", false),
            ("sec-fetch-site", "none", false),
            ("origin", "http://evil.test", true),
            ("origin", "null", true),
            ("origin", "http://here.test:8080", false),
            ("accept", "*/*", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "here.test:8080".parse().unwrap());
            headers.insert(name, value.parse().unwrap());
            assert_eq!(is_cross_site(&headers), cross_site, "{name}: {value}");
        }
    }

    #[test]
    fn a_form_is_from_here_only_if_a_browser_says_so() {
        for (pairs, from_here) in [
            (&[("sec-fetch-site", "same-origin")][..], true),
            (&[("sec-fetch-site", "same-origin"), ("origin", "http://here.test:8080")], true),
            (&[("origin", "http://here.test:8080")], true),
            (&[("origin", "http://HERE.test:8080")], true),
            (&[], false),
            (&[("sec-fetch-site", "none")], false),
            (&[("sec-fetch-site", "same-site"), ("origin", "http://here.test:8080")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("origin", "null")], false),
            (&[("origin", "http://here.test")], false),
            (&[("origin", "https://here.test:8080")], false),
            (&[("origin", "http://here.test:8080.evil.test")], false),
        ] {
            let headers = pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
            assert_eq!(is_from_here(&headers.collect(), "http://here.test:8080"), from_here, "{pairs:?}");
        }
    }

    #[test]
    fn a_new_secret_cannot_be_printed_by_accident() {
        let secret = new_secret().unwrap();
        assert_eq!(secret.expose().len(), "daylight_".len() + 43);
        assert_eq!(format!("{secret:?}"), "Secret(***)");
    }
}
