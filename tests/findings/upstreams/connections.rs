//! Connections to upstreams: set up for each call, or late because packets are lost.

use super::{ask, crowd, first, remote, sentence, server, silent};
use crate::tls::Certificate;
use crate::world::{Says, TIMEOUT, Upstream, World, await_true};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server of files over TLS that closes each connection after one response.
struct Closing {
    child: Child,
    address: SocketAddr,
}

impl Closing {
    /// Serves files for so many clients and rounds.
    fn start(certificate: &Certificate, clients: usize, rounds: usize) -> Self {
        let folder = certificate.file().parent().unwrap().join("a");
        std::fs::create_dir(&folder).unwrap();
        for name in (0..clients).flat_map(|client| (0..rounds).map(move |round| format!("{client}-{round}"))) {
            std::fs::write(folder.join(name), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nbytes")
                .unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let child = Command::new("openssl")
            .args([
                "s_server",
                "-HTTP",
                "-quiet",
                "-cert",
                "certificate.pem",
                "-key",
                "key.pem",
                "-accept",
                &address.to_string(),
            ])
            .current_dir(folder.parent().unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(began.elapsed() < TIMEOUT, "openssl does not listen");
            std::thread::park_timeout(Duration::from_millis(5));
        }
        Self { child, address }
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server with a remote repository whose upstream is that one.
fn far(closing: &Closing, trusts: &Path) -> World {
    let mut world = World::stopped_in_conformance();
    // The API may name only files of this folder.
    world.configure(&format!("[upstream]\ncredentials_folder = {:?}\n", trusts.parent().unwrap()));
    world.resume();
    let remote = json!({ "urls": [format!("https://{}/", closing.address)], "trust": trusts });
    world.set_time("2026-11-02T12:00:00Z");
    world.make(&json!({ "name": "far", "format": "raw", "kind": "remote", "remote": remote }));
    world
}

#[test]
fn an_upstream_that_closes_each_connection_is_named_with_what_the_handshakes_cost() {
    for (clients, rounds, told) in [(16, 40, true), (2, 20, false)] {
        let certificate = Certificate::new();
        let closing = Closing::start(&certificate, clients, rounds);
        let world = far(&closing, &certificate.file());
        crowd(&world, "far", clients, rounds);
        if told {
            let found = first(&world, "set-up-before-each-call", &format!("upstream:{}", closing.address));
            assert!(sentence(&found).contains("keep-alive"), "{found:#}");
        } else {
            silent(&world, "set-up-before-each-call");
        }
    }
    let (world, upstream) = (server(&[]), Upstream::start());
    upstream.says_otherwise(Says::bytes("bytes"));
    remote(&world, "far", &upstream);
    crowd(&world, "far", 16, 20);
    silent(&world, "set-up-before-each-call");
}

/// Answers every request on a connection.
fn serve(stream: TcpStream) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        loop {
            line.clear();
            if reader.read_line(&mut line).is_err() || line.is_empty() {
                return;
            }
            if line == "\r\n" {
                break;
            }
        }
        if reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbytes").is_err() {
            return;
        }
    }
}

/// Asks with so many clients an upstream whose queue of new connections is full for a moment, so that the kernel drops their first packets.
fn asked(clients: usize) -> (World, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let world = server(&[]);
    world.remote_of("raw", "far", &format!("http://{address}/"));
    rustix::net::listen(&listener, 0).unwrap();
    let queued = TcpStream::connect(address).unwrap();
    let person = world.anon();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&person, "far", "a", clients, 1));
        await_true("the first packets are sent", || begun(address) == clients);
        rustix::net::listen(&listener, 128).unwrap();
        let accepting = listener.try_clone().unwrap();
        std::thread::spawn(move || {
            for stream in accepting.incoming() {
                let stream = stream.unwrap();
                std::thread::spawn(move || serve(stream));
            }
        });
        assert_eq!(asking.join().unwrap(), vec![200; clients]);
    });
    drop(queued);
    (world, address)
}

/// Connections to this address whose first packet has no answer, as the kernel lists them: state 2.
fn begun(address: SocketAddr) -> usize {
    let to = format!("0100007F:{:04X} 02", address.port());
    std::fs::read_to_string("/proc/net/tcp").unwrap().lines().filter(|line| line.contains(&to)).count()
}

#[test]
fn connections_that_come_when_a_lost_packet_is_repeated_are_told_and_a_few_are_not() {
    let (world, address) = asked(12);
    let found = first(&world, "timeout-shaped-latency", &format!("upstream:{address}"));
    assert!(sentence(&found).contains("1 s and a little"), "{found:#}");
    let (world, _) = asked(4);
    silent(&world, "timeout-shaped-latency");
}
