//! Nodes that stop or restart say so first, so that a load balancer sends them nothing any more.

use super::balanced::{Told, configuration};
use super::{nodes_with, settings_of};
use crate::objects::shared;
use crate::systemd::Manager;
use crate::world::{
    ADMIN, Balancer, BalancerProduct, FIRST, Gem, Nodes, ObjectProduct, POSTGRES_PASSWORD, Person, Postgres, SetAtEnd,
    World, await_true, free_port,
};
use rustix::process::{Pid, Signal, kill_process};
use std::net::SocketAddr;

const VARIABLES: &[(&str, &str)] =
    &[("DAYLIGHT_SERVER_PUBLIC_URL", "https://gems.example"), ("DATABASE_PASSWORD", POSTGRES_PASSWORD)];
/// Longer than a test waits: another signal ends it.
const ENDLESS: &str = "drain_s = 300\n";

fn address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], free_port()))
}

/// The configuration of the manual without what sends a request twice, with faster checks, and with its own figures at another address.
fn without_retries(nodes: &Nodes, at: SocketAddr, figures: SocketAddr) -> String {
    let whole = configuration(BalancerProduct::HaProxy, nodes, at);
    let twice = ["retries", "option redispatch", "retry-on", "http-request disable-l7-retry"];
    let lines = whole.lines().filter(|line| !twice.iter().any(|word| line.trim_start().starts_with(word)));
    let once: String = lines.map(|line| format!("{line}\n")).collect();
    let once = once.replace("inter 1s", "inter 100ms").replace("defaults\n", "defaults\n    retries 0\n");
    format!("{once}\nlisten figures\n    bind {figures}\n    stats enable\n    stats uri /\n")
}

/// The rows of HAProxy about a node, one for each list of servers: whether it gets requests, and how many it has.
fn rows(figures: &Person, node: &str) -> Vec<(bool, u64)> {
    let told = figures.get("/;csv").expect(200);
    let mut lines = told.text().lines();
    let head: Vec<&str> = lines.next().unwrap().trim_start_matches("# ").split(',').collect();
    let column = |name: &str| head.iter().position(|known| *known == name).unwrap();
    let (name, status, open) = (column("svname"), column("status"), column("scur"));
    let cells = lines.map(|line| line.split(',').collect::<Vec<_>>()).filter(|cells| cells.get(name) == Some(&node));
    cells.map(|cells| (cells[status].starts_with("UP"), cells[open].parse().unwrap())).collect()
}

fn signal(world: &World, signal: Signal) {
    kill_process(Pid::from_raw(world.id()).unwrap(), signal).unwrap();
}

#[test]
fn no_request_fails_while_each_node_stops_or_restarts_although_none_is_sent_twice() {
    let mut nodes = nodes_with(3, (shared(ObjectProduct::SeaweedFs), "rolling"), ENDLESS, VARIABLES);
    nodes.admin(0).push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let (at, figures) = (address(), address());
    let _balancer = Balancer::start(BalancerProduct::HaProxy, &without_retries(&nodes, at, figures), at);
    let (client, figures) = (&Person::new(at, Some(ADMIN.to_owned())), Person::new(figures, None));
    let is_used = |node: &str| rows(&figures, node).iter().all(|(is_up, _)| *is_up);
    await_true("the balancer knows its nodes", || ["a", "b", "c"].into_iter().all(is_used));
    let told = &Told::default();
    std::thread::scope(|scope| {
        scope.spawn(|| told.read(client));
        scope.spawn(|| told.push(client, "oil"));
        scope.spawn(|| told.deploy(client));
        let _over = SetAtEnd(&told.over);
        told.await_more(30);
        for (number, how) in [(0, Signal::TERM), (1, Signal::TERM), (2, Signal::USR2)] {
            let (name, admin) = (["a", "b", "c"][number], nodes.admin(number));
            signal(&nodes.node(number).world, how);
            await_true("it says that it ends", || admin.get("/health/ready").status == 503);
            assert_eq!(admin.get("/health/ready").expect(503).text(), "not ready: draining\n");
            // It still answers everything.
            admin.get(&format!("/repository/{FIRST}/versions")).expect(200);
            admin.push(FIRST, &Gem::new("wick", &format!("{number}.0.{}", how.as_raw()))).expect(200);
            await_true("the balancer has left it", || rows(&figures, name) == [(false, 0); 2]);
            match how {
                Signal::TERM => {
                    nodes.node(number).world.stop();
                    nodes.node(number).world.resume();
                }
                _ => nodes.node(number).world.restart(),
            }
            await_true("the balancer uses it again", || is_used(name));
            told.await_more(30);
        }
    });
    assert_eq!(told.failed(), [""; 0]);
}

#[test]
fn a_node_drains_for_its_time_and_asks_systemd_for_more_and_one_without_others_does_not_drain() {
    let (postgres, manager) = (Postgres::start(), Manager::new());
    let node = |name: &str, more: &str, variables| {
        World::start_with_file_and(&(settings_of(&postgres, name) + more), variables)
    };
    let mut one = node("a", ENDLESS, VARIABLES);
    let mut other = node("b", "drain_s = 1\n", manager.variables(VARIABLES));
    let living = |count: u64| {
        let metrics = one.admin().get("/metrics").expect(200);
        metrics.text().contains(&format!("\ndaylight_cluster_nodes {count}\n"))
    };
    await_true("they know each other", || living(2));
    other.stop();
    let told = [manager.told(), manager.told(), manager.told()];
    assert!(told[0].starts_with("READY=1\n") && told[1].starts_with("STOPPING=1\n"), "{told:?}");
    assert_eq!(told[2], "EXTEND_TIMEOUT_USEC=91000000\n", "a second, and `TimeoutStopSec` of the unit");
    await_true("one is gone", || living(1));
    one.stop();
}
