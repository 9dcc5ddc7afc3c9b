//! Counts and times of requests at a real server of statsd, and at a socket that stands for one.

use super::requests;
use crate::world::{World, await_true, cache, free_port};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A server that sends nothing for so long fails a test.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(60);

#[test]
fn statsd_gets_the_number_of_requests_and_of_times_in_few_datagrams() {
    let statsd = UdpSocket::bind("127.0.0.1:0").unwrap();
    statsd.set_read_timeout(Some(SILENCE_MAX)).unwrap();
    let world = World::start_with_file(&format!(
        "[telemetry]\nstatsd_addr = \"127.0.0.1:{}\"\n",
        statsd.local_addr().unwrap().port()
    ));
    requests(&world);
    let (mut counts, mut times) = (BTreeMap::<String, f64>::new(), 0.0);
    let mut datagram = [0; 2000];
    // 41 requests for files and indexes, 2 uploads, and 3 that found nothing.
    while counts.iter().filter(|(name, _)| name.starts_with("daylight.requests.")).map(|(_, count)| count).sum::<f64>()
        < 45.0
    {
        let length = statsd.recv(&mut datagram).unwrap();
        assert!(length <= 1432, "{length}");
        for line in std::str::from_utf8(&datagram[..length]).unwrap().lines() {
            let (name, rest) = line.split_once(':').unwrap();
            let mut parts = rest.split('|');
            let (value, kind) = (parts.next().unwrap().parse::<f64>().unwrap(), parts.next().unwrap());
            let rate = parts.next().map_or(1.0, |rate| rate.strip_prefix('@').unwrap().parse().unwrap());
            match kind {
                "c" => *counts.entry(name.to_owned()).or_default() += value,
                "ms" => times += 1.0 / rate,
                other => panic!("{other}"),
            }
        }
    }
    let count = |name: &str| counts.get(name).copied().unwrap_or(0.0);
    assert_eq!(count("daylight.requests.uploads.answered"), 2.0, "{counts:?}");
    assert_eq!(
        count("daylight.requests.downloads.not_found")
            + count("daylight.requests.small.not_found")
            + count("daylight.requests.none.not_found"),
        3.0,
        "{counts:?}"
    );
    let all: f64 =
        counts.iter().filter(|(name, _)| name.starts_with("daylight.requests.")).map(|(_, count)| count).sum();
    assert!((times - all).abs() < 1e-6, "{times} times of {all} requests");
    assert!(
        count("daylight.sent_bytes.downloads.answered") + count("daylight.sent_bytes.none.answered") >= 60_000.0,
        "{counts:?}"
    );
}

/// A real server of statsd. Dropping it kills it.
struct Statsd {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Statsd {
    fn start() -> Self {
        let (folder, port, management) = (TempDir::new().unwrap(), free_port(), free_port());
        let (file, lines) = (folder.path().join("settings.js"), folder.path().join("lines"));
        let backend = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/statsd/lines.js");
        let settings = format!(
            "{{ address: '127.0.0.1', port: {port}, mgmt_address: '127.0.0.1', mgmt_port: {management}, flushInterval: 200, \
             backends: ['{backend}'], lines: '{}' }}",
            lines.display()
        );
        std::fs::write(&file, settings).unwrap();
        let program = cache().join("tools/statsd/node_modules/statsd/stats.js");
        let mut command = Command::new("node");
        command.arg(program).arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let statsd = Self { child, port, folder };
        // It flushes once it listens.
        await_true("statsd runs", || !statsd.lines().is_empty());
        statsd
    }

    fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("lines")).unwrap_or_default();
        // The last line may be half written.
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The sum of all flushes of the metrics that begin so.
    fn sum(&self, kind: &str, name: &str) -> f64 {
        let lines = self.lines();
        let all = lines.iter().filter_map(|line| line[kind].as_object()).flatten();
        all.filter(|(found, _)| found.starts_with(name)).map(|(_, count)| count.as_f64().unwrap()).sum()
    }
}

impl Drop for Statsd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_server_of_statsd_counts_all_requests_and_finds_no_bad_line() {
    let statsd = Statsd::start();
    let world = World::start_with_file(&format!("[telemetry]\nstatsd_addr = \"127.0.0.1:{}\"\n", statsd.port));
    requests(&world);
    let mut connection = world.anon().connect().unwrap();
    for _ in 0..500 {
        let path = "/repository/maven-releases/org/example/lamp/1.0/lamp-1.0.jar";
        world.anon().on(&mut connection, "GET", path, &[], b"").unwrap().expect(200);
    }
    await_true("545 requests", || statsd.sum("counters", "daylight.requests.") >= 545.0);
    assert_eq!(statsd.sum("counters", "daylight.requests."), 545.0);
    await_true("545 times", || (statsd.sum("times", "daylight.request_ms.") - 545.0).abs() < 1e-6);
    assert_eq!(statsd.sum("counters", "statsd.bad_lines_seen"), 0.0);
}
