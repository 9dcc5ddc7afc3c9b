//! What leaves is what operators may see: no secret, and addresses of clients as the setting says.

use super::receiver::{Does, Receiver};
use super::settings;
use super::statsd::SILENCE_MAX;
use crate::world::{ADMIN, World};
use std::net::UdpSocket;

const SECRET: &str = "hush0123456789hush0123456789";

#[test]
fn no_planted_secret_and_no_address_that_is_off_leaves_by_any_way() {
    let (receiver, statsd) = (Receiver::start(Does::Takes), UdpSocket::bind("127.0.0.1:0").unwrap());
    statsd.set_read_timeout(Some(SILENCE_MAX)).unwrap();
    let file = format!(
        "{}otlp_headers_env = \"OTLP_HEADERS\"\nclient_addresses = \"off\"\nstatsd_addr = \"{}\"\n",
        settings(&receiver.url()),
        statsd.local_addr().unwrap()
    );
    let world = World::start_with_file_and(&file, &[("OTLP_HEADERS", "api-key=key-of-the-receiver")]);
    let bearer = format!("Bearer {SECRET}");
    let agent = format!("curl/8 (https://ann:{SECRET}@example.test/; token={SECRET})");
    let headers = [("Authorization", bearer.as_str()), ("User-Agent", agent.as_str()), ("Cookie", bearer.as_str())];
    for path in ["/repository/maven-releases/a/b", "/repository/gems-private/info/lamp", "/no/such/path"] {
        world.anon().ask("GET", &format!("{path}?token={SECRET}&api_key={SECRET}"), &headers, b"");
    }
    world.admin().get("/api/v1/repositories").expect(200);
    receiver.told_until(|told| {
        let paths = told
            .spans
            .iter()
            .filter(|span| span.attributes.get("url.path").is_some_and(|path| path == "/no/such/path"));
        if paths.count() == 1 { Ok(()) } else { Err("the last request has not arrived".into()) }
    });
    receiver.await_more("/v1/metrics", 2);
    assert!(receiver.heads().iter().all(|head| head.contains("api-key: key-of-the-receiver")));
    assert!(receiver.told().spans.iter().all(|span| !span.attributes.contains_key("client.address")));
    let mut all = receiver.bytes();
    let mut datagram = [0; 2000];
    loop {
        let length = statsd.recv(&mut datagram).unwrap();
        all.extend_from_slice(&datagram[..length]);
        if String::from_utf8_lossy(&datagram[..length]).contains("daylight.requests.") {
            break;
        }
    }
    for secret in [SECRET, ADMIN] {
        assert!(!all.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
    }
    assert!(!world.log().contains("key-of-the-receiver"));
}

#[test]
fn a_variable_with_headers_that_is_missing_or_wrong_stops_the_start_without_repeating_it() {
    for (name, text) in [("OTHER", SECRET), ("OTLP_HEADERS", SECRET)] {
        let said = crate::world::program(&["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(tempfile::tempdir().unwrap().path())
            .env("DAYLIGHT_TELEMETRY_OTLP_URL", "http://127.0.0.1:9")
            .env("DAYLIGHT_TELEMETRY_OTLP_HEADERS_ENV", "OTLP_HEADERS")
            .env(name, text)
            .output()
            .unwrap();
        let told = String::from_utf8([said.stdout, said.stderr].concat()).unwrap();
        assert!(!said.status.success() && told.contains("OTLP_HEADERS") && !told.contains(SECRET), "{told}");
    }
    // The secret in place of the variable's name.
    let said = crate::world::program(&["serve", "--listen", "127.0.0.1:0"])
        .env("DAYLIGHT_TELEMETRY_OTLP_HEADERS_ENV", format!("api-key={SECRET}"))
        .output()
        .unwrap();
    let told = String::from_utf8([said.stdout, said.stderr].concat()).unwrap();
    assert!(!said.status.success() && told.contains("never the secret itself") && !told.contains(SECRET), "{told}");
}
