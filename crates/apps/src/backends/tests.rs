//! Backends that refuse, close, drain and start late.

use super::*;
use http::Request;
use std::future::poll_fn;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::task::{Context, Waker};
use telemetry::{Clock, Millis, Reason};
use tempfile::TempDir;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const CLOSING: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";

/// A server on a socket of the machine, which gives the same answer to each request.
struct Origin {
    says: Arc<Mutex<&'static str>>,
    /// The heads of requests.
    heads: Receiver<String>,
    connections: Arc<AtomicUsize>,
}

impl Origin {
    fn at(path: &Path, says: &'static str) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let (says, connections) = (Arc::new(Mutex::new(says)), Arc::<AtomicUsize>::default());
        let (tell, heads) = channel();
        let (answer, count) = (says.clone(), connections.clone());
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                count.fetch_add(1, Relaxed);
                let (answer, tell, mut socket) = (answer.clone(), tell.clone(), socket.unwrap());
                std::thread::spawn(move || {
                    let (mut head, mut byte) = (Vec::new(), [0]);
                    while let Ok(1) = socket.read(&mut byte) {
                        head.push(byte[0]);
                        if head.ends_with(b"\r\n\r\n") {
                            let _ = tell.send(String::from_utf8(std::mem::take(&mut head)).unwrap());
                            let says = *answer.lock().unwrap();
                            let _ = socket.write_all(says.as_bytes());
                        }
                    }
                });
            }
        });
        Self { says, heads, connections }
    }
}

/// A folder for sockets, and the backends on the first `count` names in it.
struct Stage {
    folder: TempDir,
    options: AppOptions,
}

impl Stage {
    fn new(count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let to = (0..count).map(|at| format!("unix:{}", folder.path().join(at.to_string()).display())).collect();
        Self { options: AppOptions { to, ..AppOptions::of("shop") }, folder }
    }

    fn origin(&self, at: usize, says: &'static str) -> Origin {
        Origin::at(&self.folder.path().join(at.to_string()), says)
    }

    fn backends(&self) -> Arc<Backends> {
        Backends::new(&self.options, &Recorder::silent(Clock::default())).unwrap()
    }
}

/// Runs on one core, as the front does.
fn on_core(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test);
}

fn event() -> Box<Event> {
    Event::job("test", Millis(1))
}

async fn leased(backends: &Backends) -> Lease {
    backends.lease(false, &mut event()).await.unwrap()
}

/// One request, and its connection after the last byte.
async fn asked(mut lease: Lease) -> Lease {
    let request = Request::get("/").header("host", "app").body(client::BackendBody::Empty).unwrap();
    let mut response = lease.connection().send(request, None).await.unwrap();
    while let Some(frame) = poll_fn(|cx| lease.connection().poll_frame(response.body_mut(), cx)).await {
        frame.unwrap();
    }
    lease
}

fn detail(lease: Result<Lease, NoBackend>) -> String {
    match lease {
        Err(NoBackend::Down(detail)) => detail,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_connection_is_used_again_and_counted_while_it_is_open() {
    on_core(async {
        let stage = Stage::new(1);
        let (origin, backends) = (stage.origin(0, OK), stage.backends());
        for turn in 0..3 {
            let lease = asked(leased(&backends).await).await;
            assert_eq!((lease.is_reused(), lease.backend()), (turn > 0, stage.options.to[0].as_str()));
            assert_eq!(backends.view()[0].busy, 1);
            lease.give_back();
            assert_eq!((backends.view()[0].busy, backends.view()[0].connections), (0, 1));
        }
        let fresh = asked(backends.lease(true, &mut event()).await.unwrap()).await;
        assert!(!fresh.is_reused());
        assert_eq!((origin.connections.load(Relaxed), backends.view()[0].connections), (2, 2));
        drop(fresh);
        assert_eq!(backends.view()[0].connections, 1);
    });
}

#[test]
fn a_connection_that_the_application_closes_is_not_kept() {
    on_core(async {
        let stage = Stage::new(1);
        let (origin, backends) = (stage.origin(0, CLOSING), stage.backends());
        for _ in 0..3 {
            let lease = asked(leased(&backends).await).await;
            assert!(!lease.is_reused());
            lease.give_back();
            assert_eq!(backends.view()[0].connections, 0);
        }
        assert_eq!(origin.connections.load(Relaxed), 3);
    });
}

#[test]
fn no_more_connections_than_slots_are_kept() {
    on_core(async {
        let mut stage = Stage::new(1);
        stage.options.slots = 2;
        let (_origin, backends) = (stage.origin(0, OK), stage.backends());
        let mut leases = Vec::new();
        for _ in 0..4 {
            leases.push(asked(leased(&backends).await).await);
        }
        leases.into_iter().for_each(Lease::give_back);
        assert_eq!(backends.view()[0].connections, 2);
    });
}

#[test]
fn a_connection_of_a_stream_is_busy_and_not_counted_here() {
    on_core(async {
        let stage = Stage::new(1);
        let (_origin, backends) = (stage.origin(0, OK), stage.backends());
        let mut endless = asked(leased(&backends).await).await;
        endless.is_endless();
        let (_connection, busy) = leased(&backends).await.into_connection();
        assert_eq!((backends.view()[0].busy, backends.view()[0].connections), (2, 0));
        drop(busy);
        endless.give_back();
        assert_eq!((backends.view()[0].busy, backends.view()[0].connections), (0, 0));
    });
}

#[test]
fn the_backend_with_the_fewest_requests_gets_the_next_one() {
    on_core(async {
        let stage = Stage::new(3);
        let _origins: Vec<Origin> = (0..3).map(|at| stage.origin(at, OK)).collect();
        let backends = stage.backends();
        let mut leases = Vec::new();
        for _ in 0..6 {
            leases.push(leased(&backends).await);
        }
        assert!(backends.view().iter().all(|view| view.busy == 2), "{:?}", backends.view());
        let freed = leases.swap_remove(1).name().clone();
        assert_eq!(leased(&backends).await.name(), &freed);
    });
}

#[test]
fn a_backend_that_refuses_is_passed_over_and_shown_to_operators() {
    on_core(async {
        let stage = Stage::new(2);
        let (_origin, backends) = (stage.origin(1, OK), stage.backends());
        let mut event = event();
        for _ in 0..4 {
            assert_eq!(backends.lease(false, &mut event).await.unwrap().backend(), stage.options.to[1]);
        }
        let refused = &event.members[0];
        assert_eq!((&refused.member, refused.reason), (&stage.options.to[0], Some(Reason::AppDown)));
        assert!(refused.detail.contains("nothing listens"), "{refused:?}");
        let [down, up] = &backends.view()[..] else { panic!("there are two") };
        assert!(!down.up && down.trouble.as_ref().unwrap().contains("nothing listens"), "{down:?}");
        assert!(up.up && up.trouble.is_none() && up.connections == 0, "{up:?}");
    });
}

#[test]
fn when_all_are_down_each_is_tried_and_the_first_that_accepts_is_up_again() {
    on_core(async {
        let stage = Stage::new(2);
        let backends = stage.backends();
        for _ in 0..2 {
            assert!(detail(backends.lease(false, &mut event()).await).contains("nothing listens"));
        }
        assert!(backends.view().iter().all(|view| !view.up));
        let _origin = stage.origin(0, OK);
        assert_eq!(leased(&backends).await.backend(), stage.options.to[0]);
        assert!(backends.view()[0].up && !backends.view()[1].up);
    });
}

#[test]
fn the_health_path_tells_who_is_healthy_who_drains_and_who_fails() {
    on_core(async {
        let mut stage = Stage::new(2);
        (stage.options.health, stage.options.hosts) =
            (Some("/up?x".to_owned()), vec!["*.a".into(), "shop.test".into()]);
        let origins = [stage.origin(0, OK), stage.origin(1, OK)];
        let backends = stage.backends();
        let path = backends.watch.as_ref().unwrap();
        let first = &backends.all[0];
        assert_eq!(watch::check(first, path).await, health::Check::Healthy);
        let head = origins[0].heads.recv().unwrap();
        assert!(head.starts_with("GET /up?x HTTP/1.1\r\n") && head.contains("host: shop.test\r\n"), "{head}");
        for (says, healthy) in [("302 Found", true), ("204 No Content", true), ("404 Not Found", false)] {
            let says: &'static str = format!("HTTP/1.1 {says}\r\n\r\n").leak();
            *origins[0].says.lock().unwrap() = says;
            assert_eq!(watch::check(first, path).await == health::Check::Healthy, healthy, "{says}");
        }
        *origins[0].says.lock().unwrap() = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
        let under_way = first.lease(false, &mut event()).await.unwrap();
        first.checked(watch::check(first, path).await);
        for _ in 0..3 {
            assert_eq!(leased(&backends).await.backend(), stage.options.to[1]);
        }
        assert!(!backends.view()[0].up && backends.view()[0].trouble.as_ref().unwrap().contains("503"));
        // A request under way goes on.
        *origins[0].says.lock().unwrap() = OK;
        asked(under_way).await;
        first.checked(watch::check(first, path).await);
        assert!(backends.view()[0].up);
    });
}

#[test]
fn the_watch_looks_at_once_and_may_run_on_any_thread() {
    fn any_thread<T: Send>(watch: T) -> T {
        watch
    }
    on_core(async {
        let mut stage = Stage::new(1);
        stage.options.health = Some("/up".to_owned());
        let origin = stage.origin(0, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
        let backends = stage.backends();
        let mut watch = std::pin::pin!(any_thread(backends.clone().watch()));
        poll_fn(|cx| {
            let _ = watch.as_mut().poll(cx);
            if backends.view()[0].up { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
        })
        .await;
        assert!(origin.heads.recv().unwrap().starts_with("GET /up HTTP/1.1\r\n"));
    });
}

#[test]
fn a_request_waits_for_the_port_of_a_command_that_starts() {
    on_core(async {
        let mut stage = Stage::new(1);
        stage.options.starts_within = Some(Duration::from_secs(600));
        let backends = stage.backends();
        let mut event = event();
        let lease = {
            let mut lease = std::pin::pin!(backends.lease(false, &mut event));
            assert!(lease.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert!(backends.is_starting());
            let _origin = stage.origin(0, OK);
            lease.await.unwrap()
        };
        assert!(!backends.is_starting() && !lease.is_reused());
        assert!(event.tally(Op::AppConnect).count >= 3);
        assert!(backends.view()[0].up && backends.view()[0].trouble.is_none());
    });
}

#[test]
fn a_command_that_did_not_start_in_time_is_told_apart_from_one_that_is_down() {
    on_core(async {
        let mut stage = Stage::new(1);
        stage.options.starts_within = Some(Duration::ZERO);
        let backends = stage.backends();
        assert!(matches!(backends.lease(false, &mut event()).await, Err(NoBackend::Starting)));
        assert!(!backends.is_starting());
        let _origin = stage.origin(0, OK);
        drop(leased(&backends).await);
        std::fs::remove_dir_all(stage.folder.path()).unwrap();
        assert!(detail(backends.lease(true, &mut event()).await).contains("nothing listens"));
    });
}

#[test]
fn a_failed_response_is_shown_and_the_backend_stays_up() {
    on_core(async {
        let stage = Stage::new(1);
        let (_origin, backends) = (stage.origin(0, OK), stage.backends());
        leased(&backends).await.failed(Reason::AppCut);
        assert!(backends.view()[0].up);
        assert!(backends.view()[0].trouble.as_ref().unwrap().contains("closed its connection"));
    });
}

#[test]
fn settings_that_name_no_backend_or_a_bad_one_are_refused_with_a_hint() {
    let refused = |to: &[&str], health: Option<&str>| {
        let to = to.iter().map(|url| (*url).to_owned()).collect();
        let options = AppOptions { to, health: health.map(str::to_owned), ..AppOptions::of("shop") };
        let error = Backends::new(&options, &Recorder::silent(Clock::default())).unwrap_err();
        assert!(!error.hint.is_empty() && error.app == "shop");
        error.what
    };
    assert!(refused(&[], None).contains("no backend"));
    assert!(refused(&["http://app/x"], None).contains("`http://app/x`"));
    assert!(refused(&["http://me:hush@app"], None).contains("credentials"));
    assert!(!refused(&["http://me:hush@app"], None).contains("hush"));
    assert!(refused(&["http://app", "http://app/"], None).contains("twice"));
    assert!(refused(&["http://app"], Some("up")).contains("`up`"));
    assert!(refused(&["http://app"], Some("/a b")).contains("`/a b`"));
    let many: Vec<String> = (1..=65).map(|port| format!("http://app:{port}")).collect();
    assert!(refused(&many.iter().map(String::as_str).collect::<Vec<_>>(), None).contains("more than 64"));
}
