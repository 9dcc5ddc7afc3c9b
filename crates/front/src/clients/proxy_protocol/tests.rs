//! Every form of the PROXY header is read, and no other bytes are accepted as one.

use super::*;
use proptest::prelude::*;

/// The client, and the number of bytes after the header.
fn heard(mut bytes: &[u8]) -> (Result<Option<IpAddr>, ProxyHeaderError>, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let heard = runtime.block_on(read(&mut bytes));
    (heard, bytes.len())
}

fn client(bytes: &[u8]) -> Option<IpAddr> {
    let (heard, left) = heard(&[bytes, b"GET"].concat());
    assert_eq!(left, 3, "exactly the header is read");
    heard.unwrap()
}

fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
    [&SIGNATURE[..], &[command, family], &length, rest].concat()
}

fn ip(text: &str) -> Option<IpAddr> {
    Some(text.parse().unwrap())
}

#[test]
fn both_versions_name_the_client() {
    assert_eq!(client(b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n"), ip("192.0.2.1"));
    assert_eq!(client(b"PROXY TCP6 2001:db8::1 2001:db8::2 56324 443\r\n"), ip("2001:db8::1"));
    assert_eq!(client(&binary(0x21, 0x11, &[192, 0, 2, 1, 198, 51, 100, 1, 220, 4, 1, 187])), ip("192.0.2.1"));
    let mut long = [0; 36];
    long[..4].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
    assert_eq!(client(&binary(0x21, 0x21, &long)), ip("2001:db8::"));
    let with_more = [&[192, 0, 2, 1, 198, 51, 100, 1, 220, 4, 1, 187][..], &[4; 1000]].concat();
    assert_eq!(client(&binary(0x21, 0x11, &with_more)), ip("192.0.2.1"));
}

#[test]
fn a_proxy_may_speak_for_itself() {
    assert_eq!(client(b"PROXY UNKNOWN\r\n"), None);
    assert_eq!(client(b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), None);
    assert_eq!(client(&binary(0x20, 0x00, &[])), None);
    assert_eq!(client(&binary(0x21, 0x31, &[0; 216])), None);
}

#[test]
fn what_is_almost_a_header_is_refused() {
    let longest = format!("PROXY TCP4 192.0.2.1 198.51.100.1 1 {}\r\n", "2".repeat(100));
    for line in [
        "GET / HTTP/1.1\r\n\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 1\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 1 2 3\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 1 65536\r\n",
        "PROXY TCP4 192.0.2.1  198.51.100.1 1 2\r\n",
        "PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n",
        "PROXY TCP6 192.0.2.1 198.51.100.1 1 2\r\n",
        "PROXY UDP4 192.0.2.1 198.51.100.1 1 2\r\n",
        "proxy TCP4 192.0.2.1 198.51.100.1 1 2\r\n",
        &longest,
    ] {
        assert!(matches!(heard(line.as_bytes()).0, Err(ProxyHeaderError::Invalid(_))), "{line:?}");
    }
    for bytes in [
        binary(0x11, 0x11, &[0; 12]),
        binary(0x22, 0x11, &[0; 12]),
        binary(0x21, 0x41, &[0; 12]),
        binary(0x21, 0x11, &[0; 11]),
        binary(0x21, 0x21, &[0; 35]),
        binary(0x21, 0x11, &[0; REST + 1]),
    ] {
        assert!(matches!(heard(&bytes).0, Err(ProxyHeaderError::Invalid(_))), "{bytes:?}");
    }
}

#[test]
fn silence_is_told_from_a_header_that_breaks_off() {
    assert!(matches!(heard(b"").0, Err(ProxyHeaderError::Silent)));
    for broken in [&b"P"[..], b"PROXY TCP4 192.0", &SIGNATURE, &binary(0x21, 0x11, &[0; 12])[..20]] {
        assert!(matches!(heard(broken).0, Err(ProxyHeaderError::Broken(_))), "{broken:?}");
    }
}

proptest! {
    #[test]
    fn every_address_comes_through(source: IpAddr, port: u16) {
        let (family, other) = if source.is_ipv4() { ("TCP4", "192.0.2.9") } else { ("TCP6", "2001:db8::9") };
        prop_assert_eq!(client(format!("PROXY {family} {source} {other} {port} 443\r\n").as_bytes()), Some(source));
        let rest = match source {
            IpAddr::V4(source) => [&source.octets()[..], &[0; 8]].concat(),
            IpAddr::V6(source) => [&source.octets()[..], &[0; 20]].concat(),
        };
        let family = if source.is_ipv4() { 0x11 } else { 0x21 };
        prop_assert_eq!(client(&binary(0x21, family, &rest)), Some(source));
    }

    #[test]
    fn no_bytes_make_it_panic_or_read_beyond_its_limits(bytes in prop::collection::vec(any::<u8>(), 0..300), kind in 0..3) {
        let begins: &[u8] = [&b""[..], b"PROXY ", &SIGNATURE][kind as usize];
        let bytes = [begins, &bytes, &[b'x'; 70_000]].concat();
        let (_, left) = heard(&bytes);
        prop_assert!(bytes.len() - left <= FIRST + FIXED + REST);
    }
}
