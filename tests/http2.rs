//! HTTP/2 with curl, and with hand-made frames that curl cannot send.

use crate::world::frames::{ALL, Ended, Frames, WINDOW_UPDATE};
use crate::world::{FIRST, Gem, World, await_true};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

fn curl(world: &World, path: &str, more: &[&str]) -> Output {
    let url = format!("http://{}{path}", world.address());
    let flags = ["--silent", "--show-error", "--max-time", "60", "--http2-prior-knowledge"];
    let told = Command::new("curl").args(flags).args(more).arg(url).output().unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    told
}

/// The protocol, the status and the number of bytes that curl reports, and the head that it received.
fn told(world: &World, path: &str, more: &[&str]) -> (String, String) {
    let flags =
        ["--output", "/dev/null", "--dump-header", "-", "--write-out", "%{http_version} %{http_code} %{size_download}"];
    let all = String::from_utf8(curl(world, path, &[&flags, more].concat()).stdout).unwrap();
    let (head, told) = all.rsplit_once("\r\n\r\n").unwrap();
    (told.to_owned(), head.to_owned())
}

#[test]
fn gems_are_pushed_and_fetched_in_frames_whole_in_part_and_conditionally() {
    let world = World::start();
    let noise: Vec<u8> = (0..20_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let gem = Gem::new("lamp", "1.0.0").payload(&noise).bytes();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lamp.gem");
    std::fs::write(&file, &gem).unwrap();
    let (token, body) = (format!("Authorization: {}", world.admin().secret()), format!("@{}", file.display()));
    let push = ["--data-binary", &body, "-H", "Content-Type: application/octet-stream"];
    let gems = format!("/repository/{FIRST}/api/v1/gems");
    assert!(told(&world, &gems, &push).0.starts_with("2 401 "));
    let push = [&push[..], &["-H", &token]].concat();
    assert!(told(&world, &gems, &push).0.starts_with("2 200 "));
    // With `Expect: 100-continue` the server says when to send the body.
    let again = [&push[..], &["-H", "Expect: 100-continue", "--expect100-timeout", "50"]].concat();
    assert!(told(&world, &gems, &again).0.starts_with("2 200 "));

    let path = format!("/repository/{FIRST}/gems/lamp-1.0.0.gem");
    assert!(curl(&world, &path, &[]).stdout == gem);
    assert!(curl(&world, &path, &["--range", "1000-1999"]).stdout == gem[1000..2000]);
    let (said, head) = told(&world, &path, &["--head"]);
    assert_eq!(said, "2 200 0");
    assert!(head.contains(&format!("content-length: {}", gem.len())), "{head}");
    assert!(head.contains("\r\ndate: ") && head.contains("\r\ndaylight-event: "), "{head}");

    let info = format!("/repository/{FIRST}/info/lamp");
    for _ in 0..4 {
        let (said, head) = told(&world, &info, &[]);
        let whole = world.anon().get(&info).expect(200);
        assert_eq!(said, format!("2 200 {}", whole.body.len()), "a page as on HTTP/1.1");
        let tag = whole.header("etag").unwrap();
        assert!(head.contains(&format!("etag: {tag}")), "{head}");
        assert_eq!(told(&world, &info, &["-H", &format!("If-None-Match: {tag}")]).0, "2 304 0");
        assert_eq!(told(&world, &format!("/repository/{FIRST}/info/no"), &[]).0.split(' ').nth(1), Some("404"));
    }
}

#[test]
fn a_hundred_requests_at_once_are_answered_each_with_its_own() {
    let world = World::start();
    for number in 0..10 {
        world.admin().push(FIRST, &Gem::new(&format!("lamp{number}"), "1.0.0")).expect(200);
    }
    let path = |number: usize| format!("/repository/{FIRST}/info/lamp{}", number % 10);
    let whole: Vec<_> = (0..10).map(|number| world.anon().get(&path(number)).expect(200).body).collect();
    let mut frames = Frames::open(world.address(), &[]);
    for _ in 0..5 {
        let asked: Vec<u32> = (0..100).map(|number| frames.get(&path(number)).unwrap()).collect();
        for (number, stream) in asked.into_iter().enumerate() {
            assert_eq!(frames.ended(stream), Ended::Answered(200, whole[number % 10].clone()));
        }
    }
}

#[test]
fn an_event_ends_with_the_last_byte_of_its_own_reply_and_names_the_protocol() {
    let mut world = World::start();
    let noise: Vec<u8> = (0..200_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let gem = Gem::new("lamp", "1.0.0").payload(&noise);
    world.admin().push(FIRST, &gem).expect(200);
    let mut frames = Frames::open(world.address(), &[(4, 1_000)]);
    let waits = frames.get(&format!("/repository/{FIRST}/gems/lamp-1.0.0.gem")).unwrap();
    let path = format!("/repository/{FIRST}/info/lamp");
    for _ in 0..3 {
        assert_eq!(frames.fetch(&path).status(), 200);
        assert_eq!(frames.fetch("/repository/nothing/names").status(), 404);
    }
    let under_way = || {
        let metrics = world.anon().get("/metrics").expect(200);
        crate::accounts::sum(metrics.text(), "daylight_in_flight")
    };
    // The request itself, and the one that waits: the others have ended meanwhile.
    await_true("two requests are under way", || under_way() == 2);
    frames.send(WINDOW_UPDATE, 0, 0, &10_000_000_u32.to_be_bytes()).unwrap();
    frames.send(WINDOW_UPDATE, 0, waits, &(ALL - 1_000).to_be_bytes()).unwrap();
    assert_eq!(frames.ended(waits), Ended::Answered(200, gem.bytes()));
    drop(frames);
    crate::accounts::settled(&world);
    world.stop();
    let events = crate::pages::events(&world);
    let of = |path: &str| -> Vec<_> {
        events.iter().filter(|event| event["path"] == path && event["protocol"] == "HTTP/2").collect()
    };
    assert_eq!(of(&path).len(), 3);
    let [large] = of(&format!("/repository/{FIRST}/gems/lamp-1.0.0.gem"))[..] else { panic!("{events:?}") };
    assert_eq!(large["bytes_out"], gem.bytes().len());
    assert_eq!(large["outcome"], "answered");
}

/// Keeps asking on one connection after the other, with a few requests at a time, until told to end. A request that the
/// server did not take when it said goodbye is asked again; one that it took is answered.
fn keeps_asking(world_at: std::net::SocketAddr, path: &str, over: &AtomicBool, answered: &AtomicUsize) {
    while !over.load(Relaxed) {
        let mut frames = Frames::open(world_at, &[]);
        frames.send(WINDOW_UPDATE, 0, 0, &(ALL - 65_535).to_be_bytes()).unwrap();
        while frames.goaway().is_none() && !over.load(Relaxed) {
            let asked: Vec<_> = (0..5).map_while(|_| frames.get(path).ok()).collect();
            for stream in asked {
                match frames.ended(stream) {
                    Ended::Answered(200, body) => {
                        assert!(!body.is_empty());
                        answered.fetch_add(1, Relaxed);
                    }
                    Ended::Closed(Some((0, last))) if stream > last => {}
                    lost => panic!("stream {stream} was taken and lost: {lost:?}, {:?}", frames.goaway()),
                }
            }
        }
    }
}

#[test]
fn a_restart_under_load_loses_no_request_that_was_taken() {
    const ASKERS: usize = 3;
    let mut world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0").payload(&[7; 300_000])).expect(200);
    let paths = [format!("/repository/{FIRST}/versions"), format!("/repository/{FIRST}/gems/lamp-1.0.0.gem")];
    let (over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let address = world.address();
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..ASKERS)
            .map(|number| {
                let (path, over, answered) = (&paths[number % 2], &over, &answered);
                scope.spawn(move || keeps_asking(address, path, over, answered))
            })
            .collect();
        for _ in 0..3 {
            let before = answered.load(Relaxed);
            while answered.load(Relaxed) < before + 100 && asking.iter().all(|thread| !thread.is_finished()) {
                std::thread::yield_now();
            }
            world.restart();
        }
        over.store(true, Relaxed);
    });
    world.stop();
}

#[test]
fn a_stop_finishes_what_is_under_way_on_streams() {
    let mut world = World::start();
    let gem = Gem::new("lamp", "1.0.0")
        .payload(&(0..500_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>());
    world.admin().push(FIRST, &gem).expect(200);
    let mut frames = Frames::open(world.address(), &[(4, 100)]);
    let stream = frames.get(&format!("/repository/{FIRST}/gems/lamp-1.0.0.gem")).unwrap();
    // The request has begun.
    while frames.frame().unwrap().stream != stream {}
    std::thread::scope(|scope| {
        scope.spawn(|| world.stop());
        while frames.goaway().is_none() {
            frames.frame().unwrap();
        }
        frames.send(WINDOW_UPDATE, 0, 0, &10_000_000_u32.to_be_bytes()).unwrap();
        frames.send(WINDOW_UPDATE, 0, stream, &10_000_000_u32.to_be_bytes()).unwrap();
        let (mut left, mut ended) = (gem.bytes().len(), false);
        while let Some(frame) = frames.frame() {
            if frame.stream == stream && frame.kind == 0 {
                left -= frame.payload.len();
                ended |= frame.flags & 1 > 0;
            }
        }
        assert!(ended && left <= 100, "{left} bytes are missing");
    });
}
