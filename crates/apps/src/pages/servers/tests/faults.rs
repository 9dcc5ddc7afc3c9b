//! Servers that are silent, gone, or not what they seem.

use super::real::{free_port, memcached};
use super::scripted::Scripted;
use super::*;
use std::time::Duration;
use tokio::join;
use tokio::task::yield_now;

/// The process that a scripted server tells.
const INSTANCE: u64 = (100 << 22) + 7;

/// Settings with which a silent server is noticed at once.
fn impatient(url: &str) -> PagesOptions {
    PagesOptions { timeout: Duration::from_millis(200), ..options(&[url.to_owned()]) }
}

/// Reads until the answer is none of a server that is down.
async fn once_up(servers: &Servers, key: &str) -> Answer {
    loop {
        match read(servers, ask(key)).await {
            Answer::Failed(Trouble::Unreachable | Trouble::Timeout) => yield_now().await,
            answer => return answer,
        }
    }
}

const UNREACHABLE: Answer = Answer::Failed(Trouble::Unreachable);
const TIMEOUT: Answer = Answer::Failed(Trouble::Timeout);

#[test]
fn all_reads_of_a_turn_are_sent_together() {
    on_core(async {
        let scripted = Scripted::new().await;
        let servers = servers(&options(&[scripted.url()]));
        let (first, mut accepted) = join!(read(&servers, ask("a")), async {
            let mut accepted = scripted.greeted().await;
            accepted.expect("mg a v f c OA\r\n").await;
            accepted.send("EN OA\r\n").await;
            accepted
        });
        assert_eq!(first, Answer::Missing);
        let instance = servers.hosts[0].instance(INSTANCE);
        let known = Ask { known: Some(Version { instance, cas: 7 }), early_s: Some(9), ..ask("k") };
        let serve = async {
            let sent = accepted.receive().await;
            assert_eq!(sent, "mg a v f c OB\r\nmg b v f c OC\r\nmg k c OD R9\r\n");
            accepted.send("EN\r\nVA 1 f0 c3 OC\r\nb\r\nHD c8 OD W\r\n").await;
            assert_eq!(accepted.receive().await, "mg k v f c OE\r\n");
            accepted.send("VA 3 W c8 f0 OE\r\nnew\r\n").await;
        };
        let keys = [ask("a"), ask("b")];
        let (answers, changed, ()) = join!(servers.read(&keys), read(&servers, known), serve);
        assert_eq!(answers[0], Answer::Missing);
        assert_eq!(item(answers[1].clone()).value, "b");
        let changed = item(changed);
        assert_eq!(
            (&changed.value[..], changed.version, changed.won),
            (&b"new"[..], Some(Version { instance, cas: 8 }), true)
        );
    });
}

#[test]
fn a_read_that_was_given_up_takes_no_other_reply() {
    on_core(async {
        let scripted = Scripted::new().await;
        let servers = servers(&options(&[scripted.url()]));
        let mut accepted = {
            let mut given_up = Box::pin(read(&servers, ask("a")));
            let serve = async {
                let mut accepted = scripted.greeted().await;
                accepted.expect("mg a v f c OA\r\n").await;
                accepted
            };
            tokio::select! {
                accepted = serve => accepted,
                _ = &mut given_up => panic!("there is no reply"),
            }
        };
        assert_eq!(servers.view()[0].busy, 0);
        let serve = async {
            accepted.expect("mg b v f c OB\r\n").await;
            accepted.send("VA 1 f0 c1 OA\r\na\r\nVA 1 f0 c1 OB\r\nb\r\n").await;
        };
        let (answer, ()) = join!(read(&servers, ask("b")), serve);
        assert_eq!(item(answer).value, "b");
    });
}

#[test]
fn a_server_that_is_silent_costs_one_read_its_time_and_is_used_again_when_a_reply_comes_in_time() {
    on_core(async {
        let scripted = Scripted::new().await;
        let servers = servers(&impatient(&scripted.url()));
        let (answer, mut accepted) = join!(read(&servers, ask("a")), scripted.accept());
        assert_eq!((answer, servers.view()[0].up), (TIMEOUT, false));
        for _ in 0..100 {
            assert_eq!(read(&servers, ask("a")).await, TIMEOUT);
        }
        accepted.expect("mn\r\n").await;
        accepted.send("MN\r\n").await;
        accepted.tell_process().await;
        while !servers.view()[0].up {
            yield_now().await;
        }
        // The reply to a read comes late, and is not that of the next read.
        let (answer, ()) = join!(read(&servers, ask("b")), accepted.expect("mg b v f c OA\r\n"));
        assert_eq!((answer, servers.view()[0].up), (TIMEOUT, false));
        assert!(servers.view()[0].trouble.as_ref().unwrap().contains("no reply within 200 ms"));
        accepted.send("VA 1 f0 c1 OA\r\nb\r\n").await;
        let serve = async {
            accepted.expect("mg c v f c OB\r\n").await;
            accepted.send("VA 1 f0 c1 OB\r\nc\r\n").await;
        };
        let (answer, ()) = join!(once_up(&servers, "c"), serve);
        assert_eq!((&item(answer).value[..], servers.view()[0].up), (&b"c"[..], true));
    });
}

#[test]
fn a_server_that_stays_silent_is_left_for_a_new_connection() {
    on_core(async {
        let scripted = Scripted::new().await;
        let servers = servers(&impatient(&scripted.url()));
        let silent = async {
            let mut accepted = scripted.greeted().await;
            accepted.closed().await;
            let mut accepted = scripted.greeted().await;
            accepted.expect("mg a v f c OA\r\n").await;
            accepted.send("EN\r\n").await;
            accepted
        };
        let (answer, _accepted) = join!(once_up(&servers, "a"), silent);
        assert_eq!(answer, Answer::Missing);
    });
}

#[test]
fn a_server_that_is_gone_is_not_asked_and_found_when_it_is_back() {
    let real = memcached(free_port(), &[]);
    let port = real.port;
    real.set("a", b"1");
    on_core(async {
        let servers = servers(&options(&[real.url()]));
        assert_eq!(item(read(&servers, ask("a")).await).value, "1");
        drop(real);
        assert_eq!(read(&servers, ask("a")).await, UNREACHABLE);
        while servers.view()[0].up {
            assert_eq!(read(&servers, ask("a")).await, UNREACHABLE);
        }
        let view = servers.view().remove(0);
        assert!(view.trouble.as_ref().unwrap().contains("nothing listens"), "{view:?}");
        assert_eq!(view.connections, 0);
        let real = memcached(port, &[]);
        real.set("a", b"2");
        assert_eq!(item(once_up(&servers, "a").await).value, "2");
        assert!(servers.view()[0].up);
    });
}

#[test]
fn replies_that_cannot_be_understood_end_the_connection_and_go_to_nobody() {
    for reply in [
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "VA 1 f0 c1 OB\r\na\r\n",
        "VA 1 f0 c1 OA\r\nabc\r\n",
        "HD c1 OA\r\n",
        "VA 99999999999 f0 c1 OA\r\n",
    ] {
        on_core(async {
            let scripted = Scripted::new().await;
            let servers = servers(&options(&[scripted.url()]));
            let serve = async {
                let mut accepted = scripted.greeted().await;
                accepted.expect("mg a v f c OA\r\n").await;
                accepted.send(reply).await;
                accepted.closed().await;
            };
            let (answer, ()) = join!(read(&servers, ask("a")), serve);
            assert_eq!(answer, Answer::Failed(Trouble::Invalid), "{reply}");
            assert!(servers.view()[0].trouble.is_some());
        });
    }
}

#[test]
fn bytes_that_nobody_asked_for_end_the_connection() {
    on_core(async {
        let scripted = Scripted::new().await;
        let servers = servers(&options(&[scripted.url()]));
        let serve = async {
            let mut accepted = scripted.greeted().await;
            accepted.expect("mg a v f c OA\r\n").await;
            accepted.send("EN\r\nVA 1 f0 c1 OB\r\nx\r\n").await;
            accepted.closed().await;
            let mut accepted = scripted.greeted().await;
            accepted.expect("mg b v f c OA\r\n").await;
            accepted.send("VA 1 f0 c1 OA\r\nb\r\n").await;
        };
        let reads = async {
            assert_eq!(read(&servers, ask("a")).await, Answer::Missing);
            while servers.view()[0].connections > 0 {
                yield_now().await;
            }
            item(read(&servers, ask("b")).await)
        };
        assert_eq!(join!(reads, serve).0.value, "b");
    });
}

#[test]
fn a_refusal_is_an_answer_and_its_words_are_shown() {
    on_core(async {
        let scripted = Scripted::new().await;
        let servers = servers(&options(&[scripted.url()]));
        let serve = async {
            let mut accepted = scripted.greeted().await;
            accepted.expect("mg a v f c OA\r\n").await;
            accepted.send("SERVER_ERROR out of memory writing get response\r\n").await;
            accepted.expect("mg a v f c OB\r\n").await;
            accepted.send("CLIENT_ERROR bad command line format\r\n").await;
            accepted.closed().await;
        };
        let reads = async {
            assert_eq!(read(&servers, ask("a")).await, Answer::Failed(Trouble::Refused));
            assert!(servers.view()[0].trouble.as_ref().unwrap().contains("out of memory"));
            assert_eq!(read(&servers, ask("a")).await, Answer::Failed(Trouble::Refused));
        };
        join!(reads, serve);
    });
}

#[test]
fn more_reads_than_the_bound_are_busy() {
    on_core(async {
        let scripted = Scripted::new().await;
        let servers = servers(&options(&[scripted.url()]));
        let bound = servers.hosts[0].reads().clone();
        let _others = bound.hold(bound.capacity()).unwrap();
        assert_eq!(read(&servers, ask("a")).await, Answer::Failed(Trouble::Busy));
        assert_eq!(bound.rejected(), 1);
    });
}

#[test]
fn the_keys_of_a_server_that_is_slow_or_refuses_are_not_looked_for_on_another() {
    on_core(async {
        let (slow, other) = (Scripted::new().await, memcached(free_port(), &[]));
        let urls = [slow.url(), other.url()];
        let servers = servers(&PagesOptions { timeout: Duration::from_millis(20), ..options(&urls) });
        let keys = (0..100).map(|at| format!("k{at}"));
        let of_slow = keys.clone().find(|key| servers.ring.server(key.as_bytes(), |_| true) == Some(0)).unwrap();
        other.set(&of_slow, b"older");
        let (answer, mut accepted) = join!(read(&servers, ask(&of_slow)), scripted_silence(&slow));
        assert_eq!(answer, TIMEOUT);
        for _ in 0..10 {
            assert_eq!(read(&servers, ask(&of_slow)).await, TIMEOUT);
        }
        accepted.send("CLIENT_ERROR unauthenticated\r\n").await;
        while servers.view()[0].connections > 0 {
            yield_now().await;
        }
        assert_eq!(read(&servers, ask(&of_slow)).await, Answer::Failed(Trouble::Refused));
    });
}

/// A connection whose first command gets no reply.
async fn scripted_silence(scripted: &Scripted) -> super::scripted::Accepted {
    let mut accepted = scripted.accept().await;
    accepted.expect("mn\r\n").await;
    accepted
}
