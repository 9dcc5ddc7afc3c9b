//! Findings about the machine: sockets and descriptors that fail a real server.

use super::incident::{Incident, begun, sampled};
use crate::world::{Connection, FIRST, World};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// A server that may have as many descriptors as `percent` of them are open.
fn descriptors(percent: u64) -> Incident {
    let world = begun(&[]);
    let connections: Vec<_> = (0..200).map(|_| TcpStream::connect(world.address()).unwrap()).collect();
    world.anon().get("/health/live").expect(200);
    let limit = Some(world.descriptors() as u64 * 100 / percent);
    let id = Pid::from_raw(world.id()).unwrap();
    prlimit(Some(id), Resource::Nofile, Rlimit { current: limit, ..getrlimit(Resource::Nofile) }).unwrap();
    sampled(&world);
    drop(connections);
    Incident::of(world)
}

#[test]
fn a_process_with_few_free_descriptors_is_named_before_it_has_none() {
    descriptors(70).says_nothing_of("descriptors-run-out");
    let told = descriptors(90).open("descriptors-run-out@server");
    assert!(told["sentence"].as_str().unwrap().contains("LimitNOFILE=65536"), "{told}");
}

/// A server that accepts nothing for a while, with room for 8 connections, so many of which are dropped.
fn dropped(connections: usize) -> Incident {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 8).unwrap();
    let world = World::start_in_conformance_on(listener);
    let (caller, mut open) = (world.anon(), world.anon().connect().unwrap());
    let set_time = |open: &mut Connection| {
        let path = format!("/repository/{FIRST}/set_time");
        let moment = b"2026-11-01T12:00:00Z";
        caller.on(open, "POST", &path, &[("Content-Type", "text/plain")], moment).unwrap().expect(200);
    };
    set_time(&mut open);
    sampled(&world);
    // Without a free descriptor it cannot accept.
    let id = Pid::from_raw(world.id()).unwrap();
    let before =
        prlimit(Some(id), Resource::Nofile, Rlimit { current: Some(3), ..getrlimit(Resource::Nofile) }).unwrap();
    let connect = |ms| TcpStream::connect_timeout(&world.address(), Duration::from_millis(ms));
    // The kernel accepts one more than there is room for.
    let waiting: Vec<_> = (0..9).map(|_| connect(1000).unwrap()).collect();
    (0..connections).for_each(|_| assert!(connect(20).is_err()));
    let full = "daylight_bound_used{bound=\"accept.queue\"";
    crate::world::eventually(|| {
        set_time(&mut open);
        let page = caller.on(&mut open, "GET", "/metrics", &[], b"").unwrap().expect(200);
        let line = page.text().lines().find(|line| line.starts_with(full)).unwrap().to_owned();
        if line.ends_with(" 9") { Ok(()) } else { Err(line) }
    });
    prlimit(Some(id), Resource::Nofile, before).unwrap();
    drop(waiting);
    sampled(&world);
    Incident::of(world)
}

#[test]
fn connections_that_the_kernel_dropped_are_told_with_the_queue_that_was_full() {
    dropped(5).says_nothing_of("accept-queue-overflows");
    for count in [15, 100] {
        let incident = dropped(count);
        let told = incident.findings().iter().find(|finding| finding["key"] == "accept-queue-overflows").unwrap();
        let id = format!("accept-queue-overflows@bound:accept.queue/{}", incident.world().address());
        assert_eq!((&told["id"], &told["state"]), (&id.as_str().into(), &"open".into()));
        // The queue is that of the socket which the server was given: the kernel allows more.
        assert!(told["sentence"].as_str().unwrap().contains("`Backlog=`"), "{told}");
        assert_eq!(told["changes"], serde_json::json!([]), "{told}");
    }
}

#[test]
fn a_quiet_server_on_a_busy_machine_says_nothing() {
    let world = begun(&[]);
    sampled(&world);
    let mut body = String::new();
    let mut connection = TcpStream::connect(world.address()).unwrap();
    connection.write_all(b"GET /health/live HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").unwrap();
    connection.read_to_string(&mut body).unwrap();
    assert!(body.contains("200 OK"), "{body}");
    sampled(&world);
    Incident::of(world).says_nothing_of("");
}
