//! Request smuggling: a request whose end can be read in two ways hides another one from a proxy in front of the
//! server.

use super::{LAST, healthy, push, statuses};
use crate::world::World;

/// Asserts that there is one refusal of this class, and that the hidden request is never answered.
#[track_caller]
fn refused(world: &World, what: &str, request: &str) {
    let told = statuses(world, format!("{request}{LAST}").as_bytes());
    assert!(matches!(told[..], [400 | 501]), "{what}: {told:?}");
}

#[test]
fn a_body_whose_end_can_be_read_in_two_ways_is_refused_and_what_it_hides_is_not_answered() {
    let world = World::start();
    let push = push(&world);
    for length in ["5\r\nContent-Length: 6", "5, 6", "5, 5", "+5", "-5", "0x5", "5 5", "", "99999999999999999999999"] {
        refused(&world, length, &format!("{push}Content-Length: {length}\r\n\r\nhello"));
    }
    let (length, chunks) = ("Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n");
    for headers in [format!("{length}{chunks}"), format!("{chunks}{length}"), format!("{length}{chunks}{length}")] {
        // RFC 9112, 6.1: `Transfer-Encoding` takes precedence, and the connection is closed after it.
        let told = statuses(&world, format!("{push}{headers}\r\n0\r\n\r\n{LAST}").as_bytes());
        assert!(matches!(told[..], [400 | 422]), "{headers}: {told:?}");
    }
    let codings = ["xchunked", "identity", "gzip, chunked", "chunked, identity", "chunked, chunked", "\u{b}chunked"];
    for coding in codings {
        refused(&world, coding, &format!("{push}Transfer-Encoding: {coding}\r\n\r\n0\r\n\r\n"));
    }
    for headers in [
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding\t: chunked",
        "Transfer-Encoding:\r\n chunked",
        "X: a\r\n\tb",
        "X: a\rTransfer-Encoding: chunked",
        " X: a",
    ] {
        refused(&world, headers, &format!("{push}{headers}\r\n\r\n0\r\n\r\n"));
    }
    let older = push.replace("HTTP/1.1", "HTTP/1.0");
    refused(&world, "chunks of HTTP/1.0", &format!("{older}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"));
    for chunks in [
        "5\nhello\n0\n\n",
        "5;\nxx\r\n\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "0_5\r\nhello\r\n0\r\n\r\n",
        "10000000000000005\r\nhello\r\n0\r\n\r\n",
        "5\r\nhelloXX0\r\n\r\n",
        "5\r\nhell\r\n0\r\n\r\n",
    ] {
        refused(&world, chunks, &format!("{push}Transfer-Encoding: chunked\r\n\r\n{chunks}"));
    }
    healthy(&world);
}

#[test]
fn a_head_with_a_nul_without_a_host_or_with_two_is_refused() {
    let world = World::start();
    let host = "Host: localhost\r\n";
    for (line, headers) in [
        ("GET / HTTP/1.1", format!("{host}X: a\0b\r\n")),
        ("GET / HTTP/1.1", format!("{host}X\0: a\r\n")),
        ("GET /\0 HTTP/1.1", host.to_owned()),
        ("GET /\u{7f} HTTP/1.1", host.to_owned()),
        ("GET  / HTTP/1.1", host.to_owned()),
        ("GET\t/\tHTTP/1.1", host.to_owned()),
        ("G@T\0 / HTTP/1.1", host.to_owned()),
        ("GET / HTTP/1.2", host.to_owned()),
        ("GET /", host.to_owned()),
        ("GET / HTTP/1.1", String::new()),
        ("GET / HTTP/1.1", format!("{host}Host: elsewhere\r\n")),
    ] {
        refused(&world, &format!("{line} {headers:?}"), &format!("{line}\r\n{headers}\r\n"));
    }
    healthy(&world);
}

#[test]
fn a_line_of_a_head_that_ends_without_a_cr_is_refused() {
    let world = World::start();
    let (line, host) = ("GET /health/live HTTP/1.1", "Host: localhost");
    for head in [
        format!("{line}\n{host}\n\n"),
        format!("{line}\n{host}\r\n\r\n"),
        format!("{line}\r\n{host}\n\r\n"),
        format!("{line}\r\n{host}\r\n\n"),
        format!("{line}\r\n{host}\r\nX: a\nTransfer-Encoding: chunked\r\n\r\n"),
        format!("\n{line}\r\n{host}\r\n\r\n"),
    ] {
        refused(&world, &format!("{head:?}"), &head);
        // After another request, and after a body, in the same packet.
        let (first, push) = (format!("{line}\r\n{host}\r\n\r\n"), push(&world));
        assert_eq!(statuses(&world, format!("{first}{head}{LAST}").as_bytes()), [200, 400], "{head:?}");
        let body = format!("{push}Content-Length: 6\r\n\r\nx\ny\r\nz");
        assert_eq!(statuses(&world, format!("{body}{head}{LAST}").as_bytes()), [422, 400], "{head:?}");
        let body = format!("{push}Transfer-Encoding: chunked\r\n\r\n6\r\nx\ny\r\nz\r\n0\r\n\r\n");
        assert_eq!(statuses(&world, format!("{body}{head}{LAST}").as_bytes()), [422, 400], "{head:?}");
    }
    // Split at any byte.
    let head = format!("{line}\r\n{host}\nX: y\r\n\r\n");
    for cut in 1..head.len() {
        let mut connection = world.anon().connect().unwrap();
        connection.send(&head.as_bytes()[..cut]).unwrap();
        // So that the next part arrives in a packet of its own.
        world.anon().get("/health/live").expect(200);
        let _ = connection.send(&head.as_bytes()[cut..]);
        connection.answer(false).unwrap().expect(400);
    }
    healthy(&world);
}

#[test]
fn an_upload_that_lies_about_its_length_is_cut_there() {
    let world = World::start();
    let push = push(&world);
    // More bytes than announced: the rest is the next request, which is invalid.
    let told = statuses(&world, format!("{push}Content-Length: 5\r\n\r\nhelloworld\r\n\r\n{LAST}").as_bytes());
    assert_eq!(told, [422, 400]);
    // Fewer bytes than announced: the next request becomes the body, and then the client leaves.
    let mut connection = world.anon().connect().unwrap();
    connection.send(format!("{push}Content-Length: 5000\r\n\r\nhello{LAST}").as_bytes()).unwrap();
    super::hang_up(&connection);
    assert!(!connection.answer(false).is_ok_and(|answer| answer.status < 400));
    healthy(&world);
}
