//! Many requests for one response: one goes to the application if the response can be shared, and all at once if it cannot.

use crate::cache::caching;
use crate::client::Client;
use crate::origin::{Origin, with};
use crate::responses::pattern;
use crate::running_apps::{HANGS, RunningApps};
use apps::AppOptions;
use std::sync::{Arc, Condvar, Mutex};
use telemetry::{BoundName, Op, Tick};

/// Holds the application back until a test opens it.
#[derive(Debug, Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn close(&self) {
        *self.0.0.lock().unwrap() = false;
    }

    fn wait(&self) {
        let open = self.0.0.lock().unwrap();
        drop(self.0.1.wait_timeout_while(open, HANGS, |open| !*open).unwrap());
    }
}

const MANY: usize = 1000;

fn running(origin: &Origin) -> RunningApps {
    RunningApps::of(vec![AppOptions { slots: 2 * MANY, ..caching(origin) }])
}

fn ask(apps: &RunningApps, count: usize, lines: &str) -> Vec<Client> {
    let send = |_| {
        let mut client = apps.client();
        client.send(format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n"));
        client
    };
    (0..count).map(send).collect()
}

/// Waits until so many requests wait for another one.
fn waiting(apps: &RunningApps, count: u64) {
    let bound = apps.recorder.bounds().into_iter().find(|bound| bound.name() == BoundName::AppCache).unwrap();
    until(|| bound.waiters() == count);
}

fn until(holds: impl Fn() -> bool) {
    let began = Tick::now();
    while !holds() {
        assert!(Tick::now().since(began) < HANGS.as_nanos() as u64, "it never came");
        std::thread::yield_now();
    }
}

fn answers(clients: &mut [Client]) -> Vec<String> {
    clients.iter_mut().map(|client| client.answer().text().to_owned()).collect()
}

/// An application that answers when the gate opens, with these headers.
fn gated(gate: &Gate, lines: &'static str) -> Origin {
    let gate = gate.clone();
    Origin::replying(move |_| {
        gate.wait();
        with(lines, "body")
    })
}

#[test]
fn a_thousand_cold_requests_for_one_page_reach_the_application_once() {
    let gate = Gate::default();
    let origin = gated(&gate, "cache-control: max-age=60\r\n");
    let apps = running(&origin);
    let mut clients = ask(&apps, MANY, "");
    waiting(&apps, MANY as u64 - 1);
    gate.open();
    assert!(answers(&mut clients).iter().all(|text| text == "body"));
    assert_eq!(origin.received().len(), 1);
    let waited = (0..MANY).map(|_| apps.event()).filter(|event| event.tally(Op::AppCacheWait).count == 1);
    assert_eq!(waited.count(), MANY - 1);
}

#[test]
fn a_thousand_requests_for_a_page_that_cannot_be_shared_go_to_the_application_at_once() {
    let (first, others) = (Gate::default(), Gate::default());
    let origin = {
        let (first, others) = (first.clone(), others.clone());
        let count = Mutex::new(0);
        Origin::replying(move |_| {
            let n = std::mem::replace(&mut *count.lock().unwrap(), 1);
            if n == 0 {
                first.wait()
            } else {
                others.wait()
            }
            with("cache-control: private, max-age=60\r\n", "body")
        })
    };
    let apps = running(&origin);
    let mut clients = ask(&apps, MANY, "");
    waiting(&apps, MANY as u64 - 1);
    first.open();
    // All of them are there before one of them is answered.
    until(|| origin.received().len() == MANY);
    // Now it is known that they cannot be shared, so nobody waits.
    clients.extend(ask(&apps, 10, ""));
    until(|| origin.received().len() == MANY + 10);
    others.open();
    assert_eq!(answers(&mut clients).len(), MANY + 10);
}

#[test]
fn a_first_request_whose_client_goes_away_takes_no_other_with_it() {
    let gate = Gate::default();
    let origin = gated(&gate, "cache-control: max-age=60\r\n");
    let apps = running(&origin);
    let first = ask(&apps, 1, "");
    until(|| origin.received().len() == 1);
    let mut others = ask(&apps, 20, "");
    waiting(&apps, 20);
    drop(first);
    until(|| origin.received().len() == 2);
    waiting(&apps, 19);
    gate.open();
    assert!(answers(&mut others).iter().all(|text| text == "body"));
    assert_eq!(origin.received().len(), 2);
}

#[test]
fn a_first_request_that_fails_lets_the_others_try_for_themselves() {
    let gate = Gate::default();
    let origin = {
        let (gate, count) = (gate.clone(), Mutex::new(0));
        Origin::new(move |connection| {
            while connection.request().is_some() {
                let n = std::mem::replace(&mut *count.lock().unwrap(), 1);
                if n == 0 {
                    return gate.wait();
                }
                connection.send(with("cache-control: max-age=60\r\n", "body"));
            }
        })
    };
    let apps = running(&origin);
    let mut first = ask(&apps, 1, "");
    until(|| origin.received().len() == 1);
    let mut others = ask(&apps, 20, "");
    waiting(&apps, 20);
    gate.open();
    assert_eq!(first[0].answer().status, 502);
    assert!(answers(&mut others).iter().all(|text| text == "body"));
}

#[test]
fn a_request_of_a_user_waits_only_for_a_page_that_is_known_to_be_shared() {
    let gate = Gate::default();
    let origin = gated(&gate, "cache-control: max-age=60\r\netag: \"e\"\r\n");
    let apps = running(&origin);
    let mut clients = ask(&apps, 1, "");
    until(|| origin.received().len() == 1);
    clients.extend(ask(&apps, 1, "Cookie: a=b\r\n"));
    clients.extend(ask(&apps, 1, "Authorization: x\r\n"));
    until(|| origin.received().len() == 3);
    gate.open();
    assert_eq!(answers(&mut clients), ["body"; 3]);
    // After a purge it is still known.
    assert_eq!(apps.apps.purge("shop", &["/".to_owned()], &[]), Some(1));
    gate.close();
    let mut clients = ask(&apps, 10, "Cookie: a=b\r\n");
    waiting(&apps, 9);
    gate.open();
    assert_eq!(answers(&mut clients), ["body"; 10]);
    assert_eq!(origin.received().len(), 4);
}

#[test]
fn a_response_for_one_user_does_not_keep_others_from_sharing_theirs() {
    let gate = Gate::default();
    let origin = {
        let gate = gate.clone();
        Origin::replying(move |request| match request.header("cookie") {
            Some(_) => with("cache-control: private\r\n", "mine"),
            None => {
                gate.wait();
                with("cache-control: max-age=60\r\n", "ours")
            }
        })
    };
    let apps = running(&origin);
    assert_eq!(answers(&mut ask(&apps, 1, "Cookie: a=b\r\n")), ["mine"]);
    let mut others = ask(&apps, 10, "");
    waiting(&apps, 9);
    gate.open();
    assert!(answers(&mut others).iter().all(|text| text == "ours"));
    assert_eq!(origin.received().len(), 2);
}

#[test]
fn requests_for_other_variants_wait_for_responses_of_their_own() {
    let gate = Gate::default();
    let origin = {
        let gate = gate.clone();
        Origin::replying(move |request| {
            gate.wait();
            with("cache-control: max-age=60\r\nvary: accept-language\r\n", request.header("accept-language").unwrap())
        })
    };
    let apps = running(&origin);
    let mut clients = ask(&apps, 50, "Accept-Language: de\r\n");
    waiting(&apps, 49);
    clients.extend(ask(&apps, 50, "Accept-Language: en\r\n"));
    waiting(&apps, 99);
    gate.open();
    let texts = answers(&mut clients);
    assert!(texts[..50].iter().all(|text| text == "de") && texts[50..].iter().all(|text| text == "en"));
    assert_eq!(origin.received().len(), 2);
}

#[test]
fn a_purge_while_a_response_comes_makes_all_that_arrive_later_get_a_newer_one() {
    let gate = Gate::default();
    let origin = {
        let (gate, count) = (gate.clone(), Mutex::new(0));
        Origin::replying(move |_| {
            let n = {
                let mut count = count.lock().unwrap();
                *count += 1;
                *count
            };
            if n == 1 {
                gate.wait();
            }
            with("cache-control: max-age=60\r\ncache-tag: t\r\n", &n.to_string())
        })
    };
    let apps = running(&origin);
    let mut first = ask(&apps, 1, "");
    until(|| origin.received().len() == 1);
    assert_eq!(apps.apps.purge("shop", &[], &["t".to_owned()]), Some(0));
    let mut later = ask(&apps, 5, "");
    waiting(&apps, 5);
    gate.open();
    assert_eq!(answers(&mut first), ["1"]);
    assert!(answers(&mut later).iter().all(|text| text != "1"));
    assert_ne!(apps.client().get("/").text(), "1");
}

#[test]
fn a_client_that_goes_away_within_the_body_takes_no_other_with_it() {
    let gate = Gate::default();
    let origin = {
        let gate = gate.clone();
        Origin::new(move |connection| {
            while connection.request().is_some() {
                connection.send("HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 200000\r\n\r\n");
                connection.send(pattern(100_000));
                gate.wait();
                connection.send(&pattern(200_000)[100_000..]);
            }
        })
    };
    let apps = running(&origin);
    let mut first = ask(&apps, 1, "");
    first[0].head();
    let mut others = ask(&apps, 5, "");
    waiting(&apps, 5);
    drop(first);
    apps.event();
    gate.open();
    assert!(others.iter_mut().all(|other| other.answer().body == pattern(200_000)));
}

#[test]
fn requests_that_want_nothing_stored_or_a_part_take_no_page_from_the_others() {
    for line in ["Cache-Control: no-store\r\n", "Range: bytes=0-0\r\n"] {
        let gate = Gate::default();
        let origin = gated(&gate, "cache-control: max-age=60\r\n");
        let apps = running(&origin);
        gate.open();
        assert_eq!(answers(&mut ask(&apps, 1, line)).len(), 1);
        gate.close();
        let mut clients = ask(&apps, 10, "");
        waiting(&apps, 9);
        gate.open();
        assert_eq!(answers(&mut clients), ["body"; 10]);
        assert_eq!(origin.received().len(), 2, "{line}");
    }
}

#[test]
fn a_page_that_users_got_for_themselves_after_a_purge_keeps_no_user_waiting_again() {
    let gate = Gate::default();
    let origin = {
        let gate = gate.clone();
        Origin::replying(move |request| match request.header("cookie") {
            Some(_) => {
                gate.wait();
                with("cache-control: private\r\nvary: cookie\r\n", "mine")
            }
            None => with("cache-control: max-age=60\r\nvary: cookie\r\n", "ours"),
        })
    };
    let apps = running(&origin);
    assert_eq!(answers(&mut ask(&apps, 1, "")), ["ours"]);
    assert_eq!(apps.apps.purge("shop", &["/".to_owned()], &[]), Some(1));
    gate.open();
    assert_eq!(answers(&mut ask(&apps, 1, "Cookie: a=b\r\n")), ["mine"]);
    gate.close();
    let mut users = ask(&apps, 10, "Cookie: a=b\r\n");
    until(|| origin.received().len() == 12);
    gate.open();
    assert!(answers(&mut users).iter().all(|text| text == "mine"));
}
