//! The keys of pages: a digest of host and target, and of the headers of a request that a page depends on.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The host of a key: a `Host` header (RFC 9110, 7.2) in lower case, without the ports 80 and 443 and without an empty port.
pub fn host(header: &str) -> String {
    let name = [":80", ":443", ":"].into_iter().find_map(|port| header.strip_suffix(port)).unwrap_or(header);
    name.to_ascii_lowercase()
}

/// The key of a URL: `hc1:` and 32 hex digits. `host`: as [`host`] returns it; `target`: path and query as sent.
pub fn key(host: &str, target: &str) -> String {
    variant_key(host, target, &[])
}

/// The key of a variant: each name of [`Entry::Vary`](super::Entry::Vary) with the value of the request, trimmed; several values of a
/// header are joined with `, `; a header that it lacks has an empty one.
pub fn variant_key(host: &str, target: &str, values: &[(&str, Vec<u8>)]) -> String {
    let mut digest = Sha256::new();
    for line in [host, target] {
        digest.update(line);
        digest.update("\n");
    }
    for (name, value) in values {
        digest.update(name);
        digest.update(":");
        digest.update(value.trim_ascii());
        digest.update("\n");
    }
    let mut key = String::with_capacity(36);
    key.push_str("hc1:");
    for byte in &digest.finalize()[..16] {
        let _ = write!(key, "{byte:02x}");
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf 'shop.example\n/lamps?page=2\n' | sha256sum`, and so on.
    #[test]
    fn a_key_is_a_digest_of_lines() {
        assert_eq!(key("shop.example", "/lamps?page=2"), "hc1:b50994aab2599978e05a1ce0a411b503");
        let german = ("accept-language", b" de ".to_vec());
        assert_eq!(variant_key("shop.example", "/lamps?page=2", &[german]), "hc1:a9000edad6ec3c1c129a602dd578420c");
        assert_eq!(
            variant_key("shop.example", "/lamps?page=2", &[("accept-language", Vec::new())]),
            "hc1:0fa4c666d4292e5be503f8328848e15f",
            "a request without the header"
        );
    }

    #[test]
    fn a_host_has_no_default_port() {
        for (header, wanted) in [
            ("Shop.Example", "shop.example"),
            ("shop.example:80", "shop.example"),
            ("shop.example:443", "shop.example"),
            ("shop.example:", "shop.example"),
            ("shop.example:8080", "shop.example:8080"),
            ("shop.example:8443", "shop.example:8443"),
            ("[::1]:443", "[::1]"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(host(header), wanted, "{header}");
        }
    }
}
