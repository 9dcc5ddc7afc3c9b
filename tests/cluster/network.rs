//! Three nodes, PostgreSQL with a standby, object storage and HAProxy, each on a host of its own: cables are pulled out, and cut in one direction.

use super::balanced::{PUSHERS, READERS, Told, of_manual};
use super::{VARIABLES, journal, settings_of_all};
use crate::world::{
    ADMIN, Answer, Balancer, BalancerProduct, FIRST, Gem, Index, Network, ObjectProduct, ObjectServer, Person,
    Postgres, SetAtEnd, World, await_true,
};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;

const fn host(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, number)
}

/// The addresses of the manual.
const NODES: [(&str, Ipv4Addr); 3] = [("a", host(11)), ("b", host(12)), ("c", host(13))];
const BALANCER: (&str, Ipv4Addr) = ("balancer", host(10));
const PRIMARY: (&str, Ipv4Addr) = ("primary", host(21));
const STANDBY: (&str, Ipv4Addr) = ("standby", host(22));
const STORAGE: (&str, Ipv4Addr) = ("storage", host(30));
const CLIENT: (&str, Ipv4Addr) = ("client", host(40));
/// The address at which nodes look for the database.
const DATABASE: Ipv4Addr = host(20);
const DATABASE_PORT: u16 = 5432;
const PORT: u16 = 8080;

/// The hosts, and what runs on them. Everything ends before the network.
struct Site {
    _balancer: Balancer,
    /// Kept only, and so that threads can share the rest.
    _nodes: Mutex<Vec<World>>,
    primary: Postgres,
    standby: Postgres,
    _storage: ObjectServer,
    network: Network,
}

impl Site {
    fn start() -> Self {
        let others = [BALANCER, PRIMARY, STANDBY, STORAGE, CLIENT];
        let network = Network::of(&[&NODES[..], &others].concat());
        let at_storage = || ObjectServer::start_at(ObjectProduct::SeaweedFs, STORAGE.1);
        let (storage, primary, standby) = std::thread::scope(|scope| {
            let storage = scope.spawn(|| network.on(STORAGE.0, at_storage));
            let primary = network.on(PRIMARY.0, || Postgres::start_for_others(DATABASE_PORT));
            network.give(PRIMARY.0, DATABASE);
            let of = SocketAddr::from((PRIMARY.1, DATABASE_PORT));
            let standby = network.on(STANDBY.0, || Postgres::start_standby(of));
            (storage.join().unwrap(), primary, standby)
        });
        let database = format!("{DATABASE}:{DATABASE_PORT}");
        let cluster = settings_of_all(&primary).replace(&primary.authority(), &database);
        let store = storage.settings("network", &storage.url());
        let start = |(name, address): (&'static str, Ipv4Addr)| {
            let listen = format!("[server]\nlisten = \"{address}:{PORT}\"\n\n");
            let settings = format!("{listen}{cluster}node = \"{name}\"\n\n{store}");
            network.on(name, || World::start_with_file_and(&settings, VARIABLES))
        };
        let nodes = std::thread::scope(|scope| {
            let started = NODES.map(|node| scope.spawn(move || start(node)));
            started.into_iter().map(|node| node.join().unwrap()).collect::<Vec<_>>()
        });
        let address = SocketAddr::from((BALANCER.1, PORT));
        let balance = || Balancer::start(BalancerProduct::HaProxy, &of_manual(BalancerProduct::HaProxy), address);
        let balancer = network.on(BALANCER.0, balance);
        Self { _balancer: balancer, _nodes: nodes.into(), primary, standby, _storage: storage, network }
    }

    /// Asks a node on its own host, which it can be although the cable is pulled out.
    fn at<T: Send>(&self, node: usize, ask: impl FnOnce(&Person) -> T + Send) -> T {
        let (name, address) = NODES[node];
        let admin = Person::new(SocketAddr::from((address, PORT)), Some(ADMIN.to_owned()));
        self.network.on(name, || ask(&admin))
    }

    fn versions(&self, node: usize) -> Answer {
        self.at(node, |admin| admin.file(FIRST, "versions").expect(200))
    }

    fn push(&self, node: usize, version: &str) -> Answer {
        self.at(node, |admin| admin.push(FIRST, &Gem::new("lamp", version)))
    }

    fn await_fresh(&self, node: usize) {
        await_true("answers are fresh", || self.at(node, |admin| admin.get("/health/ready?fresh").status) == 200);
    }

    /// What all nodes offer, when each has caught up.
    fn index(&self) -> Index {
        (0..NODES.len()).for_each(|node| self.await_fresh(node));
        let mut indexes: Vec<Index> =
            (0..NODES.len()).map(|node| self.at(node, |admin| Index::read(admin, FIRST))).collect();
        assert!(indexes.iter().all(|index| *index == indexes[0]), "{indexes:?}");
        indexes.remove(0)
    }
}

fn is_stale(answer: &Answer) -> bool {
    answer.header("daylight-stale") == Some("truth_unreachable")
}

#[test]
fn when_a_node_is_unplugged_no_requests_fail_but_those_that_it_had_and_it_says_that_it_may_be_stale() {
    let (site, told) = (Site::start(), &Told::default());
    site.push(0, "1.0.0").expect(200);
    let client = &Person::new(SocketAddr::from((BALANCER.1, PORT)), Some(ADMIN.to_owned()));
    site.network.on(CLIENT.0, || {
        await_true("the balancer knows its nodes", || client.get("/health/ready").status == 200);
        std::thread::scope(|scope| {
            (0..READERS).for_each(|_| drop(scope.spawn(|| told.read(client))));
            (0..PUSHERS).for_each(|number| drop(scope.spawn(move || told.push(client, &format!("oil-{number}")))));
            let _over = SetAtEnd(&told.over);
            told.await_more(50);
            site.network.unplug("a");
            told.await_more(200);
            await_true("it says so", || is_stale(&site.versions(0)));
            site.network.plug_in("a");
            site.await_fresh(0);
            told.await_more(50);
        });
    });
    assert!(told.failed().len() <= READERS + PUSHERS, "{:?}", told.failed());
    let (index, pushed) = (site.index(), told.pushed.lock().unwrap());
    let is_there = |version: &String| index.offered.contains_key(&("oil-0".to_owned(), version.clone()));
    assert!(!pushed.is_empty() && pushed.iter().all(is_there), "{pushed:?}, {index:?}");
    println!("{} requests failed when a node was unplugged: {:?}", told.failed().len(), told.failed());
}

#[test]
fn a_node_that_is_cut_off_in_one_direction_calls_nothing_fresh_that_lacks_an_acknowledged_change() {
    let site = Site::start();
    for (round, (from, to)) in [("a", PRIMARY.0), (PRIMARY.0, "a")].into_iter().enumerate() {
        site.network.cut(from, to);
        for number in 0.. {
            let version = format!("{round}.{number}.0");
            site.push(1, &version).expect(200);
            let there = site.versions(0);
            assert!(is_stale(&there) || there.text().contains(&version), "from {from} to {to}: {there:?}");
            if is_stale(&there) {
                break;
            }
        }
        await_true("the others hear the database", || !is_stale(&site.versions(2)));
        site.network.mend();
        site.await_fresh(0);
        site.push(0, &format!("{round}.9.9")).expect(200);
    }
    site.index();
    site.network.on(PRIMARY.0, || journal(&site.primary));
}

#[test]
fn when_the_primary_is_unplugged_and_the_standby_has_its_address_nodes_go_on_and_nothing_is_lost() {
    let site = Site::start();
    let push = |node: usize, version: &str| drop(site.push(node, version).expect(200));
    push(0, "1.0.0");
    await_true("the standby follows", || {
        let rows = || site.network.on(PRIMARY.0, || site.primary.sql("SELECT seq FROM daylight.counter"));
        site.network.on(STANDBY.0, || site.standby.sql("SELECT seq FROM daylight.counter")) == rows()
    });
    // These it does not get.
    site.network.cut(PRIMARY.0, STANDBY.0);
    (0..NODES.len()).for_each(|node| push(node, &format!("2.{node}.0")));
    let rows = site.network.on(PRIMARY.0, || journal(&site.primary));
    site.network.unplug(PRIMARY.0);
    site.network.on(STANDBY.0, || site.standby.promote());
    let kept = site.network.on(STANDBY.0, || journal(&site.standby));
    assert!(kept.len() < rows.len(), "the standby lacks changes");
    site.network.give(STANDBY.0, DATABASE);
    let nodes = 0..NODES.len();
    let go_on = |node: usize| await_true("changes go on", || site.push(node, &format!("3.{node}.0")).status == 200);
    nodes.clone().for_each(go_on);
    let now = site.network.on(STANDBY.0, || journal(&site.standby));
    assert_eq!(now[..rows.len()], rows);
    let index = site.index();
    nodes.for_each(|node| site.at(node, |admin| index.download(admin, FIRST)));
    assert_eq!(index.offered.len(), 1 + 3 + 3);
}
