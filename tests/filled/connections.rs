//! The limits for clients: connections, and requests of a cost class.

use super::{Figures, Filled};
use crate::world::{Connection, FIRST, Gem, World};
use telemetry::BoundName;

/// Waits until a bound satisfies `is`.
#[track_caller]
fn until(world: &World, name: BoundName, which: &str, is: impl Fn(Filled) -> bool) -> Figures {
    for _ in 0..10_000 {
        let figures = Figures::of(world);
        if is(figures.bound(name, which)) {
            return figures;
        }
        std::thread::yield_now();
    }
    panic!("{name:?}: {:?}", Figures::of(world).bound(name, which))
}

#[test]
fn connections_beyond_the_limit_are_rejected_and_metrics_are_still_answered() {
    let world = World::start_with_file("[server]\nmax_connections = 4\nmax_connections_per_client = 4\n");
    let open = || {
        let mut connection = Connection::open(world.address()).unwrap();
        connection.send(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        connection.answer(false).unwrap().expect(200);
        connection
    };
    let _held: Vec<Connection> = (0..4).map(|_| open()).collect();
    world.anon().get("/").expect(503);
    let figures = until(&world, BoundName::Connections, "", |bound| bound.used == bound.limit && bound.rejected >= 1.0);
    for (name, setting) in [
        (BoundName::Connections, "server.max_connections"),
        (BoundName::ClientConnections, "server.max_connections_per_client"),
    ] {
        let bound = figures.governed(name, "", setting).bound(name, "");
        assert!(bound.peak == bound.limit && bound.rejected >= 1.0, "{name:?}: {bound:?}");
    }
    let reserved = figures.bound(BoundName::ReservedConnections, "");
    assert!(reserved.peak >= 1.0, "{reserved:?}");
}

/// Begins a push and does not end it.
fn hold_a_push(world: &World) -> Connection {
    let mut connection = world.admin().connect().unwrap();
    let head = format!(
        "POST /repository/{FIRST}/api/v1/gems HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Length: 1000\r\n\r\n",
        world.admin().secret()
    );
    connection.send(head.as_bytes()).unwrap();
    connection
}

#[test]
fn requests_beyond_the_places_of_their_class_are_rejected() {
    let world = World::start_with_file("[server]\nmax_uploads = 1\n");
    let _held = hold_a_push(&world);
    until(&world, BoundName::Requests, "uploads", |bound| bound.used == 1.0);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(503);
    let figures = Figures::of(&world);
    let bound =
        figures.governed(BoundName::Requests, "uploads", "server.max_uploads").bound(BoundName::Requests, "uploads");
    assert!(bound.used == bound.limit && bound.rejected == 1.0, "{bound:?}");
}

#[test]
fn requests_beyond_the_share_of_a_client_are_rejected() {
    let world = World::start_with_file("[server]\nmax_uploads = 2\n");
    let _held = hold_a_push(&world);
    until(&world, BoundName::Requests, "uploads", |bound| bound.used == 1.0);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(503);
    let figures = Figures::of(&world);
    let name = BoundName::ClientRequests;
    let bound = figures.governed(name, "uploads", "server.client_share_percent").bound(name, "uploads");
    assert!(bound.peak == bound.limit && bound.rejected == 1.0, "{bound:?}");
    assert_eq!(figures.bound(BoundName::Requests, "uploads").rejected, 0.0);
}
