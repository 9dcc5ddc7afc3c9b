//! The parts of requests: URLs, forms, headers, and the PROXY header.

use super::text;
use client::Secret;
use daylight::access::Credentials;
use daylight::hooks::body::HookBody;
use daylight::hooks::signature;
use daylight::route::{self, Route};
use daylight::upload::digests::UploadDigests;
use daylight::upload::multipart::{Form, Piece};
use front::conditional::{self, Checkpoints, Conditions};
use front::{Body, ClientFrom, Network, Proxies, Ranges, Reply};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use std::net::IpAddr;
use store::Hashes;
use telemetry::{Agent, Event};

const BODY: &[u8] = b"---\na 1.0 |checksum:x\n";
const MD5: &str = "\"9c1ce9009611cd1f70ec8884088938b8\"";

/// A path: content stays below its repository, and the path is a question or invalid.
pub(crate) fn route(bytes: &[u8]) {
    let Some(raw) = text(bytes) else { return };
    for method in [Method::GET, Method::POST, Method::DELETE, Method::PATCH] {
        let Ok(Route::Content(content)) = route::read(&method, raw) else { continue };
        assert!(!content.repository.is_empty() && !content.repository.contains('/'));
        let plain = |segment: &str| !segment.is_empty() && segment != "." && segment != "..";
        let path = content.path.strip_suffix('/').unwrap_or(&content.path);
        assert!(path.is_empty() || path.split('/').all(plain), "{path:?}");
        assert!(!content.path.contains(|c: char| c.is_ascii_control() || c == '\\'));
        if format::tree::check_raw(path).is_ok() {
            super::trees::sent_upstream(path);
        }
        if let Some(question) = format::gem::path::read(&content.path) {
            assert!(!format!("{question:?}").contains(".."), "{question:?}");
        }
    }
}

/// A form in a body: a value that is found is in the body.
pub(crate) fn form(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for key in ["gem_name", "version", "platform", ""] {
        let found = format::percent::Form(text).value(key);
        assert!(found.is_none_or(|value| value.len() <= text.len()));
    }
}

/// A multipart form: its parts do not depend on how the bytes are split. The first byte selects the pieces.
pub(crate) fn multipart(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else { return };
    let read = |length: usize| {
        let (mut form, mut told) = (Form::new("b"), Vec::<(String, Vec<u8>)>::new());
        for piece in body.chunks(length) {
            for piece in form.take(piece).ok()? {
                match piece {
                    Piece::Field(name) => told.push((name, Vec::new())),
                    Piece::Bytes(bytes) => told.last_mut().expect("a field comes first").1.extend_from_slice(&bytes),
                }
            }
        }
        form.end().ok().map(|()| told)
    };
    let whole = read(body.len().max(1));
    assert_eq!(read(usize::from(*first) + 1), whole);
    let content = whole.iter().flatten().map(|(_, bytes)| bytes.len()).sum::<usize>();
    assert!(content <= body.len());
}

/// Lines of headers.
fn headers(bytes: &[u8], names: &[HeaderName]) -> HeaderMap {
    let lines = bytes.split(|byte| *byte == b'\n').zip(names.iter().cycle());
    let mut headers = HeaderMap::new();
    for (line, name) in lines.take(32) {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(name, value);
        }
    }
    headers
}

/// Conditions and ranges: a reply is a part of the whole, or reports that there is none.
pub(crate) fn conditions(bytes: &[u8]) {
    let names = [header::RANGE, header::IF_NONE_MATCH, header::IF_RANGE, header::IF_MODIFIED_SINCE, header::IF_MATCH];
    let asked = Conditions::new(&headers(bytes, &names));
    for ranges in [Ranges::None, Ranges::Bytes, Ranges::Prefix(Checkpoints::default())] {
        for method in [Method::GET, Method::HEAD] {
            let whole = Reply::text(StatusCode::OK, BODY)
                .header(header::ETAG, HeaderValue::from_static(MD5))
                .header(header::LAST_MODIFIED, HeaderValue::from_static("Sat, 21 Nov 2026 12:00:00 GMT"))
                .ranges(ranges.clone());
            let reply = conditional::apply(whole, &method, &asked);
            let length = reply.body.len().expect("a body in memory has a length");
            match reply.status.as_u16() {
                200 => assert!(length == BODY.len() as u64 || method == Method::HEAD),
                206 => {
                    assert!(method == Method::GET && length > 0 && length <= BODY.len() as u64);
                    let Body::Bytes(part) = &reply.body else { panic!("a part of bytes is bytes") };
                    assert!(BODY.windows(part.len()).any(|window| window == part));
                    // The reply continues an index to its end, or has all of it.
                    assert!(!matches!(ranges, Ranges::Prefix(_)) || BODY.ends_with(part));
                }
                304 | 412 => assert_eq!(length, 0),
                416 => assert!(matches!(ranges, Ranges::Bytes)),
                other => panic!("{other}"),
            }
        }
    }
}

/// The digests that headers of an upload declare: no bytes have those of others.
pub(crate) fn declared(bytes: &[u8]) {
    let names = ["content-digest", "digest", "content-md5", "x-checksum", "oc-checksum", "x-amz-content-sha256"];
    let Ok(declared) = UploadDigests::read(&headers(bytes, &names.map(HeaderName::from_static))) else { return };
    let is_of = |bytes: &[u8]| declared.check(&Hashes::of(bytes), None).is_ok();
    assert!(declared.is_empty() || !is_of(b"lamp") || !is_of(b"lump"));
}

/// The credentials in `Authorization`: parsed, and never printed.
pub(crate) fn credentials(bytes: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(bytes) else { return };
    let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value)]);
    assert_eq!(format!("{:?}", Credentials::read(&headers)), "Some(Credentials(***))");
}

/// A webhook: two lines of headers, then its body. No input guesses a secret of 256 bits, and every reported name is in the
/// body.
pub(crate) fn hook(bytes: &[u8]) {
    let mut lines = bytes.splitn(3, |byte| *byte == b'\n');
    let head = [lines.next().unwrap_or_default(), lines.next().unwrap_or_default()].join(&b'\n');
    let body = lines.next().unwrap_or_default();
    let names = [header::AUTHORIZATION, HeaderName::from_static("x-hub-signature-256")];
    let said = HookBody::read(body);
    let secret = Secret::new("8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92".into());
    assert!(!signature::is_right(&secret, &headers(&head, &names), body, said.as_ref().ok()));
    let Ok(said) = said else { return };
    let text = String::from_utf8_lossy(body);
    let announced = said.announcement(false);
    // An escape may stand for a character.
    for part in [announced.package, announced.path, announced.version, announced.platform].into_iter().flatten() {
        assert!(!part.is_empty() && !part.chars().any(|c| c.is_control() || c.is_whitespace()));
        let parts: Vec<&str> = part.split(':').collect();
        assert!(text.contains('\\') || parts.iter().all(|part| text.contains(part)), "{part}");
    }
}

/// The client in forwarding headers: never an address that an untrusted hop could have invented.
pub(crate) fn forwarded(bytes: &[u8]) {
    let networks: Result<Vec<Network>, _> = ["10.0.0.0/8", "fd00::/8"].into_iter().map(str::parse).collect();
    let trusted = networks.expect("networks");
    let near: IpAddr = [10, 0, 0, 1].into();
    let far: IpAddr = [192, 0, 2, 1].into();
    for (client_from, name) in [
        (ClientFrom::XForwardedFor, HeaderName::from_static("x-forwarded-for")),
        (ClientFrom::Forwarded, header::FORWARDED),
    ] {
        let mut sent = headers(bytes, std::slice::from_ref(&name));
        let proxies = Proxies { trusted: trusted.clone(), client_from };
        assert_eq!(proxies.client(far, &sent), None, "an untrusted peer names no client");
        proxies.client(near, &sent);
        sent.append(
            &name,
            HeaderValue::from_static(if name == header::FORWARDED { "for=192.0.2.1" } else { "192.0.2.1" }),
        );
        assert_eq!(proxies.client(near, &sent), Some(far), "the address that a proxy appends counts");
    }
}

/// The PROXY header, and no bytes after it.
pub(crate) fn proxy(bytes: &[u8]) {
    let Some((client, rest)) = front::announced(bytes) else { return };
    let taken = &bytes[..bytes.len() - rest.len()];
    assert_eq!(front::announced(taken), Some((client, &b""[..])));
    assert_eq!(front::announced(&taken[..taken.len() - 1]), None, "all of it is needed");
}

/// A `User-Agent`: its parts are short and within it, and without its run it is the same program.
pub(crate) fn agent(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let agent = Agent::read(text);
    for part in [agent.version, agent.ci, agent.run] {
        assert!(part.len() <= 64 && text.contains(part), "{part}");
    }
    assert!(agent.product.len() <= 64);
    let without = Agent::without_run(text);
    assert!(without.len() <= text.len());
    let again = Agent::read(&without);
    assert_eq!((again.product, again.version), (agent.product, agent.version));
}

/// The text of a client or an upstream: bounded, in one line, and without what only a secret looks like. A clean text stays as it is.
pub(crate) fn scrub(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let clean = Event::text(text);
    assert!(clean.len() <= Event::TEXT_MAX && !clean.contains(char::is_control));
    let of_token = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    for (at, prefix) in clean.match_indices("daylight_") {
        assert!(clean[at + prefix.len()..].chars().take_while(of_token).count() < 20, "{clean}");
    }
    for (at, _) in clean.match_indices("token=") {
        let rest = &clean[at + "token=".len()..];
        assert!(
            rest.is_empty() || rest.starts_with(['*', ' ', '&', '#', '"', '\'', '<', '>', '\\', '\u{fffd}']),
            "{clean}"
        );
    }
}
