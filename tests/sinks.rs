//! Sinks that hang, fail and panic, in a whole server: no request is affected, and the sink beside them receives every
//! event.

use crate::world::bad_sinks::{Hangs, Panics, Refuses};
use crate::world::{Answer, Connection, FIRST, Gem, World};
use daylight::config::{self, Environment, Flag, Machine};
use daylight::instance::StartOptions;
use daylight::serve;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use telemetry::{Event, Log, Sink};

/// How long any step may take before it counts as stuck. No test depends on a shorter time.
const STUCK: Duration = Duration::from_secs(30);

struct Keeps(Sender<Event>);

impl Sink for Keeps {
    fn name(&self) -> &'static str {
        "keeps"
    }

    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        for event in events {
            let _ = self.0.send(event.clone());
        }
        Ok(())
    }
}

#[test]
fn sinks_that_hang_refuse_or_panic_harm_neither_a_request_nor_another_sink() {
    let folder = tempfile::tempdir().unwrap();
    let flag = |key, value: &str| Flag { key, flag: "--test", value: value.to_owned() };
    let data = folder.path().join("data").display().to_string();
    let flags = [flag("store.data", &data), flag("server.listen", "127.0.0.1:0")];
    let (settings, _) = config::load(None, &Environment::default(), &flags, Machine::here()).unwrap();
    let ((release, held), (keep, kept)) = (channel(), channel());
    let sinks: Vec<Box<dyn Sink>> =
        vec![Box::new(Hangs(held)), Box::new(Refuses), Box::new(Panics), Box::new(Keeps(keep))];
    let running = serve::start(&settings, Log::silent(), StartOptions { sinks, ..StartOptions::default() }).unwrap();

    // All on one connection: work after the reply must not delay the next request.
    let mut connection = Connection::open(running.address).unwrap();
    let path = format!("/repository/{FIRST}/names");
    let answers: Vec<Answer> = (0..500).map(|_| connection.call("GET", &path, &[], b"").unwrap().expect(200)).collect();
    assert!(answers.iter().all(|answer| answer.text() == "---\n\n"));

    // The working sink received each event, although it comes after three that do not work.
    let mut named: Vec<String> = Vec::new();
    while named.len() < answers.len() {
        let event = kept.recv_timeout(STUCK).unwrap();
        if event.subject.kind == "names" {
            named.push(event.id.to_string());
        }
    }
    let told: Vec<&str> = answers.iter().map(|answer| answer.header("daylight-event").unwrap()).collect();
    assert_eq!(named, told);

    let recorder = running.instance.app.recorder.clone();
    assert_eq!(recorder.totals().sink("hangs").unwrap().taken, 0);
    drop(release);
    drop(connection);
    // The sink's own thread counts panics. A stop waits for it.
    running.stop().unwrap();
    let totals = recorder.totals();
    assert!(totals.sink("panics").unwrap().panics > 0);
    assert!(totals.sink("refuses").unwrap().errors > 0);
}

#[test]
fn without_json_lines_each_event_is_found_by_its_id_at_once_and_no_line_of_json_is_written() {
    // The clock of this mode stands still, so all requests are in one second.
    let mut world = World::start_in_conformance(&[
        ("DAYLIGHT_TELEMETRY_JSON_LINES", ""),
        ("DAYLIGHT_TELEMETRY_STORED_PER_SECOND", "16"),
    ]);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let ask = || world.anon().get(&format!("/repository/{FIRST}/info/lamp")).expect(200);
    // More than are kept of a busy second: the last ones are whole.
    let answers: Vec<Answer> = (0..200).map(|_| ask()).collect();
    for answer in &answers {
        let id = answer.header("daylight-event").unwrap();
        let event = world.event(id);
        assert_eq!((&event["id"], &event["status"]), (&id.into(), &200.into()));
    }
    let last = world.event(answers[199].header("daylight-event").unwrap());
    assert_eq!(last["layer"], "page");
    let page = world.anon().get("/metrics").expect(200).text().to_owned();
    let figure = |name: &str| -> u64 {
        let line = page.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().parse().unwrap()
    };
    let seen = figure("daylight_census_events_total{census=\"rate\"}");
    assert!(seen >= 200 && figure("daylight_events_unpacked_total") < seen, "{page}");
    world.stop();
    assert_eq!(world.event_lines(), Vec::<std::path::PathBuf>::new());
}
