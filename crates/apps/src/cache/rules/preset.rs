//! Rules for the responses of a known kind of application, where it says nothing itself.

use super::policy::Policy;
use crate::options::Preset;
use http::{HeaderMap, StatusCode, header};

/// The lifetime of a file whose name has its digest, in seconds: a year.
const YEAR: i64 = 31_536_000;

/// The folders of files with digests: of Sprockets and Propshaft, of Webpacker and Shakapacker, of Vite.
const WITH_DIGEST: [&str; 3] = ["/assets/", "/packs/", "/vite/"];
/// The folders of files with a time in the query, as Rails 2 wrote them.
const WITH_TIME: [&str; 3] = ["/stylesheets/", "/javascripts/", "/images/"];

/// Adds the lifetime of a preset to a policy that names none. The stored response is fresh so long; clients get the headers of the
/// application.
pub(crate) fn apply(
    preset: Option<Preset>,
    target: &str,
    status: StatusCode,
    headers: &HeaderMap,
    policy: &mut Policy,
) {
    let silent = policy.lifetime.is_none() && !policy.directives.no_cache && !headers.contains_key(header::SET_COOKIE);
    if preset == Some(Preset::RailsAssets) && silent && status == StatusCode::OK && is_fixed(target) {
        policy.lifetime = Some(YEAR);
    }
}

/// Whether a path and query name the same content permanently.
fn is_fixed(target: &str) -> bool {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    // A path with such parts may name another file than it seems to.
    if path.contains("..") || path.contains(['%', ';', '\\']) || path.contains("//") {
        return false;
    }
    let below = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    let name = path.rsplit('/').next().unwrap_or_default();
    if below(&WITH_DIGEST) {
        return query.is_empty() && has_digest(name);
    }
    below(&WITH_TIME) && query.len() == 10 && query.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a name ends with `-DIGEST.EXT`, perhaps with several extensions: 8 to 64 hexadecimal digits, or the eight letters of Vite.
fn has_digest(name: &str) -> bool {
    let Some((stem, extensions)) = name.split_once('.') else { return false };
    if stem.is_empty()
        || extensions.split('.').any(|part| part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    {
        return false;
    }
    let hexadecimal =
        |digest: &str| (8..=64).contains(&digest.len()) && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let of_vite = |digest: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        // A word of eight letters in lower case is a name.
        digest.len() == 8
            && digest.bytes().all(is_letter)
            && digest.bytes().any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    // The letters of Vite's digests may include `-`.
    let last = |len: usize| {
        stem.len().checked_sub(len + 1).filter(|at| stem.as_bytes()[*at] == b'-').map(|at| &stem[at + 1..])
    };
    stem.rsplit_once('-').is_some_and(|(_, digest)| hexadecimal(digest)) || last(8).is_some_and(of_vite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;

    fn lifetime(target: &str, status: u16, lines: &[(&'static str, &str)]) -> Option<i64> {
        let headers: HeaderMap =
            lines.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
        let mut policy = Policy::of(&headers, 0);
        apply(Some(Preset::RailsAssets), target, StatusCode::from_u16(status).unwrap(), &headers, &mut policy);
        policy.lifetime
    }

    #[test]
    fn files_with_a_digest_or_a_time_are_fresh_for_a_year() {
        for target in [
            "/assets/application-0123456789abcdef0123456789abcdef.js",
            "/assets/admin/application-0123abcd.css.map",
            "/packs/js/runtime-0123456789abcdef.js",
            "/vite/assets/main-BRBmoGS9.js",
            "/vite/assets/main-B-Bm_GS9.js",
            "/stylesheets/all.css?1290000000",
        ] {
            assert_eq!(lifetime(target, 200, &[]), Some(YEAR), "{target}");
        }
    }

    #[test]
    fn anything_else_keeps_what_the_application_said() {
        for target in [
            "/assets/application.js",
            "/assets/application-0123abc.js",
            "/assets/my-birthday.png",
            "/assets/application-0123abcd",
            "/assets/application-0123abcd.",
            "/assets/application-0123abcd.js?x=1",
            "/assets/../account/x-0123abcd.js",
            "/assets/%2e%2e/x-0123abcd.js",
            "/assets/x-0123abcd.js/..;/account",
            "/account/x-0123abcd.js",
            "/stylesheets/all.css?129000000",
            "/stylesheets/all.css",
            "/account?1290000000",
        ] {
            assert_eq!(lifetime(target, 200, &[]), None, "{target}");
        }
        let asset = "/assets/x-0123abcd.js";
        for (status, lines, expected) in [
            (404, &[][..], None),
            (200, &[("set-cookie", "a=b")][..], None),
            (200, &[("cache-control", "max-age=5")], Some(5)),
            (200, &[("cache-control", "no-cache")], None),
            (200, &[("expires", "0")], Some(0)),
        ] {
            assert_eq!(lifetime(asset, status, lines), expected, "{lines:?}");
        }
        let mut policy = Policy::default();
        apply(None, asset, StatusCode::OK, &HeaderMap::new(), &mut policy);
        assert_eq!(policy.lifetime, None);
    }
}
