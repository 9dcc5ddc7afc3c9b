//! Pages in memory for plain requests, which are sent without a table of headers once the store has confirmed them.

use crate::client::{Answer, Client};
use crate::origin::{Origin, ok};
use crate::running_apps::RunningApps;
use crate::stores::{Memcached, bank_entry, bank_key, bank_page, gzip, running, writing};
use apps::PageFormat;
use format::page::coding::Coding;
use format::page::key::KeyRule;
use telemetry::{Event, Layer, Op, Outcome};

const GZIP: &str = "Accept-Encoding: gzip\r\n";
/// Larger than a body that is sent from this process's memory.
const LARGE: usize = 100_000;

/// A page of an application, of which a first request was answered.
struct Shown {
    store: Memcached,
    apps: RunningApps,
    client: Client,
    text: String,
    _origin: Origin,
}

impl Shown {
    fn new(text: String) -> Self {
        let (store, origin) = (Memcached::start(), Origin::replying(|request| ok(&format!("app {}", request.path()))));
        let (key, entry) = bank_page("/x", &text);
        store.set(&key, &entry);
        let mut options = writing(&origin, PageFormat::ResponseBank, &[store.url()]);
        options.pages.as_mut().unwrap().bypass_cookies = vec!["basket".to_owned()];
        let apps = running(options);
        let client = apps.client();
        let mut shown = Self { store, apps, client, text, _origin: origin };
        let (answer, event) = shown.ask("GET", GZIP);
        assert_eq!((answer.status, event.app_page(), is_plain(&event)), (200, "hit", false));
        shown
    }

    fn ask(&mut self, method: &str, lines: &str) -> (Answer, Event) {
        self.client.send(format!("{method} /x HTTP/1.1\r\nHost: a\r\n{lines}\r\n"));
        let answer = if method == "HEAD" { self.client.head() } else { self.client.answer() };
        (answer, self.apps.event())
    }
}

/// Whether the request of an event went without a table of headers.
fn is_plain(event: &Event) -> bool {
    event.tally(Op::HeadParse).count == 0
}

/// The lines that do not differ each time.
fn lines(answer: &Answer) -> Vec<String> {
    let own = |line: &&str| !line.starts_with("date:") && !line.starts_with("daylight-event:");
    let mut lines: Vec<_> = answer.head.lines().filter(own).map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn a_plain_request_gets_the_reply_of_the_whole_way_in_each_coding() {
    for len in [9, LARGE] {
        let mut shown = Shown::new("the page ".repeat(len / 9 + 1));
        for (codings, coding, body) in [
            (GZIP, Some("gzip"), gzip(shown.text.as_bytes())),
            ("Accept-Encoding: gzip;q=0\r\n", None, shown.text.clone().into_bytes()),
        ] {
            // The first of them decodes the page.
            shown.ask("GET", codings);
            for method in ["GET", "HEAD", "GET"] {
                let (plain, event) = shown.ask(method, codings);
                assert_eq!(
                    (event.layer, event.app_page(), event.outcome),
                    (Layer::AppPages, "hit", Some(Outcome::Answered))
                );
                assert_eq!((is_plain(&event), event.subject.repository.as_str()), (true, "shop"));
                assert_eq!(event.tally(Op::AppPagesRead).count, 1);
                let (whole, event) = shown.ask(method, &format!("{codings}If-None-Match: \"other\"\r\n"));
                assert_eq!((event.app_page(), is_plain(&event)), ("hit", false));
                assert_eq!(lines(&plain), lines(&whole));
                assert!(plain.header("date").is_some() && plain.header("age").is_none(), "{}", plain.head);
                assert_eq!(plain.header("content-encoding"), coding);
                assert!(plain.body == whole.body && (method == "HEAD" || plain.body == body), "other bytes");
            }
        }
    }
}

#[test]
fn a_request_that_wants_something_else_takes_the_whole_way() {
    let mut shown = Shown::new("the page".to_owned());
    for (lines, page) in [
        ("Cache-Control: no-cache\r\n", ""),
        ("Pragma: no-cache\r\n", ""),
        ("Authorization: Basic eDp5\r\n", ""),
        ("X-HTTP-Method-Override: DELETE\r\n", ""),
        ("X_Other: 1\r\n", ""),
        ("Cookie: basket=1\r\n", ""),
        ("Cache-Control: max-age=0\r\n", "hit"),
        ("Cookie: other=1\r\n", "hit"),
    ] {
        let (answer, event) = shown.ask("GET", &format!("{GZIP}{lines}"));
        assert_eq!((event.app_page(), is_plain(&event)), (page, false), "{lines}");
        let expected = if page.is_empty() { b"app /x".to_vec() } else { gzip(b"the page") };
        assert_eq!(answer.body, expected, "{lines}");
    }
}

#[test]
fn a_page_that_does_not_hold_is_read_again_and_one_that_is_gone_is_the_application_s() {
    let mut shown = Shown::new("the page".to_owned());
    shown.store.set(&bank_key(KeyRule::Typed, "/x", Coding::Gzip).0, &bank_page("/x", "a new one").1);
    let (answer, event) = shown.ask("GET", GZIP);
    assert_eq!((answer.body, event.app_page(), event.layer), (gzip(b"a new one"), "hit", Layer::AppPages));
    let (answer, event) = shown.ask("GET", GZIP);
    assert_eq!((answer.body, is_plain(&event)), (gzip(b"a new one"), true));
    // Another version than the present one is the application's matter.
    let headers = [("ETag", "\"cacheable:0123\""), ("Content-Encoding", "gzip")];
    let entry = bank_entry(200, &headers, &gzip(b"an old one"), crate::stores::NOW_S);
    shown.store.set(&bank_key(KeyRule::Typed, "/x", Coding::Gzip).0, &entry);
    for _ in 0..2 {
        let (answer, event) = shown.ask("GET", GZIP);
        assert_eq!((answer.text(), event.app_page(), is_plain(&event)), ("app /x", "old", false));
    }
    shown.store.delete(&bank_key(KeyRule::Typed, "/x", Coding::Gzip).0);
    let (answer, event) = shown.ask("GET", GZIP);
    assert_eq!((answer.text(), event.app_page()), ("app /x", "miss"));
}

#[test]
fn a_purge_is_for_plain_requests_too() {
    let mut shown = Shown::new("the page".to_owned());
    assert!(is_plain(&shown.ask("GET", GZIP).1));
    shown.apps.apps.purge("shop", &["/x".to_owned()], &[]).unwrap();
    for _ in 0..2 {
        let (answer, event) = shown.ask("GET", GZIP);
        assert_eq!((answer.text(), event.app_page()), ("app /x", "purged"));
    }
}
