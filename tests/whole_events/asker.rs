//! Requests of every kind: hits, gems, Maven, groups whose members race, uploads, files that arrive slowly, HTTP/1.0,
//! HTTP/2, TLS, refusals, and clients that leave. Each reply makes an event, whatever its status.

use crate::world::frames::{ALL, Frames, WINDOW_UPDATE};
use crate::world::{Answer, Connection, FIRST, Gem, Person, World};
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Kinds of requests that a client sends in turn.
const KINDS: usize = 24;
/// Requests on one connection of HTTP/2, and in one call of curl.
pub(super) const AT_ONCE: usize = 40;

/// The path of the Maven file with this number.
pub(super) fn jar(number: usize) -> String {
    format!("org/example/r{number}/1.0/r{number}-1.0.jar")
}

/// Sends the requests, from several threads.
pub(super) struct Asker {
    anon: Person,
    admin: Person,
    plain: SocketAddr,
    tls: SocketAddr,
    certificate: PathBuf,
}

impl Asker {
    pub(super) fn new(plain: &World, tls: &World, certificate: PathBuf) -> Self {
        let (anon, admin) = (plain.anon(), plain.admin());
        Self { anon, admin, plain: plain.address(), tls: tls.address(), certificate }
    }

    /// Sends one request of each kind, until all clients together have sent `total`.
    pub(super) fn requests(&self, next: &AtomicUsize, total: usize) -> Vec<String> {
        let (mut connection, mut named) = (self.anon.connect().unwrap(), Vec::new());
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= total {
                return named;
            }
            let answer = self.ask(&mut connection, number);
            named.extend(answer.and_then(|answer| answer.header("daylight-event").map(str::to_owned)));
        }
    }

    fn ask(&self, connection: &mut Connection, number: usize) -> Option<Answer> {
        let (Self { anon, admin, .. }, round) = (self, number / KINDS);
        let mut get = |path: &str, more: &[(&str, &str)]| {
            Some(anon.on(connection, "GET", &format!("/repository/{path}"), more, b"").unwrap())
        };
        match number % KINDS {
            0 => get(&format!("{FIRST}/versions"), &[]),
            1 | 2 => get(&format!("{FIRST}/info/lamp"), &[]),
            3 => get(&format!("{FIRST}/info/lamp"), &[("If-None-Match", "*")]),
            4 => get(&format!("{FIRST}/info/nothing{round}"), &[]),
            5 => get(&format!("{FIRST}/gems/lamp-1.0.0.gem"), &[("Range", "bytes=10-99")]),
            6 => get(&format!("{FIRST}/names"), &[("Authorization", admin.secret())]),
            7 => get("files/large", &[]),
            8 => get(&format!("all/{}", jar(round)), &[]),
            9 => get(&format!("all/{}.sha1", jar(round)), &[]),
            10 => get(&format!("all/org/example/r{round}/maven-metadata.xml"), &[]),
            11 => get(&format!("slow/{round}"), &[]),
            12 => get(&format!("all-gems/info/oil{}", round % 9), &[]),
            13 => get(&format!("all-gems/gems/oil{}-1.0.0.gem", round % 9), &[]),
            14 => get("all-gems/versions", &[]),
            15 => get("none/versions", &[]),
            16 => Some(admin.put("files", &format!("up/{round}"), &vec![7; 300_000]).expect(201)),
            17 => Some(admin.push(FIRST, &Gem::new("wick", &format!("1.{round}"))).expect(200)),
            18 => Some(admin.put("ours", &format!("org/example/o/1.{round}/o-1.{round}.jar"), b"ours").expect(201)),
            19 => Some(anon.push(FIRST, &Gem::new("wick", "9")).expect(401)),
            20 => Some(admin.get("/api/v1/tokens").expect(200)),
            21 => Some(self.by_an_old_client(if round == 0 { "chunked" } else { "old" })),
            22 => self.leaves(round),
            _ => Some(anon.get("/health/ready").expect(200)),
        }
    }

    /// HTTP/1.0 gets a file of unknown length when it is complete.
    fn by_an_old_client(&self, path: &str) -> Answer {
        let mut connection = self.anon.connect().unwrap();
        connection.send(format!("GET /repository/slow/{path} HTTP/1.0\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
        connection.answer(false).unwrap()
    }

    /// A client that leaves in the middle of a head, before the answer, or after its first bytes.
    fn leaves(&self, round: usize) -> Option<Answer> {
        let mut connection = self.anon.connect().unwrap();
        let head = format!("GET /repository/slow/left{round} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let sent = if round.is_multiple_of(3) { &head[..head.len() / 2] } else { &head };
        connection.send(sent.as_bytes()).unwrap();
        if round % 3 == 1 {
            connection.stream().read_exact(&mut [0; 100]).unwrap();
        }
        None
    }

    pub(super) fn in_frames(&self, from: usize) {
        let mut frames = Frames::open(self.plain, &[(4, ALL)]);
        frames.send(WINDOW_UPDATE, 0, 0, &(ALL >> 1).to_be_bytes()).unwrap();
        let path = |number: usize| match number % 8 {
            0 => "files/large".to_owned(),
            1 => format!("slow/frames{from}-{number}"),
            2 => format!("all/{}", jar(from + number)),
            3 => format!("{FIRST}/info/none{from}-{number}"),
            4 => "all-gems/names".to_owned(),
            _ => format!("{FIRST}/info/lamp"),
        };
        let streams: Vec<u32> =
            (0..AT_ONCE).map(|number| frames.get(&format!("/repository/{}", path(number))).unwrap()).collect();
        streams.into_iter().for_each(|stream| assert!(frames.ended(stream).status() > 0));
    }

    pub(super) fn through_tls(&self) {
        let url = format!("https://{}/repository/{FIRST}/names?[1-{AT_ONCE}]", self.tls);
        let flags = ["--silent", "--show-error", "--fail", "--max-time", "60", "--output", "/dev/null", "--cacert"];
        let told = Command::new("curl").args(flags).arg(&self.certificate).arg(url).output().unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    }
}
