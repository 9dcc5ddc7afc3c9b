//! Checks that the sender of a hook knows the secret of its repository. Secrets and signatures are compared in constant
//! time.

use crate::hooks::body::HookBody;
use client::Secret;
use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use http::header::{self, HeaderName};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

/// Maximum length of a header that is read, in bytes.
const MAX: usize = 1_024;
/// The HMAC of the body, as GitHub and others send it.
const HUB: HeaderName = HeaderName::from_static("x-hub-signature-256");
/// The secret itself, as GitLab sends it.
const GITLAB: HeaderName = HeaderName::from_static("x-gitlab-token");

/// Whether one of the forms proves it. `hook` is the parsed body, if it is valid.
pub fn is_right(secret: &Secret, headers: &HeaderMap, body: &[u8], hook: Option<&HookBody>) -> bool {
    let secret = secret.expose().as_bytes();
    let text = |name: &HeaderName| headers.get(name).map(|value| value.as_bytes()).filter(|text| text.len() <= MAX);
    let mut right = Choice::from(0);
    if let Some(shown) = text(&HUB).and_then(|text| text.strip_prefix(b"sha256=")) {
        right |= same(&lower(shown), hmac(secret, body).as_bytes());
    }
    if let Some(shown) = text(&GITLAB) {
        right |= same(shown, secret);
    }
    if let Some(shown) = text(&header::AUTHORIZATION) {
        let bearer = shown.split_at_checked(7).filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "));
        if let Some((_, token)) = bearer {
            right |= same(token.trim_ascii(), secret);
        }
        // RubyGems signs with the key, or with the hash of the key if it has only that.
        let named = hook.and_then(|hook| hook.name.as_deref().zip(hook.version.as_deref()));
        if let Some((name, version)) = named {
            let hashed = hex(&Sha256::digest(secret));
            for key in [secret, hashed.as_bytes()] {
                let signed = Sha256::new_with_prefix(name).chain_update(version).chain_update(key).finalize();
                right |= same(&lower(shown), hex(&signed).as_bytes());
            }
        }
    }
    if let Some(token) = hook.and_then(|hook| hook.rubygems_token.as_deref()) {
        right |= same(token.as_bytes(), secret);
    }
    right.into()
}

/// Compares hashes, so that the duration does not reveal lengths.
fn same(shown: &[u8], right: &[u8]) -> Choice {
    Sha256::digest(shown).ct_eq(&Sha256::digest(right))
}

fn hmac(secret: &[u8], body: &[u8]) -> String {
    let Ok(mut hmac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    hmac.update(body);
    hex(&hmac.finalize().into_bytes())
}

fn lower(text: &[u8]) -> Vec<u8> {
    text.trim_ascii().to_ascii_lowercase()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"name": "lamp", "version": "1.0", "yanked": true}"#;

    fn right(secret: &str, shown: &[(&HeaderName, &str)], body: &[u8]) -> bool {
        let headers = shown.iter().map(|(name, value)| ((*name).clone(), value.parse().unwrap())).collect();
        is_right(&Secret::new(secret.to_owned()), &headers, body, HookBody::read(body).ok().as_ref())
    }

    #[test]
    fn rubygems_signs_the_name_and_the_number_with_the_key_or_its_hash() {
        // printf lamp1.0hush | sha256sum; printf "lamp1.0$(printf hush | sha256sum | cut -d' ' -f1)" | sha256sum
        let with_key = hex(&Sha256::digest("lamp1.0hush"));
        let with_hash = hex(&Sha256::digest(format!("lamp1.0{}", hex(&Sha256::digest("hush")))));
        for signed in [&with_key, &with_hash, &with_key.to_uppercase()] {
            assert!(right("hush", &[(&header::AUTHORIZATION, signed)], BODY), "{signed}");
            assert!(!right("hash", &[(&header::AUTHORIZATION, signed)], BODY), "{signed}");
            let other = br#"{"name": "lamp", "version": "1.1"}"#;
            assert!(!right("hush", &[(&header::AUTHORIZATION, signed)], other), "{signed}");
        }
        // The settings may contain the hash alone.
        assert!(right(&hex(&Sha256::digest("hush")), &[(&header::AUTHORIZATION, &with_hash)], BODY));
        assert!(!right("hush", &[(&header::AUTHORIZATION, &hex(&Sha256::digest("hush")))], b""));
    }

    #[test]
    fn others_sign_the_body_or_show_the_secret() {
        // The example of GitHub's documentation.
        let (secret, body) = ("It's a Secret to Everybody", b"Hello, World!");
        let signed = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert!(right(secret, &[(&HUB, signed)], body));
        assert!(!right(secret, &[(&HUB, signed)], b"Hello, World?"));
        assert!(!right(secret, &[(&HUB, &signed[7..])], body));
        for (name, value) in
            [(&header::AUTHORIZATION, "Bearer hush"), (&header::AUTHORIZATION, "bearer  hush"), (&GITLAB, "hush")]
        {
            assert!(right("hush", &[(name, value)], b""), "{value}");
            assert!(!right("hus", &[(name, value)], b""), "{value}");
        }
        assert!(!right("hush", &[(&header::AUTHORIZATION, "hush")], BODY), "a bare key is for tokens");
        assert!(right("hush", &[], br#"{"name": "lamp", "rubygems_token": "hush"}"#));
        assert!(!right("hush", &[], br#"{"name": "lamp", "rubygems_token": "hus"}"#));
        assert!(!right("hush", &[], BODY));
    }
}
