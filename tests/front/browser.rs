//! Debian's Chromium at two applications over TLS and HTTP/2: a WebSocket, events that come one by one, and the page of the front itself.

use super::program::Front;
use super::rack::Rack;
use crate::tls::Certificate;
use crate::world::{TIMEOUT, browser, write};
use serde_json::json;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// An application of WebSockets, by the library of Debian's Python.
struct Sockets {
    server: Child,
    url: String,
}

impl Sockets {
    fn start() -> Self {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", include_str!("sockets.py")]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let mut port = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
        assert!(!port.is_empty(), "python3-websockets, which `scripts/setup test` installs, does not start");
        Self { server, url: format!("http://127.0.0.1:{}", port.trim()) }
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_browser_speaks_http_2_and_gets_events_one_by_one_and_messages_in_both_directions() {
    let (rack, sockets, certificate) = (Rack::puma(8), Sockets::start(), Certificate::new());
    write(&rack.folder.path().join("live.html"), include_str!("live.html"));
    // Both are at one address, which needs a number.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let tls = certificate.settings().replace("[server]\n", "");
    let app = |name: &str, host: &str, to: &str| {
        format!("[[app]]\nname = \"{name}\"\nlisten = \"127.0.0.1:{port}\"\nhosts = [\"{host}\"]\nto = \"{to}\"\n{tls}")
    };
    let text = app("shop", "shop.localhost", &rack.url()) + &app("chat", "chat.localhost", &sockets.url);
    let front = Front::configured(&text);
    let base = format!("https://shop.localhost:{}", front.address().port());
    let admin = format!("http://{}", front.admin_address());
    let given = json!({ "base": base, "admin": admin, "limit_ms": TIMEOUT.as_millis() as u64 });
    let told = browser("front.js", given);
    assert_eq!(told["protocol"], "h2", "{told}");
    assert_eq!(told["events"], json!(["first", "second"]), "{told}");
    // The first one came while the application still held the second one back.
    assert_eq!(told["before_the_gate"], json!(["first"]), "{told}");
    assert_eq!(told["messages"], json!(["echo: hello", 200_006, "closed: 1000"]), "{told}");
    let page = told["page"].as_str().unwrap();
    for text in ["shop", "chat", &*sockets.url, "/live"] {
        assert!(page.contains(text), "the page does not have {text:?}: {page}");
    }
    assert_eq!(told["seen"], json!([]), "{told}");
    // No other application has this host.
    let mut curl = Command::new("curl");
    curl.args([
        "--silent",
        "--insecure",
        "--write-out",
        "%{http_code}",
        "--output",
        "/dev/null",
        "-H",
        "Host: nobody.localhost",
    ]);
    let told = curl.arg(format!("https://{}/live", front.address())).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&told.stdout), "421");
}
