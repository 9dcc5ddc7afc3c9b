//! Several servers with one database and one object storage, each on a machine with a clock of its own, and with wires to both.

use super::{ADMIN, ObjectServer, Person, Postgres, Wire, World, await_true, free_port};
use rustix::process::{Pid, Signal};
use std::net::SocketAddr;
use std::sync::Arc;

/// The servers, and what they share.
pub(crate) struct Nodes {
    // They end before the database.
    nodes: Vec<Node>,
    pub(crate) postgres: Postgres,
    pub(crate) storage: Arc<ObjectServer>,
}

/// A server that keeps its address.
pub(crate) struct Node {
    pub(crate) world: World,
    /// That to the database.
    pub(crate) wire: Wire,
    pub(crate) storage_wire: Wire,
    pub(crate) address: SocketAddr,
}

impl Nodes {
    /// Starts so many at the same time, on empty folders and an empty database. `cluster` and `store`: the settings of the two, without the
    /// name of the node.
    pub(crate) fn start(
        count: usize,
        (postgres, cluster): (Postgres, &str),
        (storage, store): (Arc<ObjectServer>, &str),
        environment: &'static [(&'static str, &'static str)],
    ) -> Self {
        let start = |number: usize| {
            let (wire, address) =
                (Wire::to(postgres.authority().parse().unwrap()), SocketAddr::from(([127, 0, 0, 1], free_port())));
            let storage_wire = Wire::to(storage.address());
            let cluster = cluster.replace(&postgres.authority(), &wire.address().to_string());
            let store = store.replace(&storage.address().to_string(), &storage_wire.address().to_string());
            let name = char::from(b'a' + u8::try_from(number).unwrap());
            let settings = format!("[server]\nlisten = \"{address}\"\n\n{cluster}node = \"{name}\"\n\n{store}");
            Node { world: World::start_on_own_machine(&settings, environment), wire, storage_wire, address }
        };
        let nodes = std::thread::scope(|scope| {
            let started: Vec<_> = (0..count).map(|number| scope.spawn(move || start(number))).collect();
            started.into_iter().map(|node| node.join().unwrap()).collect()
        });
        Self { nodes, postgres, storage }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The object storage, which nobody else uses.
    pub(crate) fn own_storage(&mut self) -> &mut ObjectServer {
        Arc::get_mut(&mut self.storage).unwrap()
    }

    /// Waits until a node knows all changes of the database, and is fresh. A change of which nothing is known may be made after all.
    pub(crate) fn await_whole(&self, number: usize) {
        let admin = self.admin(number);
        await_true("a node knows all changes", || {
            let counter = self.postgres.sql("SELECT seq FROM daylight.counter");
            let metrics = admin.get("/metrics").expect(200);
            let knows = metrics.text().contains(&format!("\ndaylight_journal_seq {counter}\n"));
            knows && admin.get("/health/ready?fresh").status == 200
        });
    }

    /// Where they listen, in their order.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.nodes.iter().map(|node| node.address)
    }

    /// The bytes that all of them have sent to the database so far, and got from it.
    pub(crate) fn wire_bytes(&self) -> (u64, u64) {
        let passed = self.nodes.iter().map(|node| node.wire.passed());
        passed.fold((0, 0), |sum, [to, from]| (sum.0 + to, sum.1 + from))
    }

    /// One of them.
    pub(crate) fn node(&mut self, number: usize) -> &mut Node {
        &mut self.nodes[number]
    }

    /// A caller of one of them with the admin token. It stays one when the server is killed and started again.
    pub(crate) fn admin(&self, number: usize) -> Person {
        Person::new(self.nodes[number].address, Some(ADMIN.to_owned()))
    }

    /// Such a caller of each.
    pub(crate) fn admins(&self) -> Vec<Person> {
        (0..self.count()).map(|number| self.admin(number)).collect()
    }
}

impl Node {
    /// Suspends its process: its port accepts connections, and nothing is answered.
    pub(crate) fn suspend(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it run on.
    pub(crate) fn run_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_raw(self.world.id()).unwrap(), signal).unwrap();
    }
}
