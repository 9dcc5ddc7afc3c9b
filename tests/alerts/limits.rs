//! Persistent shedding and a full accept queue: each is one alert and one end.

use super::{at, await_told, taker, told, webhook};
use crate::world::{Connection, World, await_true};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Lets half an hour pass in which nothing is seen. A restart forgets the figures of the last five minutes.
fn ends(world: &mut World) {
    world.stop();
    world.resume();
    for time in ["12:40:00", "12:50:00", "13:00:00", "13:12:00", "13:24:00"] {
        at(world, time);
    }
}

/// An upload whose bytes do not come.
fn held(world: &World, number: usize) -> Connection {
    let mut connection = Connection::open(world.address()).unwrap();
    let secret = world.admin().secret().to_owned();
    let path = format!("/repository/maven-releases/c/d/{number}/d-{number}.jar");
    let head =
        format!("PUT {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {secret}\r\nContent-Length: 100\r\n\r\n");
    connection.send(head.as_bytes()).unwrap();
    connection
}

#[test]
fn shedding_that_lasts_is_one_alert_and_one_end() {
    let hook = taker();
    let settings = &[("DAYLIGHT_SERVER_MAX_UPLOADS", "2"), ("DAYLIGHT_SERVER_CLIENT_SHARE_PERCENT", "100")];
    let mut world = World::start_in_conformance_with_file(&webhook("chat", &hook), settings);
    at(&world, "12:00:00");
    let admin = world.admin();
    let held: Vec<Connection> = (0..2).map(|number| held(&world, number)).collect();
    let taken = "daylight_bound_used{bound=\"requests\",which=\"uploads\"} 2\n";
    await_true("both places are taken", || world.anon().get("/metrics").expect(200).text().contains(taken));
    let shed = || {
        (0..30).for_each(|_| drop(admin.ask("PUT", "/repository/maven-releases/a/b/1/b-1.jar", &[], b"x").expect(503)))
    };
    // It stops and begins again, while the finding is open.
    for time in ["12:04:00", "12:10:00", "12:16:00", "12:30:00"] {
        shed();
        at(&world, time);
    }
    drop(held);
    let id = "class-too-narrow@bound:requests/uploads";
    await_true("it is told", || told(&hook).contains(&format!("+{id}")));
    ends(&mut world);
    await_true("its end is told", || told(&hook).contains(&format!("-{id}")));
    let of: Vec<String> = told(&hook).into_iter().filter(|told| told[1..] == *id).collect();
    assert_eq!(of, [format!("+{id}"), format!("-{id}")]);
}

#[test]
fn a_full_accept_queue_is_one_alert_and_one_end() {
    let hook = taker();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 8).unwrap();
    let mut world = World::start_in_conformance_on_with_file(listener, &webhook("chat", &hook));
    let (caller, mut open) = (world.anon(), world.anon().connect().unwrap());
    let set_time = |open: &mut Connection, time: &str| {
        let path = format!("/repository/{}/set_time", crate::world::FIRST);
        let moment = format!("2026-11-02T{time}Z");
        caller.on(open, "POST", &path, &[("Content-Type", "text/plain")], moment.as_bytes()).unwrap().expect(200);
    };
    set_time(&mut open, "12:00:00");
    crate::findings::incident::sampled_at(&world, "2026-11-02T12:00:00Z");
    // Without a free descriptor it accepts nothing, so the kernel drops connections.
    let id = Pid::from_raw(world.id()).unwrap();
    let none = Rlimit { current: Some(3), ..getrlimit(Resource::Nofile) };
    let before = prlimit(Some(id), Resource::Nofile, none).unwrap();
    let connect = |ms| TcpStream::connect_timeout(&world.address(), Duration::from_millis(ms));
    let waiting: Vec<_> = (0..9).map(|_| connect(1000).unwrap()).collect();
    (0..15).for_each(|_| assert!(connect(20).is_err()));
    let full = "daylight_bound_used{bound=\"accept.queue\"";
    crate::world::eventually(|| {
        set_time(&mut open, "12:00:00");
        let page = caller.on(&mut open, "GET", "/metrics", &[], b"").unwrap().expect(200);
        let line = page.text().lines().find(|line| line.starts_with(full)).unwrap().to_owned();
        if line.ends_with(" 9") { Ok(()) } else { Err(line) }
    });
    prlimit(Some(id), Resource::Nofile, before).unwrap();
    drop((waiting, open));
    crate::findings::incident::sampled_at(&world, "2026-11-02T12:00:00Z");
    at(&world, "12:00:30");
    at(&world, "12:06:30");
    at(&world, "12:12:30");
    let address = world.address();
    let id = format!("accept-queue-overflows@bound:accept.queue/{address}");
    await_true("it is told", || told(&hook).contains(&format!("+{id}")));
    ends(&mut world);
    await_true("its end is told", || told(&hook).contains(&format!("-{id}")));
    let of: Vec<String> = await_told(&hook, 2).into_iter().filter(|told| told[1..] == *id).collect();
    assert_eq!(of, [format!("+{id}"), format!("-{id}")]);
}
