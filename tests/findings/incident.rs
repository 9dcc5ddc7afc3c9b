//! What findings say after an incident: the traffic has ended, and six minutes pass by the clock of the server.

use crate::metrics::Samples;
use crate::world::{World, eventually};
use serde_json::Value;
use std::time::Instant;

/// The time of day of the traffic.
pub(super) const BEGUN: &str = "2026-11-01T12:00:00Z";
/// The looks after it: the first one sees the fault, and the second one that it lasts.
const LOOKS: [&str; 2] = ["2026-11-01T12:00:30Z", "2026-11-01T12:06:30Z"];

/// A server whose clock stands at the time of the traffic.
pub(super) fn begun(settings: &'static [(&'static str, &'static str)]) -> World {
    let world = World::start_in_conformance(settings);
    world.set_time(BEGUN);
    world
}

/// Waits until the server has a sample of the machine that began after this call.
pub(super) fn sampled(world: &World) {
    sampled_at(world, BEGUN);
}

/// The same at another moment.
pub(crate) fn sampled_at(world: &World, moment: &str) {
    let (called, admin) = (Instant::now(), world.admin());
    eventually(|| {
        world.set_time(moment);
        let page = admin.get("/metrics").expect(200);
        let age = Samples::of(page.text()).find("daylight_machine_sample_age_seconds").unwrap_or(f64::MAX);
        let new = age < called.elapsed().as_secs_f64();
        if new { Ok(()) } else { Err(format!("the last sample of the machine is {age} s old")) }
    });
}

/// A server after an incident.
pub(super) struct Incident {
    world: World,
    findings: Vec<Value>,
}

impl Incident {
    /// Lets the time pass.
    pub(super) fn of(world: World) -> Self {
        Self::after(world, LOOKS)
    }

    /// Lets the time pass until these moments.
    pub(super) fn after(world: World, looks: [&str; 2]) -> Self {
        for moment in looks {
            world.set_time(moment);
            world.findings();
        }
        let findings = world.findings();
        Self { world, findings }
    }

    /// The server.
    pub(super) fn world(&self) -> &World {
        &self.world
    }

    /// The findings, the most expensive first.
    pub(super) fn findings(&self) -> &[Value] {
        &self.findings
    }

    /// The open finding of this id. Its question has an answer, and its event exists.
    #[track_caller]
    pub(super) fn open(&self, id: &str) -> Value {
        let found = self.findings.iter().find(|finding| finding["id"] == id);
        let finding = found.unwrap_or_else(|| panic!("no {id} in {:#?}", self.findings)).clone();
        assert_eq!(finding["state"], "open", "{finding:#}");
        self.proves(&finding);
        finding
    }

    /// No finding is open.
    #[track_caller]
    pub(super) fn has_nothing_open(&self) {
        let open = self.findings.iter().filter(|finding| finding["state"] == "open");
        assert_eq!(open.collect::<Vec<_>>(), Vec::<&Value>::new());
    }

    /// Nothing was found whose id begins so.
    #[track_caller]
    pub(super) fn says_nothing_of(&self, start: &str) {
        let said = self.findings.iter().filter(|finding| finding["id"].as_str().unwrap().starts_with(start));
        assert_eq!(said.collect::<Vec<_>>(), Vec::<&Value>::new());
    }

    #[track_caller]
    fn proves(&self, finding: &Value) {
        let answer = self.world.admin().post_json("/api/v1/ask", &finding["evidence"]).expect(200).json();
        assert!(!answer["rows"].as_array().unwrap().is_empty(), "{finding:#}: {answer}");
        if let Some(event) = finding["event"].as_str() {
            assert_eq!(self.world.event(event)["id"], event);
        }
    }
}
