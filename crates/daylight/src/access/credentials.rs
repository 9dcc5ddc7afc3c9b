//! What a client shows, in all the forms clients show it, never printed.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use client::Secret;
use http::HeaderMap;
use http::header::{self, HeaderName};
use sha2::{Digest as _, Sha256};
use std::fmt;
use store::Digest;

/// Longest `Authorization` header that is looked at, in bytes.
const MAX: usize = 1024;

/// What a client showed: hashes of the one or two texts that may be a token. The texts are not kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Presented {
    candidates: Vec<Digest>,
}

impl fmt::Debug for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Presented(***)")
    }
}

impl Presented {
    /// Reads `Authorization`: a bare key (`gem push`), `Bearer` or `Basic`, whose user or password may be the token:
    /// Bundler is often told `https://TOKEN@host/` or `https://TOKEN:x-oauth-basic@host/`. `None`: nothing was shown.
    pub fn read(headers: &HeaderMap) -> Option<Self> {
        let shown = headers.get(header::AUTHORIZATION)?.as_bytes();
        if shown.is_empty() || shown.len() > MAX {
            return Some(Self { candidates: Vec::new() });
        }
        let (scheme, rest) = match shown.iter().position(|byte| *byte == b' ') {
            Some(at) => (&shown[..at], shown[at + 1..].trim_ascii()),
            None => (&b""[..], shown),
        };
        let candidates = if scheme.eq_ignore_ascii_case(b"basic") {
            let pair = STANDARD.decode(rest).unwrap_or_default();
            if pair == b":" {
                return None; // what `gem` sends that has nobody to ask for a name and a password
            }
            let colon = pair.iter().position(|byte| *byte == b':').unwrap_or(pair.len());
            let (user, password) = (&pair[..colon], pair.get(colon + 1..).unwrap_or_default());
            [password, user].into_iter().filter(|text| !text.is_empty()).map(hash).collect()
        } else {
            vec![hash(rest)]
        };
        Some(Self { candidates })
    }

    /// As if `secret` had been shown.
    pub(super) fn secret(secret: &Secret) -> Self {
        Self { candidates: vec![hash(secret.expose().as_bytes())] }
    }

    /// The hashes to look for, the likeliest first.
    pub(super) fn candidates(&self) -> &[Digest] {
        &self.candidates
    }
}

/// Whether a browser sends this for a page of another site: with the credentials it remembers, and without its person
/// knowing. Browsers say so in `Sec-Fetch-Site`, older ones by an `Origin` that is not the host asked; others say neither.
pub(super) fn from_elsewhere(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text(HeaderName::from_static("sec-fetch-site")) {
        return !matches!(site, "same-origin" | "none");
    }
    let authority = |origin: &str| origin.split_once("://").map(|(_, authority)| authority.to_owned());
    text(header::ORIGIN).is_some_and(|origin| authority(origin).as_deref() != text(header::HOST))
}

/// Whether RubyGems sends this. Its `User-Agent` begins so since 1.3; no page can have a browser send that of another program with what it
/// remembers of a person, and browsers say themselves what a page makes them ask for.
pub(super) fn is_rubygems(headers: &HeaderMap) -> bool {
    let agent = headers.get(header::USER_AGENT).is_some_and(|agent| agent.as_bytes().starts_with(b"RubyGems/"));
    let adds = |name: &HeaderName| {
        *name == header::ORIGIN || *name == header::REFERER || name.as_str().starts_with("sec-fetch-")
    };
    agent && !headers.keys().any(adds)
}

/// What of a secret is kept.
pub(crate) fn hash(secret: &[u8]) -> Digest {
    Digest(Sha256::digest(secret).into())
}

/// A new secret: 256 random bits. Fails only where the machine has no randomness to give.
pub fn new_secret() -> Result<Secret, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(Secret::new(format!("daylight_{}", URL_SAFE_NO_PAD.encode(bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presented(value: &str) -> Vec<Digest> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        Presented::read(&headers).unwrap().candidates
    }

    #[test]
    fn every_form_that_clients_use_shows_the_token() {
        let token = hash(b"daylight_x");
        assert_eq!(presented("daylight_x"), [token]);
        assert_eq!(presented("Bearer daylight_x"), [token]);
        for pair in ["daylight_x:", "daylight_x:x-oauth-basic", "me:daylight_x"] {
            let shown = presented(&format!("Basic {}", STANDARD.encode(pair)));
            assert!(shown.contains(&token), "{pair}");
        }
        assert_eq!(presented("Basic !!!"), []);
        assert_eq!(presented(&"x".repeat(2000)), []);
    }

    #[test]
    fn nothing_shown_is_not_the_same_as_something_unknown() {
        assert!(Presented::read(&HeaderMap::new()).is_none());
        let nobody = HeaderMap::from_iter([(header::AUTHORIZATION, "Basic Og==".parse().unwrap())]);
        assert!(Presented::read(&nobody).is_none());
    }

    #[test]
    fn rubygems_is_known_from_what_a_page_has_a_browser_send() {
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
    fn pages_of_other_sites_are_told_by_either_header() {
        for (name, value, elsewhere) in [
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
            assert_eq!(from_elsewhere(&headers), elsewhere, "{name}: {value}");
        }
    }

    #[test]
    fn a_new_secret_cannot_be_printed_by_accident() {
        let secret = new_secret().unwrap();
        assert_eq!(secret.expose().len(), "daylight_".len() + 43);
        assert_eq!(format!("{secret:?}"), "Secret(***)");
    }
}
