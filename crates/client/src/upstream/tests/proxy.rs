//! A proxy on the way to the upstream.

use super::tls::Certificate;
use super::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;

/// A proxy that opens tunnels for the credentials `me:hush`, and remembers its requests.
pub(super) struct Tunnels {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Tunnels {
    #[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
    pub(super) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let all = heads.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let all = all.clone();
                std::thread::spawn(move || tunnel(client.unwrap(), &all));
            }
        });
        Self { url, heads }
    }

    pub(super) fn options(&self, credentials: Option<&str>) -> UpstreamOptions {
        let credentials = credentials.map(|text| Secret::new(text.to_owned()));
        let proxy = Some(ProxyOptions { url: self.url.clone(), credentials, except: Vec::new() });
        UpstreamOptions { proxy, ..UpstreamOptions::default() }
    }
}

#[expect(clippy::disallowed_methods, reason = "a fake client, not Daylight's")]
fn tunnel(mut client: TcpStream, all: &Mutex<Vec<String>>) {
    let (mut head, mut piece) = (Vec::new(), [0; 1]);
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut piece).unwrap();
        head.push(piece[0]);
    }
    let head = String::from_utf8(head).unwrap();
    all.lock().unwrap().push(head.clone());
    if !head.contains("proxy-authorization: Basic bWU6aHVzaA==\r\n") {
        client.write_all(b"HTTP/1.1 407 So\r\nContent-Length: 0\r\n\r\n").unwrap();
        return;
    }
    let server = TcpStream::connect(head.split(' ').nth(1).unwrap()).unwrap();
    client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").unwrap();
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    let _ = std::io::copy(&mut &server, &mut client);
}

#[test]
fn tls_goes_through_a_tunnel_and_only_the_proxy_sees_its_credentials() {
    let certificate = Certificate::of("IP:127.0.0.1");
    let there = StandIn::with_tls(certificate.server(None), [("/a", ok("hello"))]);
    let (world, proxy) = (World::new(), Tunnels::new());
    let options = UpstreamOptions { trust: Some(certificate.pem()), ..proxy.options(Some("me:hush")) };
    let upstream = world.upstream_with(&[&there.url], options);
    for _ in 0..2 {
        assert_eq!(world.get(&upstream, "a"), Ok((200, "hello".into())));
    }
    let host = there.url.strip_prefix("https://").unwrap();
    let heads = proxy.heads.lock().unwrap();
    assert!(heads.len() == 1 && heads[0].starts_with(&format!("CONNECT {host} HTTP/1.1\r\n")), "{heads:?}");
    assert!(!there.heads()[0].contains("proxy-auth"), "{:?}", there.heads());
}

#[test]
fn a_proxy_that_refuses_is_no_upstream_that_refuses() {
    let (world, proxy) = (World::new(), Tunnels::new());
    let upstream = world.upstream_with(&["https://files.test/"], proxy.options(None));
    let error = world.get_if(&upstream, "a", &Conditions::default()).unwrap_err();
    assert!(matches!(error, Error::ProxyRefuses { status: 407, .. }), "{error}");
    assert!(error.hint().unwrap().contains("credentials"));
    let upstream = world.upstream_with(&["http://files.test/"], proxy.options(Some("wrong")));
    assert_eq!(world.get(&upstream, "a"), Err("proxy_refuses"));

    let down = nobody();
    let options = UpstreamOptions {
        proxy: Some(ProxyOptions { url: down.clone(), credentials: None, except: Vec::new() }),
        ..UpstreamOptions::default()
    };
    let error = world.get_if(&world.upstream_with(&["https://other.test/"], options), "a", &Conditions::default());
    assert_eq!(error.unwrap_err().to_string(), format!("nothing listens on `{}`", &down[7..]));
}
