//! `/versions` and `/info` change together: who has seen a push in one of them sees it in the other.

use super::GROUP;
use crate::world::{Connection, FIRST, Gem, Person, World, hex};
use md5::{Digest, Md5};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

const NAMES: usize = 4;
/// Pushes of each name.
const PUSHES: usize = 40;

fn name(at: usize) -> String {
    format!("lamp-{at}")
}

fn fetch(person: &Person, connection: &mut Connection, repository: &str, file: &str) -> Vec<u8> {
    let path = format!("/repository/{repository}/{file}");
    person.on(connection, "GET", &path, &[], b"").unwrap().expect(200).body
}

/// The MD5 of the last line of a name.
fn last(versions: &[u8], name: &str) -> String {
    let lines = std::str::from_utf8(versions).unwrap().lines().rev();
    let mut of_name = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    of_name.next().unwrap().split_once(' ').unwrap().1.to_owned()
}

/// What a client saw of a name, in this order: `/info`, `/versions`, `/info`.
struct Seen {
    name: String,
    md5s: [String; 3],
}

#[test]
fn who_has_seen_a_push_in_versions_or_info_sees_it_in_the_other() {
    let world = World::start();
    world.gem_group(GROUP, &[FIRST]);
    let admin = world.admin();
    (0..NAMES).for_each(|at| drop(admin.push(FIRST, &Gem::new(&name(at), "0.1")).expect(200)));
    let pushing = AtomicUsize::new(NAMES);
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        for at in 0..NAMES {
            let (admin, pushing) = (&admin, &pushing);
            scope.spawn(move || {
                let connection = &mut admin.connect().unwrap();
                for number in 0..PUSHES {
                    let gem = Gem::new(&name(at), &format!("1.{number}")).bytes();
                    admin.push_on(connection, FIRST, &gem).unwrap().expect(200);
                }
                pushing.fetch_sub(1, Ordering::Relaxed);
            });
        }
        let readers = [FIRST, GROUP].map(|repository| {
            let (person, pushing) = (world.anon(), &pushing);
            scope.spawn(move || {
                let mut seen = Vec::new();
                let connection = &mut person.connect().unwrap();
                while pushing.load(Ordering::Relaxed) > 0 {
                    for name in (0..NAMES).map(name) {
                        let info = format!("info/{name}");
                        let before = hex(&Md5::digest(fetch(&person, connection, repository, &info)));
                        let versions = fetch(&person, connection, repository, "versions");
                        let after = hex(&Md5::digest(fetch(&person, connection, repository, &info)));
                        seen.push(Seen { md5s: [before, last(&versions, &name), after], name });
                    }
                }
                seen
            })
        });
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
    });
    // The hosted repository has one line for each push, in their order.
    let versions = admin.get(&format!("/repository/{FIRST}/versions")).expect(200);
    let lines = versions.text().lines().filter_map(|line| line.rsplit_once(' '));
    let order: HashMap<&str, usize> = lines.enumerate().map(|(at, (_, md5))| (md5, at)).collect();
    assert!(!seen.is_empty());
    for Seen { name, md5s } in &seen {
        let places: Vec<usize> = md5s.iter().map(|md5| order[&**md5]).collect();
        assert!(places.is_sorted(), "/info, /versions and /info of {name} were of the pushes {places:?}");
    }
}
