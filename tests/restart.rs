//! A restart in place: the program is replaced, and clients notice at most a closed connection. Also: sockets that
//! another process has bound.

use crate::world::{Answer, Connection, FIRST, Gem, Index, Passed, Person, World, await_true};
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Well below the idle time after which a restart closes a connection. A client that was delayed for longer opens a new
/// connection, as careful clients do.
const FRESH: Duration = Duration::from_millis(300);

/// Ends the load when dropped, also after a failure.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// A client that keeps its connection for as long as the server allows.
struct Keeper {
    person: Person,
    connection: Option<(Connection, Instant)>,
}

impl Keeper {
    fn new(person: Person) -> Self {
        Self { person, connection: None }
    }

    fn call(&mut self, ask: impl FnOnce(&Person, &mut Connection) -> io::Result<Answer>) -> Answer {
        let kept = self.connection.take().filter(|(_, since)| since.elapsed() < FRESH);
        // A refused connection or a lost reply ends the test here.
        let mut connection = kept.map_or_else(|| self.person.connect().unwrap(), |(kept, _)| kept);
        let answer = ask(&self.person, &mut connection).unwrap();
        if answer.header("connection") != Some("close") {
            self.connection = Some((connection, Instant::now()));
        }
        answer
    }
}

#[test]
fn a_restart_under_load_refuses_nobody_and_loses_no_reply() {
    // `make torture` restarts it more often.
    let restarts = std::env::var("DAYLIGHT_RESTARTS").map_or(3, |restarts| restarts.parse().unwrap());
    const READERS: usize = 4;
    const PUSHERS: usize = 2;
    let mut world = World::start();
    world.admin().push(FIRST, &Gem::new("seed", "1.0.0")).expect(200);
    let (readers, pushers) = (world.anon(), world.admin());
    let (over, reads, pushes) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let pushed: Vec<usize> = std::thread::scope(|scope| {
        for number in 0..READERS {
            let mut keeper = Keeper::new(readers.clone());
            let path = format!("/repository/{FIRST}/{}", ["versions", "info/seed"][number % 2]);
            let (over, reads) = (&over, &reads);
            scope.spawn(move || {
                while !over.load(Relaxed) {
                    keeper.call(|person, connection| person.on(connection, "GET", &path, &[], b"")).expect(200);
                    reads.fetch_add(1, Relaxed);
                }
            });
        }
        let pushing = (0..PUSHERS).map(|number| {
            let mut keeper = Keeper::new(pushers.clone());
            let (over, pushes) = (&over, &pushes);
            scope.spawn(move || {
                let mut mine = 0;
                while !over.load(Relaxed) {
                    let gem = Gem::new(&format!("load{number}"), &format!("{mine}.0.0")).payload(&[7; 20_000]).bytes();
                    keeper.call(|person, connection| person.push_on(connection, FIRST, &gem)).expect(200);
                    mine += 1;
                    pushes.fetch_add(1, Relaxed);
                }
                mine
            })
        });
        let pushing: Vec<_> = pushing.collect();
        let ends = Over(&over);
        for _ in 0..restarts {
            let before = (reads.load(Relaxed), pushes.load(Relaxed));
            while reads.load(Relaxed) < before.0 + 50 || pushes.load(Relaxed) < before.1 + 3 {
                // A thread that fails ends, and waiting for it would hang.
                assert!(pushing.iter().all(|thread| !thread.is_finished()), "a client failed");
                std::thread::yield_now();
            }
            world.restart();
        }
        drop(ends);
        pushing.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let index = Index::read(&world.anon(), FIRST);
    for (number, count) in pushed.into_iter().enumerate() {
        let name = format!("load{number}");
        let there = index.offered.keys().filter(|(found, _)| *found == name).count();
        assert_eq!(there, count, "every push that was acknowledged is there, and no other");
    }
    world.stop();
}

#[test]
fn a_program_that_would_not_start_does_not_take_the_place_of_one_that_serves() {
    let mut world = World::start_with_file("[server]\n");
    world.restart();
    world.configure("[server]\nlisten_to = 1\n");
    world.restart_in_vain();
    world.anon().get("/health/live").expect(200);
    world.configure("[server]\n");
    world.restart();
    world.stop();
}

#[test]
fn an_address_that_the_file_names_anew_is_warned_of_and_the_socket_stays() {
    let mut world = World::start_with_file("[server]\nlisten = \"127.0.0.1:0\"\n");
    world.reload("the repositories of the configuration file are in force");
    world.configure("[server]\nlisten = \"127.0.0.1:1\"\n");
    let warnings = |world: &World| world.log().matches("`server.listen` has changed").count();
    assert_eq!(warnings(&world), 0, "port 0 is any port: {}", world.log());
    world.reload("`server.listen` has changed");
    assert!(world.log().contains("wanted=127.0.0.1:1"), "{}", world.log());
    // This line ends a reload. Before it the server may read the file again, and would find the next change.
    await_true("both reloads ended", || world.log().matches("of the configuration file are in force").count() >= 2);
    world.configure("[server]\nlisten = \"127.0.0.1:1\"\n[store]\nundo = \"1h\"\n");
    world.reload("`store.undo` has changed: restart the server");
    // Also in place: the new program has the socket of the old one.
    world.restart();
    assert_eq!(warnings(&world), 3, "{}", world.log());
    world.anon().get("/health/live").expect(200);
    world.stop();
}

#[test]
fn a_socket_that_was_bound_before_is_served_and_its_waiting_clients_with_it() {
    for way in [Passed::AsInput, Passed::BySystemd] {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let mut early = Connection::open(address).unwrap();
        let mut world = World::start_on(socket, way);
        early.call("GET", "/health/live", &[], b"").unwrap().expect(200);
        assert_eq!(world.said().last().unwrap(), &format!("listening on http://{address}"));
        world.restart();
        world.anon().get("/health/live").expect(200);
        world.stop();
    }
}
