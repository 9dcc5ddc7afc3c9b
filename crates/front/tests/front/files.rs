//! Files in responses: every byte is the file's, whether the kernel sends it or it passes through buffers.

use crate::running_front::{Client, Front, ROPE, options, pattern};
use front::{Limits, Options};
use std::sync::Arc;
use telemetry::{Bound, BoundName, Op, Outcome, Reason};

/// Sizes around every limit: a buffer, the threshold of sendfile, a turn.
const SIZES: [usize; 13] = [
    1, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 1_048_575, 1_048_576, 1_048_577, 2_097_152, 5_000_003,
    16_777_217,
];

fn front(sendfile: bool, file_buffers: u64) -> Front {
    let limits = Limits { file_buffers, ..Limits::default() };
    Front::with(Options { sendfile, ..options(limits) })
}

fn bound(front: &Front, name: BoundName) -> Arc<Bound> {
    front.recorder.bounds().into_iter().find(|bound| bound.name() == name).unwrap()
}

/// Without assert_eq, which would print two megabytes.
fn check(body: &[u8], expected: &[u8]) {
    assert_eq!(body.len(), expected.len());
    if body != expected {
        let at = body.iter().zip(expected).position(|(is, should)| is != should).unwrap();
        panic!("byte {at} of {} is {} and should be {}", body.len(), body[at], expected[at]);
    }
}

#[test]
fn files_of_all_sizes_come_whole_and_the_connection_lives_on() {
    for sendfile in [true, false] {
        let front = front(sendfile, 2);
        let mut client = front.client();
        for size in SIZES {
            let answer = client.get(&format!("/files/{size}/{size}"));
            assert_eq!((answer.status, client.get("/between").status), (200, 200));
            check(&answer.body, &pattern(size));
            let event = front.event();
            assert_eq!((event.bytes_out, event.outcome), (size as u64, Some(Outcome::Answered)), "{size}");
            assert_eq!(front.event().path, "/between");
        }
        assert_eq!(bound(&front, BoundName::FileBuffers).used(), 0);
    }
}

#[test]
fn the_kernel_sends_large_files_alone_and_only_where_it_may() {
    for (sendfile, size, buffered) in [(true, 65_537, 0), (true, 65_536, 1), (false, 65_537, 1)] {
        let front = front(sendfile, 4);
        check(&front.client().get(&format!("/files/{size}/{size}")).body, &pattern(size));
        assert_eq!(bound(&front, BoundName::FileBuffers).highest(), buffered, "{sendfile} {size}");
    }
}

#[test]
fn a_range_of_a_file_is_that_part_of_it() {
    let (size, whole) = (5_000_003, pattern(5_000_003));
    let ranges = [(0, 0), (0, 5_000_002), (1, 262_144), (1_048_575, 4_194_305), (4_999_000, 5_000_002), (7, 262_149)];
    for sendfile in [true, false] {
        let front = front(sendfile, 2);
        let mut client = front.client();
        for (from, to) in ranges {
            client.send(format!("GET /files/{size}/{size} HTTP/1.1\r\nhost: a\r\nrange: bytes={from}-{to}\r\n\r\n"));
            let answer = client.answer();
            assert_eq!(answer.status, 206);
            check(&answer.body, &whole[from..=to]);
            assert_eq!(front.event().bytes_out, (to - from + 1) as u64);
        }
    }
}

#[test]
fn what_lies_in_memory_in_pieces_comes_whole_and_in_part() {
    let (front, whole) = (front(true, 2), pattern(ROPE));
    let mut client = front.client();
    check(&client.get("/rope").body, &whole);
    assert_eq!(front.event().bytes_out, ROPE as u64);
    for (from, to) in [(0, 0), (70_000, 70_001), (3, 4_000_000), (5_000_000, 5_000_002)] {
        client.send(format!("GET /rope HTTP/1.1\r\nhost: a\r\nrange: bytes={from}-{to}\r\n\r\n"));
        let answer = client.answer();
        assert_eq!(answer.status, 206);
        check(&answer.body, &whole[from..=to]);
        assert_eq!(front.event().bytes_out, (to - from + 1) as u64);
    }
}

#[test]
fn a_download_that_broke_off_is_continued_only_with_the_same_file() {
    let front = front(true, 2);
    let (size, whole) = (5_000_003, pattern(5_000_003));
    let mut first = front.client();
    first.send(format!("GET /files/{size}/{size} HTTP/1.1\r\nhost: a\r\n\r\n"));
    first.head();
    let mut held = first.body(1_234_567);
    drop(first);
    let mut client = front.client();
    for (condition, status) in [
        ("if-range: \"5000003\"", 206),
        ("if-range: \"5000004\"", 200),
        ("if-match: \"5000003\"", 206),
        ("if-match: \"5000004\"", 412),
    ] {
        client.send(format!(
            "GET /files/{size}/{size} HTTP/1.1\r\nhost: a\r\nrange: bytes={}-\r\n{condition}\r\n\r\n",
            held.len()
        ));
        let answer = client.answer();
        assert_eq!(answer.status, status, "{condition}");
        match status {
            206 => check(&answer.body, &whole[held.len()..]),
            200 => check(&answer.body, &whole),
            _ => assert!(answer.body.is_empty()),
        }
    }
    client.send(format!("GET /files/{size}/{size} HTTP/1.1\r\nhost: a\r\nrange: bytes={}-\r\n\r\n", held.len()));
    held.extend(client.answer().body);
    check(&held, &whole);
}

#[test]
fn replies_about_a_large_file_without_its_bytes_leave_nothing_behind() {
    let front = front(true, 2);
    let mut client = front.client();
    for (method, range, status) in [("HEAD", "0-", 200), ("GET", "6000000-", 416)] {
        client.send(format!("{method} /files/5000003/5000003 HTTP/1.1\r\nhost: a\r\nrange: bytes={range}\r\n\r\n"));
        assert_eq!(client.head().0, status);
        assert_eq!(client.get("/next").body, b"/next None");
        check(&client.get("/files/262145/262145").body, &pattern(262_145));
    }
}

#[test]
fn pipelined_files_and_short_replies_come_in_order() {
    let front = front(true, 2);
    let mut client = front.client();
    let asked: Vec<_> = (0..24).map(|turn| [300_000, 1_048_577, 1000, 262_144][turn % 4] + turn).collect();
    let requests = asked.iter().map(|size| {
        format!("GET /files/{size}/{size} HTTP/1.1\r\nhost: a\r\n\r\nGET /after-{size} HTTP/1.1\r\nhost: a\r\n\r\n")
    });
    client.send(requests.collect::<String>());
    for size in asked {
        check(&client.answer().body, &pattern(size));
        assert_eq!(client.answer().body, format!("/after-{size} None").as_bytes());
    }
}

#[test]
fn a_client_that_reads_little_at_a_time_gets_the_file_s_bytes() {
    for sendfile in [true, false] {
        let front = front(sendfile, 1);
        let mut client = client_with_small_window(&front);
        client.send("GET /files/5000003/5000003 HTTP/1.1\r\nhost: a\r\n\r\n");
        client.head();
        let mut body = client.body(0);
        while body.len() < 5_000_003 {
            let more = (5_000_003 - body.len()).min(997);
            body.extend(client.body(more));
        }
        check(&body, &pattern(5_000_003));
        assert_eq!(front.event().bytes_out, 5_000_003);
    }
}

#[test]
fn a_file_cut_short_breaks_the_connection_after_its_last_byte() {
    for sendfile in [true, false] {
        for (said, there) in [(300_000, 299_999), (300_000, 0), (3_000_000, 1_048_576), (3_000_000, 2_999_999)] {
            let front = front(sendfile, 2);
            let mut client = front.client();
            client.send(format!("GET /files/{said}/{there} HTTP/1.1\r\nhost: a\r\n\r\n"));
            let all = client.rest();
            let body = all.windows(4).position(|four| four == b"\r\n\r\n").map(|at| &all[at + 4..]);
            check(body.unwrap_or_default(), &pattern(there));
            let event = front.event();
            assert_eq!((event.outcome, event.reason), (Some(Outcome::Failed), Some(Reason::Io)));
            assert_eq!(event.bytes_out, there as u64, "{sendfile} {said} {there}");
        }
    }
}

#[test]
fn what_a_client_that_leaves_has_not_taken_is_not_counted() {
    for sendfile in [true, false] {
        let front = front(sendfile, 2);
        let mut client = client_with_small_window(&front);
        client.send("GET /files/16777217/16777217 HTTP/1.1\r\nhost: a\r\n\r\n");
        client.head();
        check(&client.body(100_000), &pattern(100_000));
        drop(client);
        let event = front.event();
        assert_eq!(event.outcome, Some(Outcome::ClientGone));
        assert!((100_000..16_777_217).contains(&event.bytes_out), "{}", event.bytes_out);
    }
}

#[test]
fn a_file_that_is_only_on_disk_is_read_by_a_thread_and_not_by_the_core() {
    for sendfile in [true, false] {
        let front = front(sendfile, 2);
        let size = 3_000_000 + usize::from(sendfile);
        // Creates the file; then the kernel evicts it.
        front.client().send(format!("HEAD /files/{size}/{size} HTTP/1.1\r\nhost: a\r\n\r\n"));
        front.event();
        crate::running_front::forget(size);
        check(&front.client().get(&format!("/files/{size}/{size}")).body, &pattern(size));
        assert!(front.event().tally(Op::BodyRead).count > 0);
        let threads = bound(&front, BoundName::FileThreads);
        assert!((1..10).contains(&threads.waits().count()), "{}", threads.waits().count());
        assert_eq!(threads.used(), 0);
    }
}

#[test]
fn five_hundred_slow_readers_of_a_large_file_hold_a_socket_each_and_no_buffer() {
    let front = front(true, 4);
    let mut clients: Vec<_> = (0..500).map(|_| client_with_small_window(&front)).collect();
    for client in &mut clients {
        client.send("GET /files/16777217/16777217 HTTP/1.1\r\nhost: a\r\n\r\n");
        client.head();
    }
    for client in &mut clients {
        check(&client.body(10_000), &pattern(10_000));
    }
    assert_eq!(front.released(), 0);
    let (buffers, threads) = (bound(&front, BoundName::FileBuffers), bound(&front, BoundName::FileThreads));
    assert_eq!((buffers.highest(), threads.used()), (0, 0));
    assert_eq!(front.client().get("/quick").status, 200);
}

#[test]
fn readers_share_the_buffers_there_are_and_all_get_their_file() {
    let front = front(false, 3);
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                let mut client = client_with_small_window(&front);
                for size in [262_145, 1_048_577, 1000] {
                    check(&client.get(&format!("/files/{size}/{size}")).body, &pattern(size));
                }
            });
        }
    });
    // A client may have its last byte before the server has the buffer back, but the event comes after both.
    for _ in 0..150 {
        front.event();
    }
    let buffers = bound(&front, BoundName::FileBuffers);
    assert!((1..=3).contains(&buffers.highest()), "{}", buffers.highest());
    assert_eq!(buffers.used(), 0);
}

#[test]
fn slow_readers_that_hold_all_buffers_hold_up_nobody_and_give_them_back() {
    let front = front(false, 2);
    let mut slow: Vec<_> = (0..20).map(|_| client_with_small_window(&front)).collect();
    for client in &mut slow {
        client.send("GET /files/16777217/16777217 HTTP/1.1\r\nhost: a\r\n\r\n");
        client.head();
    }
    let buffers = bound(&front, BoundName::FileBuffers);
    while buffers.used() < 2 || buffers.rejected() < 20 {
        std::thread::yield_now();
    }
    check(&front.client().get("/files/1048577/1048577").body, &pattern(1_048_577));
    assert_eq!(front.event().path, "/files/1048577/1048577");
    drop(slow);
    for _ in 0..20 {
        assert_eq!(front.event().outcome, Some(Outcome::ClientGone));
    }
    assert_eq!((buffers.used(), buffers.highest()), (0, 2));
}

/// Takes few bytes at once, so that replies are written in parts.
fn client_with_small_window(front: &Front) -> Client {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(&front.address.into()).unwrap();
    Client::over(socket.into())
}
