//! Only listed proxies are trusted, and a client cannot forge its address.

use super::*;
use http::HeaderName;
use proptest::prelude::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn proxies(client_from: ClientFrom) -> Proxies {
    Proxies { trusted: vec!["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()], client_from }
}

fn asks(client_from: ClientFrom, peer: &str, name: &'static str, lines: &[&str]) -> Option<IpAddr> {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(HeaderName::from_static(name), line.parse().unwrap());
    }
    proxies(client_from).client(ip(peer), &headers)
}

fn url(client_from: ClientFrom, peer: &str, lines: &[(&'static str, &str)]) -> Option<ForwardedUrl> {
    let mut headers = HeaderMap::new();
    for (name, line) in lines {
        headers.append(HeaderName::from_static(name), line.parse().unwrap());
    }
    proxies(client_from).forwarded_url(ip(peer), &headers)
}

#[test]
fn the_url_is_what_the_first_trusted_proxy_says_and_no_client() {
    let named = |scheme: &str, host: &str| {
        Some(ForwardedUrl { scheme: Some(scheme.into()), host: Some(host.into()), ..ForwardedUrl::default() })
    };
    let (x, f) = (ClientFrom::XForwardedFor, ClientFrom::Forwarded);
    let lines = |by, proto, host| [("x-forwarded-for", by), ("x-forwarded-proto", proto), ("x-forwarded-host", host)];
    assert_eq!(url(x, "10.0.0.1", &lines("192.0.2.1", "https", "a")), named("https", "a"));
    // One proxy that adds its own value behind what the client sent.
    assert_eq!(url(x, "10.0.0.1", &lines("1.1.1.1, 192.0.2.1", "http, https", "evil, a")), named("https", "a"));
    // Two proxies, both of which add theirs; the client lied again.
    let two = lines("1.1.1.1, 192.0.2.1, 10.0.0.9", "gopher, https, http", "evil, a, inner");
    assert_eq!(url(x, "10.0.0.1", &two), named("https", "a"));
    // Two proxies, of which the second replaces the values.
    assert_eq!(url(x, "10.0.0.1", &lines("192.0.2.1, 10.0.0.9", "https", "a")), named("https", "a"));
    // A client with the address of a proxy is the client.
    assert_eq!(url(x, "10.0.0.1", &lines("10.0.0.5", "http, https", "evil, a")), named("https", "a"));

    let element = |host: &str| format!("for=192.0.2.1;proto=https;host=\"{host}\"");
    assert_eq!(url(f, "10.0.0.1", &[("forwarded", &element("a:8443"))]), named("https", "a:8443"));
    let chain = format!("for=1.1.1.1;host=evil, {}, for=10.0.0.9;host=inner;proto=http", element("a"));
    assert_eq!(url(f, "10.0.0.1", &[("forwarded", &chain)]), named("https", "a"));
    assert_eq!(url(f, "10.0.0.1", &[("forwarded", "for=192.0.2.1")]), Some(ForwardedUrl::default()));
    assert_eq!(url(f, "10.0.0.1", &[("x-forwarded-host", "evil")]), Some(ForwardedUrl::default()));

    let more = [("x-forwarded-port", "8443"), ("x-forwarded-prefix", "/packages")];
    let port = ForwardedUrl { port: Some("8443".into()), prefix: Some("/packages".into()), ..ForwardedUrl::default() };
    assert_eq!(url(x, "10.0.0.1", &more), Some(port));
    // Headers of an untrusted peer do not count, and neither do those of a proxy with another `client_from`.
    assert_eq!(url(x, "192.0.2.1", &lines("192.0.2.7", "https", "evil")), None);
    for other in [ClientFrom::Connection, ClientFrom::ProxyProtocol] {
        assert_eq!(url(other, "10.0.0.1", &lines("192.0.2.7", "https", "evil")), None);
    }
}

#[test]
fn a_network_holds_what_begins_with_its_bits() {
    let network = |text: &str| text.parse::<Network>().unwrap();
    assert!(network("10.0.0.0/8").contains(ip("10.255.0.1")) && !network("10.0.0.0/8").contains(ip("11.0.0.1")));
    assert!(network("10.0.0.0/8").contains(ip("::ffff:10.0.0.1")));
    assert!(network("192.0.2.1").contains(ip("192.0.2.1")) && !network("192.0.2.1").contains(ip("192.0.2.2")));
    assert!(network("0.0.0.0/0").contains(ip("255.0.0.1")) && !network("0.0.0.0/0").contains(ip("::1")));
    assert!(network("2001:db8::/33").contains(ip("2001:db8::1")));
    assert!(!network("2001:db8::/33").contains(ip("2001:db8:8000::1")));
    for text in ["", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/", "10.0.0/8", "::/129", "host", " ::1"] {
        assert_eq!(text.parse::<Network>(), Err(crate::clients::network::NotANetwork), "{text:?}");
    }
}

#[test]
fn the_client_is_the_last_that_no_trusted_proxy_is() {
    use ClientFrom::{Forwarded, XForwardedFor};
    let x = |peer, lines: &[&str]| asks(XForwardedFor, peer, "x-forwarded-for", lines);
    assert_eq!(x("10.0.0.1", &["192.0.2.1"]), Some(ip("192.0.2.1")));
    assert_eq!(x("10.0.0.1", &["198.51.100.7, 192.0.2.1, 10.9.9.9"]), Some(ip("192.0.2.1")));
    assert_eq!(x("10.0.0.1", &["198.51.100.7", "192.0.2.1,10.9.9.9"]), Some(ip("192.0.2.1")));
    assert_eq!(x("10.0.0.1", &["192.0.2.1:4711"]), Some(ip("192.0.2.1")));
    assert_eq!(x("10.0.0.1", &["[2001:db9::1]:4711"]), Some(ip("2001:db9::1")));
    assert_eq!(x("10.0.0.1", &["10.0.0.2, 10.0.0.3"]), Some(ip("10.0.0.2")), "all of them trusted: the farthest");
    assert_eq!(x("10.0.0.1", &["192.0.2.1, unknown"]), None);
    assert_eq!(x("10.0.0.1", &["192.0.2.1, unknown, 10.0.0.2"]), Some(ip("10.0.0.2")));
    assert_eq!(x("10.0.0.1", &[]), None);

    let f = |lines: &[&str]| asks(Forwarded, "10.0.0.1", "forwarded", lines);
    assert_eq!(f(&["for=192.0.2.1;proto=https;by=10.0.0.1"]), Some(ip("192.0.2.1")));
    assert_eq!(f(&["proto=https; FOR=\"[2001:db9::1]:4711\""]), Some(ip("2001:db9::1")));
    assert_eq!(f(&["for=198.51.100.7, for=192.0.2.1, for=10.0.0.3"]), Some(ip("192.0.2.1")));
    for unreadable in ["for=_hidden", "for=unknown", "proto=https", "for=1.1.1.1;for=2.2.2.2", ""] {
        assert_eq!(f(&["for=192.0.2.1", unreadable]), None, "{unreadable}");
    }
}

#[test]
fn a_quote_that_a_client_opened_does_not_make_its_words_those_of_the_proxy() {
    let f = |line: &str| asks(ClientFrom::Forwarded, "10.0.0.1", "forwarded", &[line]);
    assert_eq!(f("for=\"198.51.100.7, for=192.0.2.1"), None);
    assert_eq!(f("for=\"x, for=198.51.100.7\", for=192.0.2.1"), Some(ip("192.0.2.1")));
    assert_eq!(f("for=\"x\\\", for=198.51.100.7\", for=192.0.2.1"), Some(ip("192.0.2.1")));
}

#[test]
fn only_the_chosen_header_is_read_and_only_from_those_who_are_listed() {
    let name = "x-forwarded-for";
    for client_from in [ClientFrom::Connection, ClientFrom::ProxyProtocol, ClientFrom::Forwarded] {
        assert_eq!(asks(client_from, "10.0.0.1", name, &["192.0.2.1"]), None);
    }
    assert_eq!(asks(ClientFrom::XForwardedFor, "10.0.0.1", "forwarded", &["for=192.0.2.1"]), None);
    assert_eq!(asks(ClientFrom::XForwardedFor, "192.0.2.9", name, &["192.0.2.1"]), None);
    assert!(!proxies(ClientFrom::XForwardedFor).announces(ip("10.0.0.1")));
    assert!(proxies(ClientFrom::ProxyProtocol).announces(ip("10.0.0.1")));
    assert!(!proxies(ClientFrom::ProxyProtocol).announces(ip("192.0.2.9")));
}

proptest! {
    #[test]
    fn whatever_a_client_sends_before_it_what_its_proxy_adds_is_believed(before in "[ -~]{0,60}", own: [u8; 4]) {
        // In a line of its own, as many proxies append it.
        let own = IpAddr::from(own);
        let real = if proxies(ClientFrom::XForwardedFor).trust(own) { ip("192.0.2.1") } else { own };
        for (client_from, name, added) in [
            (ClientFrom::XForwardedFor, "x-forwarded-for", real.to_string()),
            (ClientFrom::Forwarded, "forwarded", format!("for={real}")),
        ] {
            prop_assert_eq!(asks(client_from, "10.0.0.1", name, &[&before, &added]), Some(real));
        }
        let line = format!("{before}, {real}");
        prop_assert_eq!(asks(ClientFrom::XForwardedFor, "10.0.0.1", "x-forwarded-for", &[&line]), Some(real));
        // Nothing after an open quote is readable, so only the proxy itself is trusted.
        let line = format!("{before}, for={real}");
        let told = asks(ClientFrom::Forwarded, "10.0.0.1", "forwarded", &[&line]);
        prop_assert!(told == Some(real) || told.is_none(), "{told:?}");
    }
}
