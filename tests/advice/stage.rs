//! A server on which an incident happens, its advice is taken, and the incident happens again.

use crate::findings::groups;
use crate::world::{World, eventually};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The share of the lost seconds that must be gone.
const GONE: f64 = 0.7;
/// What came is at most this many times as much as was promised, and the other way round.
const FACTOR: f64 = 1.5;
/// The hours of the load before and after the change.
const BEFORE: u32 = 12;
const AFTER: u32 = 13;

/// A server whose settings are in its configuration file.
pub(super) struct Stage {
    world: World,
    settings: BTreeMap<String, String>,
}

/// The client seconds that a load cost in an hour of the clock.
pub(super) type Cost = fn(&World, u32) -> f64;

impl Stage {
    /// A server with these settings, `server.pages_bytes`.
    pub(super) fn new(settings: &[(&str, u64)]) -> Self {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())).collect();
        let mut stage = Self { world: World::stopped_in_conformance(), settings };
        stage.resume();
        // The preparations are no part of the load.
        set(&stage.world, BEFORE - 1, 0);
        stage
    }

    /// The server.
    pub(super) fn world(&self) -> &World {
        &self.world
    }

    fn resume(&mut self) {
        let mut sections: BTreeMap<&str, String> = BTreeMap::new();
        for (key, value) in &self.settings {
            let (section, name) = key.split_once('.').unwrap();
            writeln!(sections.entry(section).or_default(), "{name} = {value}").unwrap();
        }
        let text: String = sections.iter().map(|(section, lines)| format!("[{section}]\n{lines}")).collect();
        self.world.configure(&text);
        self.world.resume();
    }

    /// Makes the changes that a finding advises, and starts the server again if one needs that.
    fn take_advice(&mut self, finding: &Value) {
        let mut restarts = false;
        for change in finding["changes"].as_array().unwrap() {
            match change["setting"].as_str() {
                Some(key) => {
                    self.settings.insert(key.to_owned(), change["to"].to_string());
                    restarts |= change["live"] == false;
                }
                None => drop(groups::run(&self.world, finding, "")),
            }
        }
        if restarts {
            self.world.stop();
            self.resume();
        }
    }

    /// The load comes, the advice of the open finding of this id is taken, and the load comes again: the cost that the finding told is gone,
    /// and as much as was promised. `load` gets a word that is another one each time.
    #[track_caller]
    pub(super) fn holds(&mut self, id: &str, cost: Cost, load: &dyn Fn(&World, &str)) {
        set(&self.world, BEFORE, 0);
        load(&self.world, "before");
        let before = cost(&self.world, BEFORE);
        set(&self.world, BEFORE, 4);
        self.world.findings();
        set(&self.world, BEFORE, 10);
        let found = self.open(id);
        let lost = found["lost_s_per_hour"].as_f64().unwrap() / 12.0;
        assert_eq!(found["promise"], Value::Null, "nothing was changed yet");
        self.take_advice(&found);
        // This look sees the change.
        set(&self.world, AFTER, 0);
        load(&self.world, "after");
        let after = cost(&self.world, AFTER);
        // Memory is empty after a start, so a promise may be measured a second time.
        for minute in 4..6 {
            set(&self.world, AFTER, minute);
            if self.world.open_findings().iter().any(|open| open == id) {
                load(&self.world, &format!("again{minute}"));
            }
        }
        let closed = eventually(|| {
            set(&self.world, AFTER, 6);
            let answer = self.world.admin().get("/api/v1/findings?state=closed").expect(200).json();
            let closed = answer["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == id).cloned();
            closed.ok_or_else(|| format!("{id} has no verdict: {:#?}", self.world.findings()))
        });
        let promise = &closed["promise"];
        let number = |name: &str| promise[name].as_f64().unwrap_or_else(|| panic!("{promise:#}")) / 12.0;
        let (promised, came) = (number("promised_s_per_hour"), number("came_s_per_hour"));
        let gone = (before - after) / lost;
        println!(
            "{id}: {lost:.1} s lost, {promised:.1} s promised, {came:.1} s came ({:.2}); clients took {before:.1} s, then {after:.1} s: {:.0} % of the \
             lost seconds are gone",
            promised / came,
            100.0 * gone,
        );
        assert_eq!(promise["state"], "held", "{closed:#}");
        assert!(closed["sentence"].as_str().unwrap().starts_with("held: "), "{closed:#}");
        assert!(gone >= GONE, "{gone} of {lost} s are gone: {before} s, then {after} s; {closed:#}");
        assert!((1.0 / FACTOR..=FACTOR).contains(&(promised / came)), "{closed:#}");
    }

    #[track_caller]
    fn open(&self, id: &str) -> Value {
        let all = self.world.findings();
        let found = all.iter().find(|finding| finding["id"] == id && finding["state"] == "open");
        found.unwrap_or_else(|| panic!("{id} is not open: {all:#?}")).clone()
    }
}

fn set(world: &World, hour: u32, minute: u32) {
    world.set_time(&format!("2026-11-02T{hour:02}:{minute:02}:00Z"));
}

/// The answer to a question about the requests in the load of an hour, which has one row.
fn ask(world: &World, hour: u32, measure: &str, also: &Value) -> f64 {
    let mut filters = vec![json!(["kind", "=", "request"])];
    filters.extend(also.as_array().unwrap().iter().cloned());
    let question = json!({
        "measures": [measure], "where": filters,
        "from": format!("2026-11-02T{hour:02}:00:00Z"), "to": format!("2026-11-02T{hour:02}:03:00Z"),
    });
    let answer = world.admin().post_json("/api/v1/ask", &question).expect(200).json();
    answer["rows"][0][measure].as_f64().unwrap_or_else(|| panic!("{question}: {answer}"))
}

/// The seconds of all requests for files of repositories, by their events.
pub(super) fn durations(world: &World, hour: u32) -> f64 {
    ask(world, hour, "sum(duration_ms)", &json!([["repository", "!=", "gems-private"], ["repository", "!=", ""]])) / 1e3
}

/// A second for each request that was refused for lack of room.
pub(super) fn refusals(world: &World, hour: u32) -> f64 {
    ask(world, hour, "count", &json!([["outcome", "=", "shed"]]))
}
