//! Slow clients hold no worker: uploads are received before a worker gets them, and a response is taken at the worker's own speed.
//! `DAYLIGHT_SLOW_CLIENTS` sets the number of slow clients in each direction, and prints what the application measured.

use super::program::Front;
use super::rack::Rack;
use crate::world::{Connection, hex};
use sha2::{Digest, Sha256};
use std::io::Read as _;

/// More than the kernel's buffers of both connections hold.
const PAGE: usize = 4 << 20;
/// The upload of each client, and the part of it that it sends before it stalls.
const UPLOAD: usize = 100_000;
const SENT: usize = 60_000;
const QUICK: usize = 100;

#[test]
fn a_crowd_that_stalls_in_both_directions_holds_none_of_two_workers_and_quick_clients_are_answered() {
    let given = std::env::var("DAYLIGHT_SLOW_CLIENTS").ok();
    let crowd: usize = given.as_deref().map_or(60, |text| text.parse().unwrap());
    let page = if given.is_some() { 512 << 10 } else { PAGE };
    let rack = Rack::unicorn(2);
    let front = Front::start(&["--to", &rack.url()], "", &[("DAYLIGHT_SERVER_CLIENT_SHARE_PERCENT", "100")]);
    front.get("/page?bytes=1").expect(200);
    let before = front.server().memory();

    let mut uploads: Vec<(Connection, Vec<u8>)> = (0..crowd)
        .map(|number| {
            let body = vec![number as u8; UPLOAD];
            let mut client = front.connect();
            let head = format!(
                "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: {UPLOAD}\r\n\r\n"
            );
            client.send(head.as_bytes()).unwrap();
            client.send(&body[..SENT]).unwrap();
            (client, body)
        })
        .collect();
    let target = format!("/page?bytes={page}");
    let mut downloads: Vec<Connection> = (0..crowd)
        .map(|_| {
            let mut client = front.connect();
            client.send(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).unwrap();
            // Nothing but the beginning is read.
            client.stream().read_exact(&mut [0; 12]).unwrap();
            client
        })
        .collect();
    // Each response was taken from its worker although its client has not read it.
    rack.folder.await_counts(&target, (crowd, crowd));
    for number in 0..QUICK {
        front.get(&format!("/page?bytes=10&quick={number}")).expect(200);
    }
    assert_eq!(rack.folder.counts("/upload"), (0, 0), "a worker has an upload that has not arrived");
    let each = front.server().memory().saturating_sub(before) / (2 * crowd as u64);
    assert!(each <= 256 << 10, "{each} bytes of memory for each slow client");

    for (client, body) in &mut uploads {
        client.send(&body[SENT..]).unwrap();
        assert_eq!(client.answer(false).unwrap().expect(200).text(), hex(&Sha256::digest(body)));
    }
    for client in &mut downloads {
        let mut text = Vec::new();
        let mut piece = [0; 65_536];
        while text.len() < page {
            let read = client.stream().read(&mut piece).unwrap();
            assert!(read > 0, "the page ended after {} bytes", text.len());
            text.extend_from_slice(&piece[..read]);
        }
        assert!(text.ends_with(&[b'x'; 1024]));
    }
    rack.folder.await_counts("/upload", (crowd, crowd));
    if given.is_some() {
        report(&rack, crowd, each);
    }
}

/// Prints how much longer a worker was busy than its action took.
fn report(rack: &Rack, crowd: usize, each: u64) {
    let noted = rack.folder.noted();
    let mut over: Vec<f64> =
        noted.iter().filter_map(|work| Some((work["closed"].as_f64()? - work["called"].as_f64()?) * 1e3)).collect();
    over.sort_by(f64::total_cmp);
    let at = |part: f64| over[((over.len() - 1) as f64 * part) as usize];
    println!(
        "{crowd} slow clients in each direction: a worker was busy for {:.2} ms (p50), {:.2} ms (p99), {:.2} ms (most) after its action; \
         {each} bytes of memory a client",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}
