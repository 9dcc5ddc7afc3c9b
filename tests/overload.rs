//! Too many requests of one kind affect only that kind: the excess is told to retry, and all others are answered. The
//! test counts, and never measures time.

use crate::accounts::{settled, sum};
use crate::world::{Answer, FIRST, Gem, World};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// Number of other requests during a flood.
const BESIDE: usize = 100;
/// Number of refusals that a flood must cause.
const REFUSALS: u64 = 200;
/// A flood that is never refused fails after this number of requests.
const REQUESTS_MAX: u64 = 100_000;
const FLOODERS: u64 = 8;

/// The value of a bound's metric for a cost class.
fn places(world: &World, metric: &str, class: &str) -> u64 {
    let metrics = world.admin().get("/metrics").expect(200);
    sum(metrics.text(), &format!("daylight_bound_{metric}{{bound=\"requests\",which=\"{class}\"}}"))
}

/// Asserts a refusal for lack of a place, in the form that makes clients retry.
fn shed(answer: Answer) -> Answer {
    let answer = answer.expect(503);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert!(answer.text().contains("too many"), "{}", answer.text());
    answer
}

#[test]
fn an_upload_beyond_the_places_is_refused_at_once_and_others_are_answered() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_MAX_UPLOADS", "1")]);
    let (admin, anon) = (world.admin(), world.anon());
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let bytes = Gem::new("lamp", "2.0.0").bytes();
    let mut slow = admin.connect().unwrap();
    let head = format!(
        "POST /repository/{FIRST}/api/v1/gems HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Length: {}\r\n\r\n",
        admin.secret(),
        bytes.len()
    );
    slow.send(head.as_bytes()).unwrap();
    slow.send(&bytes[..100]).unwrap();
    while places(&world, "used", "uploads") == 0 {}

    for _ in 0..5 {
        shed(admin.push(FIRST, &Gem::new("oil", "1.0.0")));
        shed(admin.yank(FIRST, "lamp", "1.0.0"));
        // Before any work: not even the token is looked up.
        shed(anon.push(FIRST, &Gem::new("oil", "1.0.0")));
        anon.get(&format!("/repository/{FIRST}/gems/lamp-1.0.0.gem")).expect(200);
        anon.get(&format!("/repository/{FIRST}/versions")).expect(200);
        anon.get("/health/ready").expect(200);
        admin.get("/api/v1/tokens").expect(200);
    }
    slow.send(&bytes[100..]).unwrap();
    slow.answer(false).unwrap().expect(200);
    admin.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    assert_eq!(places(&world, "rejected_total", "uploads"), 15);
    assert_eq!((places(&world, "used", "uploads"), places(&world, "peak", "uploads")), (0, 1));
}

/// A page, a download and pushes, repeatedly; none of them is refused.
fn beside(world: &World, page: &str) {
    let (admin, anon) = (world.admin(), world.anon());
    let gem = format!("/repository/{FIRST}/gems/lamp-1.0.0.gem");
    std::thread::scope(|scope| {
        for path in [page, &gem] {
            let connection = anon.connect();
            let anon = &anon;
            scope.spawn(move || {
                let connection = &mut connection.unwrap();
                for _ in 0..BESIDE {
                    anon.on(connection, "GET", path, &[], b"").unwrap().expect(200);
                }
            });
        }
        let connection = &mut admin.connect().unwrap();
        for version in 0..BESIDE / 5 {
            admin.push_on(connection, FIRST, &Gem::new("wick", &format!("1.0.{version}")).bytes()).unwrap().expect(200);
        }
    });
}

#[test]
fn a_flood_of_indexes_is_shed_and_pushes_downloads_and_pages_see_no_error() {
    let world = World::start_with(&[
        ("DAYLIGHT_SERVER_MAX_INDEXES", "2"),
        // All of them have one address.
        ("DAYLIGHT_SERVER_CLIENT_SHARE_PERCENT", "100"),
    ]);
    let (admin, anon) = (world.admin(), world.anon());
    for version in 0..20 {
        admin.push(FIRST, &Gem::new("lamp", &format!("1.0.{version}"))).expect(200);
    }
    admin.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    let page = format!("/repository/{FIRST}/info/oil");
    for _ in 0..3 {
        anon.get(&page).expect(200);
    }
    let (done, asked, refused) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..FLOODERS {
            let (anon, done, asked, refused) = (&anon, &done, &asked, &refused);
            scope.spawn(move || {
                let connection = &mut anon.connect().unwrap();
                while !done.load(SeqCst) || (refused.load(SeqCst) < REFUSALS && asked.load(SeqCst) < REQUESTS_MAX) {
                    let number = asked.fetch_add(1, SeqCst);
                    // A new name, so that no page answers it.
                    let path = format!("/repository/{FIRST}/info/lamp-{number}");
                    let answer = anon.on(connection, "GET", &path, &[], b"").unwrap();
                    if answer.status != 404 {
                        shed(answer);
                        refused.fetch_add(1, SeqCst);
                    }
                }
            });
        }
        beside(&world, &page);
        done.store(true, SeqCst);
    });
    let refused = refused.load(SeqCst);
    assert!(refused >= REFUSALS, "{refused} of {asked:?} were refused");
    settled(&world);
    let metrics = world.admin().get("/metrics").expect(200);
    assert_eq!(sum(metrics.text(), "daylight_outcomes_total{outcome=\"shed\"}"), refused);
    assert_eq!(sum(metrics.text(), "daylight_reasons_total{reason=\"bound_full\"}"), refused);
    assert_eq!(sum(metrics.text(), "daylight_outcomes_total{outcome=\"failed\"}"), 0);
    assert_eq!(places(&world, "rejected_total", "dynamic_index"), refused);
    assert!(places(&world, "peak", "dynamic_index") <= 2);
    for class in ["pages", "downloads", "uploads", "admin"] {
        assert_eq!(places(&world, "rejected_total", class), 0, "{class}");
    }
}
