//! A restart in place under load: no request fails, and the application goes on with the same process.

use super::commands::puma;
use super::program::Front;
use super::rack::Rack;
use crate::world::Connection;
use rustix::process::Signal;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

const CLIENTS: usize = 8;
/// Requests that are answered between two restarts.
const BETWEEN: usize = 100;
const RESTARTS: usize = 5;

/// Ends the load when dropped, also after a failure.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Asks until the end, each time on a connection of its own, and returns the replies that were no success.
fn asks(address: SocketAddr, number: usize, over: &AtomicBool, answered: &AtomicUsize) -> Vec<String> {
    let mut failed = Vec::new();
    while !over.load(Relaxed) {
        let target = if number.is_multiple_of(2) { "/page?bytes=200000" } else { "/pid" };
        let close = [("Connection", "close")];
        match Connection::open(address).and_then(|mut client| client.call("GET", target, &close, b"")) {
            Ok(told) if told.status == 200 => answered.fetch_add(1, Relaxed),
            Ok(told) => {
                failed.push(format!("{}: {}", told.status, told.text()));
                0
            }
            Err(error) => {
                failed.push(error.to_string());
                0
            }
        };
    }
    failed
}

/// Restarts the front while clients ask it. Returns the number of answered requests.
fn restarts_under_load(front: &mut Front) -> usize {
    let (over, answered, address) = (AtomicBool::new(false), AtomicUsize::new(0), front.address());
    std::thread::scope(|scope| {
        let ended = Over(&over);
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (over, answered) = (&over, &answered);
                scope.spawn(move || asks(address, number, over, answered))
            })
            .collect();
        for _ in 0..RESTARTS {
            let so_far = answered.load(Relaxed);
            crate::world::await_true("the load goes on", || answered.load(Relaxed) >= so_far + BETWEEN);
            front.restart();
        }
        let so_far = answered.load(Relaxed);
        crate::world::await_true("the load goes on", || answered.load(Relaxed) >= so_far + BETWEEN);
        drop(ended);
        let failed: Vec<String> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        assert!(failed.is_empty(), "{} requests failed: {:?}", failed.len(), &failed[..failed.len().min(3)]);
    });
    answered.load(Relaxed)
}

#[test]
fn restarts_under_load_lose_no_request_and_the_command_keeps_its_process() {
    let (mut front, _folder) = puma();
    let before = front.get("/pid").expect(200).text().to_owned();
    let process = front.server().id();
    let answered = restarts_under_load(&mut front);
    assert_eq!(front.get("/pid").expect(200).text(), before, "the application was started again");
    assert_eq!(front.server().id(), process);
    println!("{RESTARTS} restarts, {answered} requests, none failed");
    front.signal(Signal::TERM);
    assert_eq!(front.into_server().exit_code(), Some(143));
}

#[test]
fn restarts_under_load_lose_no_request_to_a_server_that_is_not_ours() {
    let rack = Rack::unicorn(2);
    let mut front = Front::to(&[&rack.url()]);
    restarts_under_load(&mut front);
    // Its admin address is handed over as well.
    front.admin().get("/metrics").expect(200);
    front.signal(Signal::TERM);
    assert_eq!(front.into_server().exit_code(), Some(0));
}
