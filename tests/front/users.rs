//! Two users at the same pages: no byte of one's session reaches the other, whatever the pages say of caching.

use super::origin::{Origin, response};
use super::program::Front;
use crate::world::Connection;
use std::io::Write as _;
use std::net::SocketAddr;

const REQUESTS: usize = 10_000;
const USERS: [&str; 2] = ["ann", "bob"];
/// Connections of each user.
const CONNECTIONS: usize = 4;

/// The pages: what the application says of each, and whether its text is of the user.
const PAGES: [(&str, &[&str], bool); 8] = [
    ("/account", &["Cache-Control: private, max-age=600"], true),
    ("/silent", &[], true),
    ("/tagged", &["ETag: \"1\"", "Last-Modified: Mon, 02 Nov 2020 09:00:00 GMT"], true),
    ("/by-cookie", &["Cache-Control: public, max-age=600", "Vary: Cookie"], true),
    ("/sets", &["Cache-Control: public, max-age=600", "Set-Cookie: session=USER; Path=/"], true),
    ("/never", &["Cache-Control: no-store, public, s-maxage=600"], true),
    ("/checked", &["Cache-Control: public, no-cache", "ETag: \"USER\""], true),
    ("/shared", &["Cache-Control: public, max-age=600"], false),
];

fn user(cookie: &str) -> &str {
    cookie.split("session=").nth(1).unwrap_or("nobody")
}

#[test]
fn ten_thousand_interleaved_requests_of_two_users_hold_no_byte_of_the_other() {
    let origin = Origin::start(|heard, client| {
        let (path, cookie) = (heard.target.split('?').next().unwrap(), heard.header("cookie").unwrap_or_default());
        let (_, lines, own) = PAGES.iter().find(|(page, ..)| *page == path).unwrap();
        let whose = if *own { user(&cookie) } else { "everybody" };
        let lines: Vec<String> = lines.iter().map(|line| line.replace("USER", whose)).collect();
        let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
        client.write_all(&response("200 OK", &lines, format!("this is for {whose}").as_bytes())).map(|()| true)
    });
    let front = Front::to(&[&origin.url()]);
    let hits: usize = std::thread::scope(|scope| {
        let clients = USERS.iter().flat_map(|user| (0..CONNECTIONS).map(move |number| (*user, number)));
        let reads: Vec<_> = clients
            .map(|(user, number)| {
                let address = front.address();
                scope.spawn(move || reads(address, user, number))
            })
            .collect();
        reads.into_iter().map(|read| read.join().unwrap()).sum()
    });
    // The page for everybody came from the cache, so the test has seen it at work. Before a response is known, users do not wait.
    let shared = origin.count_of("/shared");
    assert!(
        shared <= USERS.len() * CONNECTIONS && hits > REQUESTS / 10,
        "{shared} requests for the shared page, {hits} hits"
    );
}

/// The requests of a connection. Returns how many were answered from the cache.
fn reads(address: SocketAddr, user: &str, number: usize) -> usize {
    let (mut connection, cookie, mut hits) = (Connection::open(address).unwrap(), format!("session={user}"), 0);
    let other = USERS.iter().find(|other| **other != user).unwrap();
    for at in 0..REQUESTS / (USERS.len() * CONNECTIONS) {
        let (page, _, own) = PAGES[(at + number) % PAGES.len()];
        let told =
            connection.call("GET", page, &[("Host", "shop.example"), ("Cookie", &cookie)], b"").unwrap().expect(200);
        let whose = if own { user } else { "everybody" };
        assert_eq!(told.text(), format!("this is for {whose}"), "{page}");
        assert!(!told.headers.iter().any(|(_, value)| value.contains(other)), "{page}: {:?}", told.headers);
        hits += usize::from(told.header("cache-status").is_some_and(|status| status.contains("hit")));
    }
    hits
}
