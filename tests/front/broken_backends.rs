//! Backends that hang, drip, reset, or lie about the length of what they say: no half answer is taken for a whole one, nothing of it is
//! kept, and others are not harmed.

use super::gate::Gate;
use super::origin::{Origin, response};
use super::program::Front;
use crate::world::TIMEOUT;
use std::io::{self, Read as _, Write as _};

const KEEP: &str = "Cache-Control: public, max-age=600\r\n";

/// What a backend says before it closes the connection, all of it broken.
fn broken() -> Vec<(&'static str, Vec<u8>)> {
    let ok = format!("HTTP/1.1 200 OK\r\n{KEEP}");
    let half = format!("{ok}Content-Length: 10\r\n\r\nhalf");
    let large = [half.replace("10", "3000000").as_bytes(), &vec![b'x'; 1_000_000]].concat();
    vec![
        ("closes before it says anything", Vec::new()),
        ("closes within its first line", b"HTTP/1.1 20".to_vec()),
        ("closes within its head", format!("{ok}Content-").into_bytes()),
        ("closes within a body of known length", half.into_bytes()),
        ("closes within a large body", large),
        ("closes within a chunk", format!("{ok}Transfer-Encoding: chunked\r\n\r\na\r\nhalf").into_bytes()),
        ("closes before its last chunk", format!("{ok}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n").into_bytes()),
        (
            "closes before its trailers end",
            format!("{ok}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\nX: ").into_bytes(),
        ),
        ("says a wrong chunk", format!("{ok}Transfer-Encoding: chunked\r\n\r\n4\r\nhalfX\r\n0\r\n\r\n").into_bytes()),
        ("says two lengths", format!("{ok}Content-Length: 4\r\nContent-Length: 8\r\n\r\nhalfhalf").into_bytes()),
        ("says a length that is none", format!("{ok}Content-Length: -4\r\n\r\nhalf").into_bytes()),
        ("says a coding that nobody knows", format!("{ok}Transfer-Encoding: half\r\n\r\nhalf").into_bytes()),
        ("says a header that is none", format!("{ok}half\r\nContent-Length: 4\r\n\r\nhalf").into_bytes()),
        ("says no status", b"half an answer\r\n\r\n".to_vec()),
        ("says a status that is none", b"HTTP/1.1 99999 OK\r\nContent-Length: 4\r\n\r\nhalf".to_vec()),
        ("speaks another protocol", b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()),
        (
            "switches protocols unasked",
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: half\r\nConnection: Upgrade\r\n\r\nhalf".to_vec(),
        ),
        ("says a head without end", format!("{ok}X: {}", "half".repeat(300_000)).into_bytes()),
    ]
}

/// Asks, and returns the reply if it is a whole one that claims success.
fn whole(front: &Front) -> Option<Vec<u8>> {
    let mut client = front.connect();
    client.send(b"GET /broken HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    client.stream().set_read_timeout(Some(TIMEOUT)).unwrap();
    let told = client.answer(false);
    if let Err(error) = &told {
        assert_ne!(error.kind(), io::ErrorKind::WouldBlock, "no reply and no end");
    }
    told.ok().filter(|told| told.status < 400).map(|told| told.body)
}

#[test]
fn half_an_answer_is_never_taken_for_a_whole_one_and_never_kept() {
    for (what, bytes) in broken() {
        for reset in [false, true] {
            let said = bytes.clone();
            let origin = Origin::start(move |heard, client| {
                if heard.target != "/broken" {
                    return client.write_all(&response("200 OK", &[], b"whole")).map(|()| true);
                }
                client.write_all(&said)?;
                if reset { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(false) }
            });
            let front = Front::to(&[&origin.url()]);
            for _ in 0..3 {
                let got = whole(&front);
                assert!(
                    got.is_none(),
                    "a backend that {what} (reset: {reset}): the client has {got:?} as a whole reply"
                );
                front.get("/fine").expect(200);
            }
            assert!(origin.count_of("/broken") >= 3, "{what}: it was kept");
        }
    }
}

#[test]
fn an_answer_that_ends_with_its_connection_is_whole_unless_the_connection_was_reset() {
    let origin = Origin::start(|heard, client| {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")?;
        if heard.target == "/reset" { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(false) }
    });
    let front = Front::to(&[&origin.url()]);
    assert_eq!(front.get("/whole").expect(200).text(), "until the end");
    let reset = front.raw(b"GET /reset HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(reset.is_err() || reset.as_ref().unwrap().status == 502, "{reset:?}");
}

#[test]
fn an_answer_that_drips_arrives_byte_by_byte_and_holds_its_own_slot_only() {
    let gates: Vec<Gate> = (0..4).map(|_| Gate::closed()).collect();
    let held = gates.clone();
    let origin = Origin::start(move |heard, client| {
        if heard.target != "/drips" {
            return client.write_all(&response("200 OK", &[], b"quick")).map(|()| true);
        }
        client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/event-stream\r\n\r\n")?;
        for (gate, byte) in held.iter().zip(b"drip") {
            gate.pass()?;
            client.write_all(&[*byte])?;
        }
        Ok(true)
    });
    let front = Front::to(&[&origin.url()]);
    let mut client = front.connect();
    client.send(b"GET /drips HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    for gate in &gates {
        gate.await_inside(1);
        front.get("/quick").expect(200);
        gate.open();
    }
    assert_eq!(client.answer(false).unwrap().expect(200).text(), "drip");
}

#[test]
fn clients_that_leave_a_hanging_backend_hold_no_slot_after_it() {
    let gates: Vec<Gate> = (0..3).map(|_| Gate::closed()).collect();
    let held = gates.clone();
    let origin = Origin::start(move |heard, client| {
        if let Some(round) = heard.target.strip_prefix("/hangs/") {
            held[round.parse::<usize>().unwrap()].pass()?;
        }
        client.write_all(&response("200 OK", &[], b"quick")).map(|()| true)
    });
    let text = format!("[[app]]\nname = \"shop\"\nlisten = \"127.0.0.1:0\"\nto = \"{}\"\nslots = 1\n", origin.url());
    let front = Front::configured(&text);
    for (round, gate) in gates.iter().enumerate() {
        let mut client = front.connect();
        client.send(format!("GET /hangs/{round} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).unwrap();
        gate.await_inside(1);
        drop(client);
        gate.open();
        // The only slot is free again.
        front.get("/quick").expect(200);
    }
}

#[test]
fn a_backend_that_answers_before_it_has_read_the_upload_is_heard() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let early = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.read_exact(&mut [0; 64]).unwrap();
        client.write_all(&response("413 Content Too Large", &["Connection: close"], b"too large")).unwrap();
        // It reads no more, and keeps the connection until the client has its answer.
        client
    });
    let front = Front::to(&[&url]);
    let told = front.ask("POST", "/upload", &[], &vec![7; 20 << 20]).expect(413);
    assert_eq!(told.text(), "too large");
    drop(early.join().unwrap());
}

#[test]
fn nobody_listens_and_that_is_told_with_its_reason() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let front = Front::to(&[&url]);
    let told = front.get("/");
    assert!(matches!(told.status, 502 | 503), "{told:?}");
    assert_eq!(front.event(&told)["reason"], "app_down");
}

#[test]
fn a_backend_that_accepts_and_never_answers_is_told_so_after_its_time() {
    let gate = Gate::closed();
    let origin = Origin::start(move |_, _| gate.pass().map(|()| false));
    let front = Front::configured(&format!(
        "[[app]]\nlisten = \"127.0.0.1:0\"\nto = \"{}\"\nanswer_timeout_s = 1\n",
        origin.url()
    ));
    let told = front.get("/").expect(504);
    assert_eq!(front.event(&told)["reason"], "app_silent");
}
