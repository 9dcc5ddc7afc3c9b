//! Names that are moved after an operator chose them. A test sets the addresses.

use super::*;
use crate::ssrf::Networks;
use crate::zone::Zone;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

type Table = Arc<Mutex<HashMap<String, Vec<IpAddr>>>>;

/// A world in which names have the addresses of the table.
fn world(networks: Networks) -> (World, Table) {
    let mut world = World::new();
    let table = Table::default();
    let options = HostsOptions { timeouts: QUICK, networks, ..HostsOptions::default() };
    world.hosts = Hosts::with_table(world.recorder.clone(), options, table.clone());
    (world, table)
}

fn resolve(table: &Table, name: &str, addresses: &[&str]) {
    let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
    table.lock().unwrap().insert(name.to_owned(), addresses);
}

/// The URL of a local server by another name.
fn by_name(there: &StandIn, name: &str) -> String {
    there.url.replace("127.0.0.1", name)
}

#[test]
fn where_an_upstream_is_first_found_is_remembered_and_told_once() {
    let there = StandIn::new([("/a", ok("hello"))]);
    let (world, table) = world(Networks::default());
    let url = by_name(&there, "files.test");
    let upstream = world.upstream(&[&url]);
    assert_eq!(world.get(&upstream, "a"), Err("unresolved"));
    assert_eq!(upstream.newly_pinned(), []);
    resolve(&table, "files.test", &["127.0.0.1"]);
    for _ in 0..2 {
        assert_eq!(world.get(&upstream, "a"), Ok((200, "hello".into())));
    }
    let host = url.strip_prefix("http://").unwrap().to_owned();
    assert_eq!(upstream.newly_pinned(), [(host.clone(), Zone::Loopback)]);
    assert_eq!((upstream.newly_pinned(), there.connections()), (vec![], 1));
    // Another call expects the zone that the name first resolved to.
    resolve(&table, "files.test", &["169.254.169.254", "127.0.0.1"]);
    let pinned = vec![(host, Zone::Loopback)];
    let again = world.upstream_with(&[&url], UpstreamOptions { pinned, ..UpstreamOptions::default() });
    assert_eq!(world.get(&again, "a"), Ok((200, "hello".into())));
}

#[test]
fn a_name_that_moves_further_in_is_called_no_more_and_no_kept_connection_leads_there() {
    let there = StandIn::new([("/a", ok("hello"))]);
    let (world, table) = world(Networks::default());
    let url = by_name(&there, "files.test");
    resolve(&table, "files.test", &["127.0.0.1"]);
    // Another repository, which was configured when the name was already inside, has left a connection.
    let other = world.upstream(&[&url]);
    assert_eq!(world.get(&other, "a"), Ok((200, "hello".into())));
    for zone in [Zone::Public, Zone::Private] {
        let pinned = vec![(url.strip_prefix("http://").unwrap().to_owned(), zone)];
        let moved = world.upstream_with(&[&url], UpstreamOptions { pinned, ..UpstreamOptions::default() });
        for address in
            ["127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b:1::127.0.0.1", "::127.0.0.1"]
        {
            resolve(&table, "files.test", &[address]);
            let error = world.get_if(&moved, "a", &Conditions::default()).unwrap_err();
            assert_eq!(error.label(), "moved_inside", "{address}");
            assert!(error.to_string().contains(zone.as_str()) && error.hint().is_some(), "{error}");
        }
    }
    assert_eq!(there.connections(), 1);
}

#[test]
fn no_upstream_is_on_the_link_unless_that_is_allowed_and_none_inside_where_that_is_not() {
    let there = StandIn::new([("/a", ok("hello"))]);
    let (world, table) = self::world(Networks::default());
    let url = by_name(&there, "files.test");
    for address in ["169.254.169.254", "fe80::1", "fd00:ec2::254", "64:ff9b::169.254.169.254", "::ffff:169.254.169.254"]
    {
        resolve(&table, "files.test", &[address]);
        let error = world.get_if(&world.upstream(&[&url]), "a", &Conditions::default()).unwrap_err();
        assert_eq!(error.label(), "network_not_allowed", "{address}");
        assert!(error.hint().unwrap().contains("upstream.link_local_networks"), "{error}");
    }
    let refused = |networks: Networks, url: &str| {
        let hosts = HostsOptions { networks, ..HostsOptions::default() };
        let options = UpstreamOptions { urls: vec![url.to_owned()], ..UpstreamOptions::default() };
        Upstream::new(options, Hosts::new(world.recorder.clone(), hosts)).is_err()
    };
    let public = Networks { private: false, link_local: false };
    assert!(
        refused(Networks::default(), "http://169.254.169.254/") && refused(Networks::default(), "http://[fe80::1]/")
    );
    assert!(!refused(Networks { private: true, link_local: true }, "http://169.254.169.254/"));
    assert!(
        refused(public, "http://10.0.0.1/")
            && refused(public, "http://localhost/")
            && !refused(public, "http://192.0.2.1/")
    );
    // The zone of a name is known only when it is resolved.
    let (world, table) = self::world(public);
    resolve(&table, "files.test", &["127.0.0.1", "10.0.0.1"]);
    assert_eq!(world.get(&world.upstream(&[&url]), "a"), Err("network_not_allowed"));
    assert_eq!(there.connections(), 0);
}
