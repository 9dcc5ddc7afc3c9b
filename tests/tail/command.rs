//! `daylight tail`.

use crate::world::{FIRST, Gem, World, program};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStderr, ChildStdout, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A running command.
struct Tail {
    child: Child,
    out: BufReader<ChildStdout>,
    err: BufReader<ChildStderr>,
}

impl Tail {
    /// Begins it, and waits until it listens. Its requests have a token with the scope `observe`.
    fn begin(world: &World, arguments: &[&str]) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let listeners = listeners(world);
        let observer = world.person(&format!("observer-{}", NUMBER.fetch_add(1, Relaxed)), &["observe"], &[]);
        let mut command = world.command(&["tail"]);
        let mut child = command
            .args(arguments)
            .env("DAYLIGHT_TOKEN", observer.secret())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (out, err) = (BufReader::new(child.stdout.take().unwrap()), BufReader::new(child.stderr.take().unwrap()));
        let mut tail = Self { child, out, err };
        tail.await_listeners(world, listeners + 1);
        tail
    }

    fn await_listeners(&mut self, world: &World, count: u64) {
        while listeners(world) != count {
            assert!(self.child.try_wait().unwrap().is_none(), "{}", line(&mut self.err));
        }
    }

    #[track_caller]
    fn line(&mut self) -> String {
        line(&mut self.out)
    }

    /// Waits for its end. Returns the rest of both streams.
    #[track_caller]
    fn ends(mut self) -> [String; 2] {
        let rest = [std::io::read_to_string(self.out).unwrap(), std::io::read_to_string(self.err).unwrap()];
        assert!(self.child.wait().unwrap().success(), "{rest:?}");
        rest
    }

    fn interrupt(&self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    }
}

fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    assert!(from.read_line(&mut line).unwrap() > 0, "it has ended");
    line.trim_end().to_owned()
}

/// How many listen.
fn listeners(world: &World) -> u64 {
    let page = world.admin().get("/metrics").expect(200);
    let used = page
        .text()
        .lines()
        .find_map(|line| line.strip_prefix("daylight_bound_used{bound=\"tail.listeners\",which=\"\"} "));
    used.unwrap().parse().unwrap()
}

#[test]
fn each_event_is_a_line_until_ctrl_c() {
    let world = World::start();
    let mut people = Tail::begin(&world, &["layer=hosted and method=GET"]);
    let mut programs = Tail::begin(&world, &["--json", "layer=hosted and method=GET"]);
    let paths = ["info/lamp", "info/oil"].map(|path| format!("/repository/{FIRST}/{path}"));
    for path in &paths {
        let answer = world.anon().get(path).expect(404);
        let line = people.line();
        let cells: Vec<&str> = line.split_whitespace().collect();
        let id = answer.header("daylight-event").unwrap();
        assert_eq!((cells[1], cells[2], cells[3]), (id, "404", "GET"), "{line}");
        assert!(line.contains(&format!("  hosted  {FIRST}  {path}  not_found  ")), "{line}");
        let event: Value = serde_json::from_str(&programs.line()).unwrap();
        assert_eq!((event["path"].as_str(), event["status"].as_u64()), (Some(path.as_str()), Some(404)));
    }
    for tail in [people, programs] {
        tail.interrupt();
        assert_eq!(tail.ends(), ["", ""]);
    }
}

#[test]
fn a_recording_is_a_file_of_its_own_for_its_owner_alone_without_credentials() {
    let world = World::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    let name = file.to_str().unwrap();
    let secret = world.admin().secret().to_owned();
    let filter = format!("path contains {FIRST} or status=401");
    let tail = Tail::begin(&world, &["--all", "--out", name, "--count", "3", "--for", "60s", &filter]);
    assert!(!file.exists());
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.anon().get(&format!("/repository/{FIRST}/{secret}")).expect(404);
    world.holder("daylight_0123456789abcdefghijklmnop").get("/api/v1/tokens").expect(401);
    let [out, err] = tail.ends();
    let (lines, bytes) = (std::fs::read_to_string(&file).unwrap(), std::fs::metadata(&file).unwrap());
    assert_eq!(out, format!("wrote 3 events, {} bytes, to {name}\n", bytes.len()));
    assert_eq!((err.as_str(), bytes.permissions().mode() & 0o777), ("", 0o600));
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut told: Vec<(&str, u64)> =
        events.iter().map(|event| (event["method"].as_str().unwrap(), event["status"].as_u64().unwrap())).collect();
    // Those of two cores come in turns.
    told.sort_unstable();
    assert_eq!(told, [("GET", 401), ("GET", 404), ("POST", 200)]);
    assert!(!lines.contains(&secret) && !lines.contains("0123456789abcdefghijklmnop"), "{lines}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");

    // It is not replaced, and a file that is too large ends early.
    let again = program(&["tail", "--out", name]).output().unwrap();
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(again.status.code() == Some(2) && said.contains("exists already"), "{said}");
    let small = folder.path().join("small.jsonl");
    let tail = Tail::begin(&world, &["--out", small.to_str().unwrap(), "--max-bytes", "1000", "--for", "60s"]);
    let path = format!("/repository/{FIRST}/{}", "p".repeat(300));
    (0..5).for_each(|_| drop(world.anon().get(&path).expect(404)));
    assert!(tail.ends()[0].starts_with("wrote "));
    assert!(std::fs::metadata(&small).unwrap().len() <= 1000);
}

#[test]
fn after_a_restart_of_the_server_it_connects_again_and_says_so() {
    let mut world = World::start();
    let mut tail = Tail::begin(&world, &["status=404"]);
    let path = format!("/repository/{FIRST}/info/lamp");
    world.anon().get(&path).expect(404);
    assert!(tail.line().contains(&path));
    world.restart();
    let broken = line(&mut tail.err);
    assert!(broken.contains("the connection broke, and is made again: the server ended it"), "{broken}");
    assert_eq!(line(&mut tail.err), "connected again");
    world.anon().get(&path).expect(404);
    assert!(tail.line().contains(&path));
    tail.interrupt();
    assert_eq!(tail.ends(), ["", ""]);
}

#[test]
fn it_ends_at_once_if_the_server_does_not_want_it() {
    let world = World::start();
    let tail = |arguments: &[&str]| world.command(&["tail"]).args(arguments).output().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    let refused = tail(&["statsu=200", "--out", file.to_str().unwrap()]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && said.contains("statsu") && said.contains("(400)"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
