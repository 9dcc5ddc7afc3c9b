//! Names that the upstream does not list, and private and denied ones: no protocol sends one of them to the upstream.

use super::shelf::{Shelf, before, lamp_and_oil};
use super::{LATER, REMOTE, get, set};
use crate::world::{Client, Ruby, World};
use serde_json::json;

crate::world::with_each_client!([no_name_reaches_the_upstream_whatever_a_client_does_to_find_it]);

/// The number of names of each kind.
const NAMES: usize = 350;
/// Every request of clients and programs that names a gem.
const PROTOCOLS: [&str; 13] = [
    "info/NAME",
    "gems/NAME-9.9.9.gem",
    "gems/NAME-9.9.9-java.gem",
    "downloads/NAME-9.9.9.gem",
    "quick/Marshal.4.8/NAME-9.9.9.gemspec.rz",
    "api/v1/dependencies?gems=lamp,NAME",
    "api/v1/dependencies.json?gems=NAME",
    "api/v1/gems/NAME.json",
    "api/v1/versions/NAME.json",
    "api/v1/versions/NAME/latest.json",
    "api/v2/rubygems/NAME/versions/9.9.9.json",
    "api/v1/attestations/NAME-9.9.9.json",
    "api/v1/downloads/NAME-9.9.9.json",
];

/// Names that the upstream does not list, and as many private and denied ones, of which it lists every tenth.
fn names() -> Vec<String> {
    (0..NAMES).flat_map(|at| ["missing", "acme", "denied"].map(|kind| format!("{kind}-{at}"))).collect()
}

/// An upstream with gems under these names, and a server whose policy makes them private or denies them.
fn squatted() -> (Shelf, World) {
    let mut shelf = lamp_and_oil();
    for at in (0..NAMES).step_by(10) {
        shelf.lists(&[&format!("acme-{at} 9.9.9"), &format!("denied-{at} 9.9.9")]);
    }
    let world = before(&shelf.upstream);
    set(&world, &json!({ "private_prefixes": ["acme-"], "deny": ["denied-*"] }));
    (shelf, world)
}

#[track_caller]
fn assert_silent(shelf: &Shelf) {
    let told = shelf.asked();
    assert!(!told.iter().any(|path| ["missing", "acme", "denied"].iter().any(|kind| path.contains(kind))), "{told:?}");
}

#[test]
fn of_a_thousand_unknown_private_and_denied_names_none_reaches_the_upstream_in_any_protocol() {
    let (shelf, world) = squatted();
    let (anon, mut connection) = (world.anon(), world.anon().connect().unwrap());
    for name in names() {
        for path in PROTOCOLS.map(|path| format!("/repository/{REMOTE}/{}", path.replace("NAME", &name))) {
            let answer = anon.on(&mut connection, "GET", &path, &[], b"").unwrap();
            assert!(answer.status < 500 || answer.status == 501, "{path}: {}", answer.status);
            let told = String::from_utf8_lossy(&answer.body);
            assert!(answer.status >= 400 || !told.contains(&name), "{path}: {told}");
        }
    }
    // Of a name that it lists, clients may have an older file.
    assert_eq!(get(&world, "info/acme-0").expect(200).text(), "---\n");
    assert!(get(&world, "gems/acme-0-9.9.9.gem").expect(403).text().contains("private"));
    assert_eq!(get(&world, "names").expect(200).text(), "---\nlamp\noil\n");
    assert_silent(&shelf);
    // The only one of these requests that is not about a gem.
    assert!(shelf.upstream.count("/versions") > 0);
}

fn no_name_reaches_the_upstream_whatever_a_client_does_to_find_it(client: Client) {
    let (shelf, world) = squatted();
    let url = world.url(REMOTE);
    let gems: Vec<String> = names().iter().map(|name| format!("gem '{name}'")).collect();
    let machine = Ruby::with(client);
    let app = machine.app("app", &url, &gems.join("\n"));
    app.bundle(&["lock"]).bad();
    app.bundle(&["install", "--full-index"]).bad();
    world.set_time(LATER);
    let names = names()[..10].join(" ");
    let said = machine.shell("", &format!("gem install --clear-sources --source {url} {names}")).bad();
    assert!(said.contains("missing-0") && said.contains("acme-2"), "{said}");
    assert_silent(&shelf);
}
