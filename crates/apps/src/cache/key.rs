//! The key of a stored response: the whole URL as the application sees it. It is compared in full, so no collision gives one URL the
//! response of another.

use http::{HeaderMap, header};
use quick_cache::Equivalent;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// The longest path and query that has a key, in bytes.
const LONGEST: usize = 8 << 10;

/// The URL of a stored response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    tls: bool,
    host: Box<str>,
    /// The `Host` that the application got, where a trusted proxy names another host for the client.
    inner: Option<Box<str>>,
    target: Box<str>,
}

/// A borrowed [`Key`], with the same hash.
#[derive(Debug, Clone)]
pub(crate) struct KeyRef<'a> {
    tls: bool,
    host: Cow<'a, str>,
    inner: Option<Cow<'a, str>>,
    target: &'a str,
}

impl<'a> KeyRef<'a> {
    /// The key of a URL. `None`: the host is none that an application could trust, or the path is too long.
    pub(crate) fn new(tls: bool, host: &'a str, target: &'a str) -> Option<Self> {
        let is_path = target.starts_with('/') && target.len() <= LONGEST;
        Some(Self { tls, host: bare(host, tls).filter(|_| is_path)?, inner: None, target })
    }

    /// The key of a request with the headers that the application gets.
    pub(crate) fn of(headers: &'a HeaderMap, target: &'a str) -> Option<Self> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let tls = text("x-forwarded-proto") == Some("https");
        let inner = text(header::HOST.as_str())?;
        let host = text("x-forwarded-host").unwrap_or(inner);
        let inner = if inner == host { None } else { Some(bare(inner, tls)?) };
        Some(Self { inner, ..Self::new(tls, host, target)? })
    }

    /// An owned copy.
    pub(crate) fn key(&self) -> Key {
        let inner = self.inner.as_deref().map(Box::from);
        Key { tls: self.tls, host: self.host.as_ref().into(), inner, target: self.target.into() }
    }

    /// The host that the client named, in lower case.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// The path and query.
    pub(crate) fn target(&self) -> &'a str {
        self.target
    }
}

impl Key {
    /// The same key, borrowed.
    pub(crate) fn borrowed(&self) -> KeyRef<'_> {
        let inner = self.inner.as_deref().map(Cow::Borrowed);
        KeyRef { tls: self.tls, host: Cow::Borrowed(&self.host), inner, target: &self.target }
    }

    /// Bytes that it takes.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Self>() + self.host.len() + self.inner.as_deref().map_or(0, str::len) + self.target.len()
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.borrowed().hash(state);
    }
}

impl Hash for KeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.tls, &*self.host, self.inner.as_deref(), self.target).hash(state);
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.target == &*key.target
            && self.tls == key.tls
            && *self.host == *key.host
            && self.inner.as_deref() == key.inner.as_deref()
    }
}

/// A host in lower case, without the default port of its scheme. `None`: it has characters that no host has.
fn bare(host: &str, tls: bool) -> Option<Cow<'_, str>> {
    let host = host.strip_suffix(if tls { ":443" } else { ":80" }).unwrap_or(host);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_plain) {
        return None;
    }
    let is_lower = !host.bytes().any(|byte| byte.is_ascii_uppercase());
    Some(if is_lower { Cow::Borrowed(host) } else { Cow::Owned(host.to_ascii_lowercase()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;
    use std::hash::{BuildHasher, RandomState};

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_key_has_the_whole_url_with_the_host_in_one_form() {
        let key = |tls, host: &str, target: &str| KeyRef::new(tls, host, target).map(|key| key.key());
        let one = key(false, "shop", "/a?b").unwrap();
        assert_eq!(key(false, "SHOP:80", "/a?b").unwrap(), one);
        for other in [
            (true, "shop", "/a?b"),
            (false, "shop:443", "/a?b"),
            (false, "shop.", "/a?b"),
            (false, "shop", "/a?b="),
            (false, "shop", "/A?b"),
            (false, "shop", "/%61?b"),
        ] {
            assert_ne!(key(other.0, other.1, other.2).unwrap(), one, "{other:?}");
        }
        for (host, target) in [("", "/"), ("a@b", "/"), ("a/b", "/"), ("a b", "/"), ("a", "*"), ("a", "")] {
            assert_eq!(key(false, host, target), None, "{host} {target}");
        }
    }

    #[test]
    fn the_forwarding_headers_are_in_the_key_and_borrowed_keys_are_found() {
        let plain = headers(&[("host", "shop")]);
        let same = headers(&[("host", "shop"), ("x-forwarded-host", "shop"), ("x-forwarded-proto", "http")]);
        let behind = headers(&[("host", "inner"), ("x-forwarded-host", "shop"), ("x-forwarded-proto", "http")]);
        let tls = headers(&[("host", "shop"), ("x-forwarded-proto", "https")]);
        let keys = [&plain, &same, &behind, &tls].map(|headers| KeyRef::of(headers, "/a").unwrap());
        assert_eq!(keys[0].key(), keys[1].key());
        let hasher = RandomState::new();
        for (n, one) in keys.iter().enumerate() {
            assert_eq!(hasher.hash_one(one), hasher.hash_one(one.key()));
            assert!(one.equivalent(&one.key()));
            assert!(keys[n + 1..].iter().skip(usize::from(n == 0)).all(|other| !one.equivalent(&other.key())));
        }
        assert!(KeyRef::of(&HeaderMap::new(), "/a").is_none());
    }
}
