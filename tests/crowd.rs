//! Many clients push while many resolve. Nothing is lost, nobody is refused, and every reader sees a consistent state.
//! `DAYLIGHT_CROWD` sets the number of gems; the default is 400.

use crate::world::{Connection, FIRST, Gem, Index, Person, Ruby, World, hex};
use md5::{Digest, Md5};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

const PUSHERS: usize = 64;
const RESOLVERS: usize = 64;
/// One gem in this number has a second version, which another client pushes.
const TWICE: usize = 4;

/// The gem with this number. The first versions come first, then the second ones.
fn gem(number: usize, gems: usize) -> Gem {
    let (at, version) = if number < gems { (number, "1.0.0") } else { ((number - gems) * TWICE, "1.1.0") };
    let gem = Gem::new(&format!("lamp{at}"), version);
    // The gems depend on each other in small trees.
    if at % 10 == 0 { gem } else { gem.needs(&format!("lamp{}", at - at % 10), ">= 1.0") }
}

/// An observation of a client: the `/info` of a gem by its MD5, after `/versions` had the same MD5 or another one.
struct Seen {
    name: String,
    told: String,
    found: String,
}

fn read(person: &Person, connection: &mut Connection, what: &str) -> Vec<u8> {
    let path = format!("/repository/{FIRST}/{what}");
    person.on(connection, "GET", &path, &[], b"").unwrap().expect(200).body
}

/// The names in an index with their MD5s, in order.
fn told(versions: &[u8]) -> Vec<(&str, &str)> {
    let text = std::str::from_utf8(versions).unwrap();
    let lines = text.split_once("---\n").unwrap().1.lines();
    lines.map(|line| (line.split(' ').next().unwrap(), line.rsplit(' ').next().unwrap())).collect()
}

/// An index that was read: its length and its MD5.
type Length = (usize, String);

/// Reads the index and a few of its newest gems until everything is pushed. Returns the lengths and MD5s of the
/// indexes, and the observations.
fn resolve(person: &Person, pushed: &AtomicUsize, all: usize) -> (Vec<Length>, Vec<Seen>) {
    let connection = &mut person.connect().unwrap();
    let (mut indexes, mut seen) = (Vec::new(), Vec::new());
    loop {
        let last = pushed.load(SeqCst) == all;
        let versions = read(person, connection, "versions");
        let newest: HashMap<&str, &str> = told(&versions).into_iter().rev().take(8).rev().collect();
        for (name, sum) in newest {
            let found = hex(&Md5::digest(read(person, connection, &format!("info/{name}"))));
            seen.push(Seen { name: name.to_owned(), told: sum.to_owned(), found });
        }
        indexes.push((versions.len(), hex(&Md5::digest(&versions))));
        if last {
            return (indexes, seen);
        }
    }
}

/// Pushes the next gem until there are none.
fn push(person: &Person, next: &AtomicUsize, pushed: &AtomicUsize, gems: usize, all: usize) {
    let connection = &mut person.connect().unwrap();
    loop {
        let number = next.fetch_add(1, SeqCst);
        if number >= all {
            return;
        }
        person.push_on(connection, FIRST, &gem(number, gems).bytes()).unwrap().expect(200);
        pushed.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_crowd_that_pushes_and_a_crowd_that_resolves_see_one_index() {
    let gems: usize = std::env::var("DAYLIGHT_CROWD").map_or(400, |text| text.parse().unwrap());
    let all = gems + gems.div_ceil(TWICE);
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    let (next, pushed, began) = (AtomicUsize::new(0), AtomicUsize::new(0), Instant::now());
    let resolved: Vec<_> = std::thread::scope(|scope| {
        let resolvers: Vec<_> = (0..RESOLVERS).map(|_| scope.spawn(|| resolve(&anon, &pushed, all))).collect();
        for _ in 0..PUSHERS {
            scope.spawn(|| push(&admin, &next, &pushed, gems, all));
        }
        resolvers.into_iter().map(|resolver| resolver.join().unwrap()).collect()
    });
    let crowd = began.elapsed();

    let whole = read(&anon, &mut anon.connect().unwrap(), "versions");
    let mut order: HashMap<&str, Vec<&str>> = HashMap::new();
    told(&whole).into_iter().for_each(|(name, sum)| order.entry(name).or_default().push(sum));
    let mut reads = 0;
    let mut lengths: Vec<Length> = Vec::new();
    for (indexes, seen) in resolved {
        for Seen { name, told, found } in &seen {
            let at = |sum: &String| order[&**name].iter().position(|known| known == sum);
            let (told_at, found_at) = (at(told).unwrap(), at(found));
            assert!(found_at >= Some(told_at), "/info/{name} is older than /versions had said: {found}, not {told}");
        }
        reads += indexes.len() + seen.len();
        lengths.extend(indexes);
    }
    lengths.sort();
    let (mut state, mut at) = (Md5::new(), 0);
    for (length, sum) in lengths {
        state.update(&whole[at..length]);
        at = length;
        assert_eq!(
            hex(&state.clone().finalize()),
            sum,
            "an index that was read is not the beginning of what it became"
        );
    }
    let index = Index::read(&anon, FIRST);
    assert_eq!((index.names.len(), index.offered.len()), (gems, all));

    let (began, machine) = (Instant::now(), Ruby::new());
    let wanted: String = (0..gems).map(|number| format!("gem 'lamp{number}', require: false\n")).collect();
    let app = machine.app("app", &world.url(FIRST), &wanted);
    app.bundle(&["install", "--quiet"]).good();
    let last = (gems - 1) / TWICE * TWICE;
    let code = format!("require 'lamp1'; require 'lamp{last}'; puts Lamp1::VERSION, Lamp{last}::VERSION");
    assert_eq!(app.ruby(&code), "1.0.0\n1.1.0\n");
    println!("{all} pushes and {reads} reads in {crowd:.1?}; an installation of {gems} in {:.1?}", began.elapsed());
}
