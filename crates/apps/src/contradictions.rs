//! Settings of an application that nobody can mean. Lanes, backends and folders check their own.

use crate::options::{AppOptions, BadApp};
use std::net::Ipv6Addr;
use std::time::Duration;

/// The longest name of an application, in bytes: it is in metrics, URLs and events.
const NAME_MAX_BYTES: usize = 64;
/// The longest host name (RFC 1035 2.3.4), and the longest part of one.
const HOST_MAX_BYTES: usize = 253;
const LABEL_MAX_BYTES: usize = 63;

impl AppOptions {
    /// Fails where its name, its hosts or its times cannot be used.
    pub(crate) fn check(&self) -> Result<(), BadApp> {
        let bad = |what: String, hint| Err(BadApp { app: self.name.clone(), what, hint });
        if !is_name(&self.name) {
            let what = "its name is not a short word of letters, digits and `-`".to_owned();
            return bad(
                what,
                "a name begins with a letter or a digit, and has lower case letters, digits and `-`, such as `shop`",
            );
        }
        for (at, host) in self.hosts.iter().enumerate() {
            if let Err(why) = check_host(host) {
                return bad(
                    format!("`{host}` is not a host name: {why}"),
                    "a host is `example.com`, or `*.example.com` for any name below",
                );
            }
            let same = |other: &String| without_dot(other).eq_ignore_ascii_case(without_dot(host));
            if self.hosts[..at].iter().any(same) {
                return bad(format!("it has the host `{host}` twice"), "name each host once");
            }
        }
        if self.answer_within == Duration::ZERO || self.body_idle == Duration::ZERO {
            return bad("its backends have no time to answer".to_owned(), "give them some seconds; a minute is usual");
        }
        Ok(())
    }
}

fn is_name(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() <= NAME_MAX_BYTES && name.bytes().all(is_good) && !name.is_empty() && !name.starts_with('-')
}

fn without_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

fn check_host(host: &str) -> Result<(), &'static str> {
    if let Some(address) = host.strip_prefix('[') {
        let address = address.strip_suffix(']').map(str::parse::<Ipv6Addr>);
        return if matches!(address, Some(Ok(_))) {
            Ok(())
        } else {
            Err("between brackets is an IPv6 address, without a port")
        };
    }
    let name = without_dot(host.strip_prefix("*.").unwrap_or(host));
    match name {
        "*" => return Err("an application without `hosts` gets all hosts that no other one has"),
        _ if name.contains("://") || name.contains('/') => return Err("it is a URL"),
        _ if name.contains(':') => return Err("it has a port, and requests are told apart without it"),
        _ if name.contains('*') => return Err("a `*` stands only for names below a host"),
        _ if !name.is_ascii() => return Err("it is not in its ASCII form, which begins with `xn--`"),
        _ if name.len() > HOST_MAX_BYTES => return Err("it is longer than 253 bytes"),
        _ => {}
    }
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_label = |label: &str| (1..=LABEL_MAX_BYTES).contains(&label.len()) && label.bytes().all(is_good);
    if name.split('.').all(is_label) {
        Ok(())
    } else {
        Err("it has an empty part, a long one, or a character that hosts do not have")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &AppOptions) -> String {
        let error = options.check().unwrap_err();
        assert!(!error.hint.is_empty());
        error.to_string()
    }

    #[test]
    fn the_name_is_a_short_word() {
        for name in ["shop", "a", "0", "shop-2"] {
            AppOptions::of(name).check().unwrap();
        }
        for name in ["", "-a", "Shop", "a b", "a/b", "a_b", "ü", &"a".repeat(65)] {
            assert!(refused(&AppOptions::of(name)).contains("its name"), "{name}");
        }
    }

    #[test]
    fn a_host_is_a_name_or_all_names_below_one() {
        let with = |hosts: &[&str]| AppOptions {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..AppOptions::of("shop")
        };
        for host in [
            "example.com",
            "Example.COM.",
            "*.example.com",
            "localhost",
            "127.0.0.1",
            "[::1]",
            "my_app.test",
            "xn--bcher-kva.example",
        ] {
            with(&[host]).check().unwrap();
        }
        let long = "a.".repeat(127);
        for host in [
            "",
            ".",
            "*",
            "*.",
            "*.*.com",
            "a.*.com",
            "*example.com",
            "example.com:80",
            "[::1]:80",
            "[example]",
            "http://example.com",
            "a/b",
            "a..b",
            "a b",
            "bücher.example",
            "a,b",
            "a\n",
            &"a".repeat(64),
            &format!("{long}com"),
        ] {
            assert!(refused(&with(&[host])).contains("is not a host name"), "{host:?}");
        }
        assert!(refused(&with(&["a.com", "b.com", "A.com."])).contains("`A.com.` twice"));
    }

    #[test]
    fn backends_need_time_to_answer() {
        let mut options = AppOptions::of("shop");
        options.answer_within = Duration::ZERO;
        assert!(refused(&options).contains("no time"));
    }
}
