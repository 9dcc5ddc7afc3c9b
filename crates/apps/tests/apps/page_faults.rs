//! Servers of pages that fail, are slow or talk nonsense, and clients that go: the application answers as if there were no pages.

use crate::origin::{Origin, ok};
use crate::running_apps::{HANGS, RunningApps};
use crate::stores::{Memcached, bank_page, gzip, page, running, scripted, writing};
use apps::PageFormat;
use std::time::Duration;
use telemetry::{Layer, Op, Outcome, Tick};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n";

fn before(server: &str, timeout: Duration) -> (Origin, RunningApps) {
    let origin = Origin::replying(|_| ok("app"));
    let mut options = writing(&origin, PageFormat::ResponseBank, &[server.to_owned()]);
    options.pages.as_mut().unwrap().timeout = timeout;
    let apps = running(options);
    (origin, apps)
}

#[test]
fn a_server_that_answers_nothing_costs_its_timeout_and_is_then_left_out() {
    let (_server, url) = scripted(|_| Vec::new());
    let (origin, apps) = before(&url, Duration::from_millis(30));
    assert_eq!((apps.client().ask(GET).text(), page(&apps)), ("app", "timeout"));
    let view = apps.apps.view()[0].pages.clone().unwrap();
    assert_eq!((view.servers[0].up, view.servers[0].busy), (false, 0));
    assert!(view.servers[0].trouble.is_some(), "{view:?}");
    let event = {
        assert_eq!(apps.client().ask(GET).text(), "app");
        apps.event()
    };
    assert_eq!((event.layer, event.outcome), (Layer::App, Some(Outcome::Answered)));
    assert_eq!(origin.received().len(), 2);
}

#[test]
fn a_server_that_is_not_there_talks_nonsense_or_refuses_is_not_waited_for() {
    let nobody = format!("memcached://127.0.0.1:{}", front::free_port().unwrap());
    let (_nonsense, nonsense) = scripted(|_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec());
    let (_refusing, refusing) = scripted(|_| b"SERVER_ERROR out of memory\r\n".to_vec());
    for (url, outcome) in [(nobody, "unreachable"), (nonsense, "invalid"), (refusing, "refused")] {
        let (origin, apps) = before(&url, HANGS);
        assert_eq!((apps.client().ask(GET).text(), page(&apps)), ("app", outcome), "{url}");
        assert_eq!(origin.received().len(), 1);
    }
    let (cutting, url) = {
        let server = Origin::new(|connection| drop(connection.line()));
        let url = server.url().replace("http:", "memcached:");
        (server, url)
    };
    let (_origin, apps) = before(&url, HANGS);
    assert_eq!((apps.client().ask(GET).text(), page(&apps)), ("app", "unreachable"));
    assert!(cutting.connections() > 0);
}

#[test]
fn a_client_that_goes_while_its_page_is_read_leaves_nothing_behind() {
    let (server, url) = scripted(|_| Vec::new());
    let (origin, apps) = before(&url, HANGS);
    let mut client = apps.client();
    client.send(GET);
    let began = Tick::now();
    while apps.apps.view()[0].pages.as_ref().unwrap().servers[0].busy == 0 {
        assert!(Tick::now().since(began) < HANGS.as_nanos() as u64, "nothing is read");
        std::thread::yield_now();
    }
    drop(client);
    let event = apps.event();
    assert_eq!((event.outcome, event.status, event.tally(Op::AppPagesRead).count), (Some(Outcome::ClientGone), 0, 1));
    apps.until("the read is given up", |app| app.pages.as_ref().unwrap().servers[0].busy == 0);
    assert_eq!((origin.received().len(), server.connections()), (0, 1));
}

#[test]
fn a_page_that_is_kept_is_not_sent_while_its_server_cannot_confirm_it() {
    let store = Memcached::start();
    let (key, entry) = bank_page("/", "the page");
    store.set(&key, &entry);
    let (origin, apps) = before(&store.url(), HANGS);
    assert_eq!((apps.client().ask(GET).body, page(&apps)), (gzip(b"the page"), "hit"));
    drop(store);
    let mut client = apps.client();
    assert_eq!((client.ask(GET).text(), page(&apps)), ("app", "unreachable"));
    assert_eq!(origin.received().len(), 1);
}
