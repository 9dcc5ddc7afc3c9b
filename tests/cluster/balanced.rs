//! Three nodes behind HAProxy and nginx, each with the configuration of the manual, while nodes are killed and restarted.

use crate::manual::page;
use crate::objects::shared;
use crate::world::{
    ADMIN, Answer, Balancer, BalancerProduct, Connection, FIRST, Gem, Index, Nodes, ObjectProduct, Person, SetAtEnd,
    await_true, free_port,
};
use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

pub(super) const READERS: usize = 2;
pub(super) const PUSHERS: usize = 1;

/// The configuration of a balancer in the manual. On a busy machine a node may take longer than a second to answer a check.
pub(super) fn of_manual(product: BalancerProduct) -> String {
    let language = match product {
        BalancerProduct::HaProxy => "haproxy",
        BalancerProduct::Nginx => "nginx",
    };
    let blocks = page::blocks("docs/many-nodes.md");
    let text = blocks.into_iter().find(|block| block.language == language).unwrap().text;
    text.replace("defaults\n", "defaults\n    timeout check 5s\n")
}

/// The same for these nodes and its own address.
pub(super) fn configuration(product: BalancerProduct, nodes: &Nodes, address: SocketAddr) -> String {
    let there = (11..).zip(nodes.addresses()).map(|(host, address)| (format!("10.0.0.{host}:8080"), address));
    let all = there.chain([("10.0.0.10:8080".to_owned(), address)]);
    all.fold(of_manual(product), |text, (name, address)| text.replace(&name, &address.to_string()))
}

/// What clients of a balancer were told.
#[derive(Default)]
pub(super) struct Told {
    answered: AtomicUsize,
    /// Requests without an answer, or with another one than 200 or 201.
    failed: Mutex<Vec<String>>,
    pub(super) pushed: Mutex<Vec<String>>,
    pub(super) over: AtomicBool,
}

impl Told {
    pub(super) fn failed(&self) -> Vec<String> {
        self.failed.lock().unwrap().clone()
    }

    /// Waits until the clients have got so many more answers.
    pub(super) fn await_more(&self, answers: usize) {
        let before = self.answered.load(SeqCst);
        await_true("clients go on", || self.answered.load(SeqCst) >= before + answers);
    }

    /// Does requests, one after the other on a connection, until it is over.
    fn requests(&self, client: &Person, mut one: impl FnMut(&mut Connection) -> io::Result<Answer>) {
        let mut connection = client.connect().unwrap();
        while !self.over.load(SeqCst) {
            let answer = one(&mut connection);
            // nginx ends a connection after a thousand requests, and says so before.
            let goes_on = |answer: &Answer| answer.header("connection") != Some("close");
            if !answer.as_ref().is_ok_and(goes_on) {
                connection = client.connect().unwrap();
            }
            match answer {
                Ok(answer) if matches!(answer.status, 200 | 201) => drop(self.answered.fetch_add(1, SeqCst)),
                other => self.failed.lock().unwrap().push(format!("{other:?}")),
            }
        }
    }

    /// Reads until it is over.
    pub(super) fn read(&self, client: &Person) {
        let paths = ["versions", "info/lamp", "gems/lamp-1.0.0.gem", "names"];
        let mut next = paths.iter().cycle();
        self.requests(client, |connection| {
            let path = format!("/repository/{FIRST}/{}", next.next().unwrap());
            client.on(connection, "GET", &path, &[], b"")
        });
    }

    /// Deploys releases of a module: a file, and the POM that lists it.
    pub(super) fn deploy(&self, client: &Person) {
        let mut versions = 1..;
        let (mut version, mut kinds) = (0, ["jar", "pom"].into_iter().cycle());
        self.requests(client, |connection| {
            let kind = kinds.next().unwrap();
            version = if kind == "jar" { versions.next().unwrap() } else { version };
            let path = format!("/repository/maven-releases/org/example/lamp/{version}/lamp-{version}.{kind}");
            let body = match kind {
                "jar" => format!("lamp {version}"),
                _ => format!(
                    "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>lamp</artifactId>\
                     <version>{version}</version></project>"
                ),
            };
            client.on(connection, "PUT", &path, &[], body.as_bytes())
        });
    }

    /// Pushes versions of a gem until it is over.
    pub(super) fn push(&self, client: &Person, name: &str) {
        let mut versions = 1..;
        self.requests(client, |connection| {
            let gem = Gem::new(name, &format!("{}.0", versions.next().unwrap()));
            let answer = client.push_on(connection, FIRST, &gem.bytes())?;
            if answer.status == 200 {
                self.pushed.lock().unwrap().push(gem.version);
            }
            Ok(answer)
        });
    }
}

/// Lets clients of a balancer work meanwhile, and looks for each acknowledged push on every node.
fn under_load(product: BalancerProduct, nodes: &mut Nodes, meanwhile: impl FnOnce(&mut Nodes, &Told)) {
    let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let _balancer = Balancer::start(product, &configuration(product, nodes, address), address);
    let (client, told) = (&Person::new(address, Some(ADMIN.to_owned())), &Told::default());
    await_true("the balancer knows its nodes", || client.get("/health/ready").status == 200);
    let name = |pusher: usize| format!("{product:?}-{pusher}").to_lowercase();
    std::thread::scope(|scope| {
        (0..READERS).for_each(|_| drop(scope.spawn(|| told.read(client))));
        (0..PUSHERS).for_each(|pusher| drop(scope.spawn(move || told.push(client, &name(pusher)))));
        let _over = SetAtEnd(&told.over);
        told.await_more(50);
        meanwhile(nodes, told);
        told.await_more(50);
    });
    (0..nodes.count()).for_each(|number| nodes.await_whole(number));
    let indexes: Vec<Index> = nodes.admins().iter().map(|admin| Index::read(admin, FIRST)).collect();
    assert!(indexes.iter().all(|index| *index == indexes[0]), "{indexes:?}");
    let pushed = told.pushed.lock().unwrap();
    let of_load =
        indexes[0].offered.keys().filter(|(name, _)| name.starts_with(&format!("{product:?}-").to_lowercase()));
    assert!(!pushed.is_empty() && of_load.count() >= pushed.len(), "{} pushes, {indexes:?}", pushed.len());
}

/// Waits until a balancer passes requests to a node again.
fn await_requests(nodes: &Nodes, number: usize) {
    let admin = nodes.admin(number);
    let count = || {
        let metrics = admin.get("/metrics").expect(200);
        let of_gems = metrics.text().lines().filter(|line| line.starts_with("daylight_requests_total{format=\"gem\""));
        of_gems.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum::<f64>()
    };
    let before = count();
    await_true("the node gets requests", || count() > before);
}

#[test]
fn a_node_that_is_killed_costs_the_requests_that_were_open_and_one_that_is_restarted_costs_none() {
    let mut nodes = super::nodes(3, (shared(ObjectProduct::SeaweedFs), "balanced"), "");
    nodes.admin(0).push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    for product in [BalancerProduct::HaProxy, BalancerProduct::Nginx] {
        under_load(product, &mut nodes, |nodes, told| {
            nodes.node(0).world.kill();
            told.await_more(100);
            nodes.node(0).world.resume();
            await_requests(nodes, 0);
            let lost = told.failed().len();
            assert!(lost <= READERS + PUSHERS, "{product:?}: {:?}", told.failed());
            for number in 0..nodes.count() {
                nodes.node(number).world.stop();
                nodes.node(number).world.resume();
                await_requests(nodes, number);
            }
            assert_eq!(told.failed().len(), lost, "{product:?}: {:?}", told.failed());
            println!("{product:?}: {lost} requests failed when a node was killed, and none when three were restarted");
        });
    }
}
