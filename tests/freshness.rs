//! A reader always sees everything that was acknowledged before its request, on any connection and from any page.

use crate::world::{FIRST, Gem, Index, World};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

const PUSHES: usize = 60;
const READERS: usize = 4;

#[test]
fn readers_on_other_connections_see_every_acknowledged_push() {
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    let (acknowledged, done, reads) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicUsize::new(0));
    admin.push(FIRST, &Gem::new("lamp", "0.0.1")).expect(200);
    std::thread::scope(|scope| {
        for reader in 0..READERS {
            let (anon, acknowledged, done, reads) = (&anon, &acknowledged, &done, &reads);
            scope.spawn(move || {
                let connection = &mut anon.connect().unwrap();
                let (what, head) = if reader % 2 == 0 { ("info/lamp", 2) } else { ("versions", 3) };
                let path = format!("/repository/{FIRST}/{what}");
                while !done.load(SeqCst) {
                    let least = acknowledged.load(SeqCst);
                    let answer = anon.on(connection, "GET", &path, &[], b"").unwrap().expect(200);
                    let lines = answer.text().lines().count();
                    assert!(lines >= head + least, "{what} has {lines} lines after {least} acknowledged pushes");
                    reads.fetch_add(1, SeqCst);
                }
            });
        }
        let connection = &mut admin.connect().unwrap();
        for push in 1..=PUSHES {
            let gem = Gem::new("lamp", &format!("1.0.{push}"));
            admin.push_on(connection, FIRST, &gem.bytes()).unwrap().expect(200);
            acknowledged.store(push, SeqCst);
        }
        done.store(true, SeqCst);
    });
    assert!(reads.load(SeqCst) >= READERS);
    assert_eq!(Index::read(&anon, FIRST).offered.len(), PUSHES + 1);
}

#[test]
fn a_yank_is_seen_by_the_next_reader() {
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    let mut connections: Vec<_> = (0..READERS).map(|_| anon.connect().unwrap()).collect();
    for round in 0..20 {
        let version = format!("1.0.{round}");
        let gem = format!("/repository/{FIRST}/gems/lamp-{version}.gem");
        let info = format!("/repository/{FIRST}/info/lamp");
        admin.push(FIRST, &Gem::new("lamp", &version)).expect(200);
        for connection in &mut connections {
            // Twice: the second request makes the answer a page.
            for _ in 0..2 {
                anon.on(connection, "GET", &gem, &[], b"").unwrap().expect(200);
                let answer = anon.on(connection, "GET", &info, &[], b"").unwrap().expect(200);
                assert!(answer.text().contains(&format!("\n{version} |")), "{}", answer.text());
            }
        }
        admin.yank(FIRST, "lamp", &version).expect(200);
        for connection in &mut connections {
            anon.on(connection, "GET", &gem, &[], b"").unwrap().expect(404);
            assert_eq!(anon.on(connection, "GET", &info, &[], b"").unwrap().expect(200).text(), "---\n");
        }
    }
}
