//! Pages and their stamps: which replies become pages, for which clients, and how long.

use super::*;
use crate::conditional::Checkpoints;
use crate::reply::Ranges;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Mutex;
use telemetry::{Clock, Reason, Subject};

mod representations;

const LATER: Millis = Millis(i64::MAX);

/// Pages whose stamps are counters of a changing model, with two access classes: the anonymous one, and `a`, which
/// expires at 10.
struct World {
    pages: Pages,
    revisions: Arc<Mutex<Vec<u64>>>,
}

impl World {
    fn new(bytes: u64) -> Self {
        let revisions = Arc::new(Mutex::new(vec![0; 8]));
        let hooks = PageHooks {
            canon: Box::new(|path, query| PageUrl { path: path.into(), query: query.filter(|_| path != "/plain") }),
            class: Box::new(|headers| match headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes) {
                None => Some((0, LATER)),
                Some(b"a") => Some((1, Millis(10))),
                Some(_) => None,
            }),
        };
        Self { pages: Pages::new(bytes, 4, 256, hooks, &Recorder::silent(Clock::default())), revisions }
    }

    fn stamp(&self, unit: usize) -> (usize, u64) {
        (unit, self.revisions.lock().unwrap()[unit])
    }

    /// Whether the counter is still the one of this stamp.
    fn valid(&self, stamp: (usize, u64)) -> Arc<Validity> {
        let revisions = self.revisions.clone();
        Arc::new(move |_| revisions.lock().unwrap()[stamp.0] == stamp.1)
    }

    fn hit(&self, request: &Request) -> Option<String> {
        let (reply, _) = self.pages.hit(request, PageSearch::All, Tick::now(), Tick::now(), &mut event())?;
        Some(representations::text(&reply))
    }

    /// Offers a reply twice, so that the doorkeeper admits it.
    fn keep(&self, request: &Request, reply: &Reply) {
        self.offer(request, reply);
        self.offer(request, reply);
    }

    fn offer(&self, request: &Request, reply: &Reply) {
        let public = !request.headers.contains_key(header::AUTHORIZATION);
        self.pages.keep(request, reply, public, &|| self.valid(self.stamp(0)), &mut event());
    }

    fn used(&self) -> u64 {
        self.pages.found.weight() + self.pages.missing.weight()
    }
}

fn event() -> Box<Event> {
    Event::request(Millis(5), telemetry::Tick::now())
}

fn get(path: &str) -> Request {
    let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
    Request::new(Method::GET, path.parse().unwrap(), HeaderMap::new(), client)
}

fn with(path: &str, credentials: &'static str) -> Request {
    let mut request = get(path);
    request.headers.insert(header::AUTHORIZATION, HeaderValue::from_static(credentials));
    request
}

fn ok(body: &str) -> Reply {
    Reply::text(StatusCode::OK, body.to_owned())
}

#[test]
fn a_page_is_found_by_path_query_and_class_and_by_nothing_less() {
    let world = World::new(1 << 20);
    world.keep(&with("/x?q=1", "a"), &ok("for a"));
    assert_eq!(world.hit(&with("/x?q=1", "a")).as_deref(), Some("for a"));
    assert_eq!(world.hit(&get("/x?q=1")), None);
    assert_eq!(world.hit(&with("/x?q=1", "unknown")), None);
    for other in ["/x", "/x?", "/x?q=2", "/x/?q=1", "/X?q=1"] {
        assert_eq!(world.hit(&with(other, "a")), None, "{other}");
    }
}

#[test]
fn a_public_page_is_anyone_s_whatever_they_show() {
    let world = World::new(1 << 20);
    world.keep(&get("/x"), &ok("one"));
    for request in [get("/x"), with("/x", "a"), with("/x", "unknown")] {
        assert_eq!(world.hit(&request).as_deref(), Some("one"));
    }
}

#[test]
fn what_is_not_public_is_never_kept_for_anyone() {
    let world = World::new(1 << 20);
    for request in [get("/x"), with("/x", "unknown")] {
        for _ in 0..2 {
            world.pages.keep(&request, &ok("secret"), false, &|| world.valid(world.stamp(0)), &mut event());
        }
        assert_eq!(world.hit(&request), None);
    }
    assert_eq!(world.used(), 0);
}

#[test]
fn expired_credentials_go_the_whole_way() {
    let world = World::new(1 << 20);
    world.keep(&with("/x", "a"), &ok("for a"));
    let mut late = event();
    late.at = Millis(10);
    assert!(world.pages.hit(&with("/x", "a"), PageSearch::All, Tick::now(), Tick::now(), &mut late).is_none());
}

#[test]
fn only_complete_small_answers_to_get_that_allow_it_are_kept() {
    let world = World::new(1 << 20);
    let mut head = get("/x");
    head.method = Method::HEAD;
    world.keep(&head, &ok("a"));
    world.keep(&get("/x"), &Reply::new(StatusCode::OK));
    world.keep(&get("/x"), &Reply::text(StatusCode::FORBIDDEN, "no"));
    world.keep(&get("/x"), &ok(&"a".repeat(32 << 10)));
    for (name, value) in [
        (header::CACHE_CONTROL, "private, No-Store"),
        (header::VARY, "*"),
        (header::VARY, "authorization, accept"),
        (header::CONTENT_ENCODING, "gzip"),
        (header::SET_COOKIE, "a=b"),
    ] {
        world.keep(&get("/x"), &ok("a").header(name, HeaderValue::from_static(value)));
    }
    assert_eq!(world.hit(&get("/x")), None);
    assert_eq!(world.used(), 0);
    let varies = ok("a").header(header::VARY, HeaderValue::from_static("Authorization"));
    world.keep(&get("/x"), &varies.header(header::CACHE_CONTROL, HeaderValue::from_static("max-age=60")));
    head.upload = crate::request::upload::Upload::whole(Bytes::from_static(b"a"));
    assert_eq!(world.hit(&head), None);
    head.upload = crate::request::upload::Upload::default();
    assert_eq!(world.hit(&head).as_deref(), Some("a"));
    assert!(world.used() > 0);
}

#[test]
fn a_hit_makes_a_whole_event_and_a_whole_reply() {
    let world = World::new(1 << 20);
    let mut first = event();
    first.subject = Subject { repository: "gems".into(), package: "rack".into(), version: "1".into(), kind: "info" };
    first.reason = Some(Reason::NoSuchPackage);
    let name = HeaderName::from_static("x-a");
    let reply = Reply::text(StatusCode::NOT_FOUND, "no").header(name.clone(), HeaderValue::from_static("b"));
    let reply = reply.ranges(Ranges::Prefix(Checkpoints::default()));
    world.offer(&get("/x"), &reply);
    world.pages.keep(&get("/x"), &reply, true, &|| world.valid(world.stamp(0)), &mut first);
    let mut second = event();
    let (reply, _) = world.pages.hit(&get("/x"), PageSearch::All, Tick::now(), Tick::now(), &mut second).unwrap();
    assert!(reply.status == StatusCode::NOT_FOUND && matches!(reply.ranges, Ranges::Prefix(_)));
    assert_eq!(reply.headers[&name], "b");
    let ops = |event: &Event| (event.tally(Op::PageLookup).count, event.tally(Op::PageKeep).count);
    assert_eq!((ops(&second), ops(&first)), ((1, 0), (0, 1)));
    assert_eq!((second.layer, second.subject, second.reason), (Layer::Page, first.subject, first.reason));
}

#[test]
fn a_page_whose_stamp_no_longer_holds_is_thrown_away() {
    let world = World::new(1 << 20);
    world.keep(&get("/x"), &ok("old"));
    world.revisions.lock().unwrap()[0] = 1;
    // The event tells that no size of the cache would have made it a hit, once.
    for vain in [1, 0] {
        let mut event = event();
        assert!(world.pages.hit(&get("/x"), PageSearch::All, Tick::now(), Tick::now(), &mut event).is_none());
        let lookup = event.tally(Op::PageLookup);
        assert_eq!((lookup.count, lookup.vain), (1, vain));
    }
    assert_eq!(world.used(), 0);
    world.revisions.lock().unwrap()[0] = 0;
    assert_eq!(world.hit(&get("/x")), None);
}

#[test]
fn pages_never_take_more_than_they_may() {
    let world = World::new(256 << 10);
    for number in 0..2000 {
        world.keep(&get(&format!("/{number}")), &ok(&"a".repeat(number)));
        world.keep(&get(&format!("/missing/{number}")), &Reply::text(StatusCode::NOT_FOUND, "no"));
        assert!(world.used() <= 256 << 10);
    }
    assert!(world.used() > 128 << 10, "{}", world.used());
    assert!(world.pages.missing.weight() <= 16 << 10);
}

#[test]
fn what_is_asked_for_is_a_page_at_once_while_there_is_room_and_later_when_it_is_asked_for_again() {
    let world = World::new(1 << 20);
    world.offer(&get("/x"), &ok("a"));
    assert_eq!(world.hit(&get("/x")).as_deref(), Some("a"));
    for number in 0..1000 {
        world.offer(&get(&format!("/{number}")), &ok(&"a".repeat(1000)));
    }
    assert!((400 << 10..512 << 10).contains(&world.used()), "{}", world.used());
    world.offer(&get("/y"), &ok("a"));
    assert_eq!(world.hit(&get("/y")), None);
    world.offer(&get("/y"), &ok("b"));
    assert_eq!(world.hit(&get("/y")).as_deref(), Some("b"));
}

#[test]
fn what_is_missing_is_a_page_when_it_is_asked_for_again() {
    let (world, missing) = (World::new(1 << 20), Reply::text(StatusCode::NOT_FOUND, "no"));
    world.offer(&get("/x"), &missing);
    assert_eq!((world.hit(&get("/x")), world.used()), (None, 0));
    world.offer(&get("/x"), &missing);
    assert_eq!(world.hit(&get("/x")).as_deref(), Some("no"));
    world.keep(&get("/y"), &ok("yes"));
    let mut browser = [get("/x"), get("/y")];
    for request in &mut browser {
        request.headers.insert(header::USER_AGENT, HeaderValue::from_static("Mozilla/5.0"));
        request.headers.insert(header::ACCEPT, HeaderValue::from_static("text/html"));
    }
    assert_eq!(browser.map(|request| world.hit(&request)), [None, Some("yes".into())], "its errors are web pages");
}

#[test]
fn a_page_says_that_nothing_had_to_be_done_for_it() {
    let (world, name) = (World::new(1 << 20), HeaderName::from_static("cache-status"));
    let fetched = HeaderValue::from_static("daylight; fwd=uri-miss; stored");
    world.offer(&get("/x"), &ok("a").header(name.clone(), fetched));
    let (reply, _) = world.pages.hit(&get("/x"), PageSearch::All, Tick::now(), Tick::now(), &mut event()).unwrap();
    assert_eq!(reply.headers[&name], "daylight; hit");
}

#[test]
fn a_query_that_the_url_does_not_read_finds_the_page_without() {
    let world = World::new(1 << 20);
    world.offer(&get("/plain?a"), &ok("a"));
    world.offer(&get("/plain?b"), &ok("a"));
    for path in ["/plain", "/plain?c"] {
        assert_eq!(world.hit(&get(path)).as_deref(), Some("a"), "{path}");
    }
}

/// Also where the URL reads the query, and a crawler invents a new one each time.
#[test]
fn a_million_queries_that_are_asked_once_drive_out_no_page_that_is_in_use() {
    let world = World::new(1 << 20);
    let body = "a".repeat(1000);
    let (hot, reply): (Vec<Request>, _) = ((0..200).map(|hot| get(&format!("/{hot}"))).collect(), ok(&body));
    for request in &hot {
        world.keep(request, &reply);
    }
    // While there is room, other pages are admitted too.
    let come = (0..1000).map(|number| get(&format!("/x?came-{number}")));
    come.for_each(|request| world.offer(&request, &reply));
    let used = world.used();
    let (mut once, mut event, stamp) = (get("/x"), event(), world.stamp(0));
    for round in 0..1_000_000_u32 {
        once.uri = format!("/x?{round}").parse().unwrap();
        assert!(world.pages.hit(&once, PageSearch::All, Tick::now(), Tick::now(), &mut event).is_none());
        world.pages.keep(&once, &reply, true, &|| world.valid(stamp), &mut event);
        if round % 100 == 0 {
            assert!(world.hit(&hot[round as usize / 100 % hot.len()]).is_some(), "after {round}");
        }
    }
    assert!(hot.iter().all(|request| world.hit(request).is_some()));
    let kept = event.tally(Op::PageKeep);
    let strangers = kept.count - kept.vain;
    assert!(strangers < 100, "{strangers} of a million were admitted");
    assert!(world.used() <= used + u64::from(strangers) * 2000);
}

#[derive(Debug, Clone)]
enum Step {
    /// A change is acknowledged.
    Change(usize),
    /// A request takes its stamp. The client accepts gzip, or does not.
    Begin(usize, bool),
    /// One of the open requests ends and adds a page from the state that it read, however long ago.
    End(usize),
    /// The compressor empties its queue.
    Settle,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0_usize..4).prop_map(Step::Change),
        (0_usize..4, any::<bool>()).prop_map(|(unit, gzip)| Step::Begin(unit, gzip)),
        any::<usize>().prop_map(Step::End),
        Just(Step::Settle)
    ]
}

/// A body that names its revision and is worth compressing.
fn long(revision: u64) -> String {
    format!("{revision}\n").repeat(600)
}

proptest! {
    /// Readers overtake each other, and changes happen between stamp, reading, keeping and compressing.
    #[test]
    fn a_page_is_never_older_than_the_last_change(
        steps in proptest::collection::vec(step(), 1..60),
        small in any::<bool>(),
    ) {
        let world = World::new(if small { 128 << 10 } else { 4 << 20 });
        let mut under_way = Vec::new();
        for step in steps {
            match step {
                Step::Change(unit) => world.revisions.lock().unwrap()[unit] += 1,
                Step::Begin(unit, gzip) => match world.hit(&representations::taking(&format!("/{unit}"), gzip)) {
                    Some(body) => prop_assert_eq!(body, long(world.stamp(unit).1)),
                    None => under_way.push((unit, world.stamp(unit))),
                },
                Step::End(which) if !under_way.is_empty() => {
                    let (unit, stamp) = under_way.swap_remove(which % under_way.len());
                    // The request reads a state that is as new as the stamp, or newer.
                    let (oldest, newest) = (stamp.1, world.stamp(unit).1);
                    let read = representations::index(long(oldest + which as u64 % (newest - oldest + 1)));
                    world.pages.keep(&get(&format!("/{unit}")), &read, true, &|| world.valid(stamp), &mut event());
                }
                Step::End(_) => {}
                Step::Settle => world.pages.compressor.settle(),
            }
        }
        for (unit, gzip) in (0..4).flat_map(|unit| [(unit, false), (unit, true)]) {
            if let Some(body) = world.hit(&representations::taking(&format!("/{unit}"), gzip)) {
                prop_assert_eq!(body, long(world.stamp(unit).1));
            }
        }
    }
}
