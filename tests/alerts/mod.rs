//! Alerts: receivers are told once when a finding opens and once when it closes, whatever happens in between.

mod alertmanager;
mod build;
mod command;
mod command_line;
mod delivery;
mod limits;
mod pagerduty;
mod webhook;

use crate::world::{Asked, Upstream, World, await_true, eventually};
use serde_json::{Value, json};

/// The finding of the first setting that has no effect.
const ID: &str = "contradictory-settings@setting:telemetry.access_log_file";
/// That of the second one.
const OTHER: &str = "contradictory-settings@setting:server.trusted_proxies";
/// Settings of which two have no effect, so that two findings open at one look.
const FAULTY: &str = "[server]\npublic_url = \"https://packages.example.org\"\ntrusted_proxies = \"10.9.9.9\"\n\n\
                      [telemetry]\naccess_log_file = \"access.log\"\n";
/// The same of which each has one.
const SOUND: &str = "[server]\npublic_url = \"https://packages.example.org\"\n";

/// Sets the clock to a time on 2 November 2026, and waits for a look.
fn at(world: &World, time: &str) -> Vec<Value> {
    world.set_time(&format!("2026-11-02T{time}Z"));
    world.findings()
}

/// A server with these receivers and no finding yet.
fn quiet(receivers: &str, settings: &'static [(&'static str, &'static str)]) -> World {
    let world = World::start_in_conformance_with_file(&format!("{FAULTY}\n{receivers}"), settings);
    at(&world, "12:00:00");
    world
}

/// Lets the two findings open.
fn opens(world: &World) {
    at(world, "12:06:00");
    await_true("both findings are open", || {
        let open = world.open_findings();
        open.iter().any(|id| id == ID) && open.iter().any(|id| id == OTHER)
    });
}

/// Mutes a finding, which ends its alert. For long: after a restart the clock is that of the machine until it is set.
fn mute(world: &World, id: &str) {
    let why = json!({ "why": "we know", "until": "300d" });
    world.admin().post_json(&format!("/api/v1/findings/mute/{id}"), &why).expect(200);
}

/// Shows it again.
fn unmute(world: &World, id: &str) {
    world.admin().ask("DELETE", &format!("/api/v1/findings/mute/{id}"), &[], b"").expect(204);
}

/// A receiver that takes alerts.
fn taker() -> Upstream {
    let taker = Upstream::start();
    taker.says_otherwise(crate::world::Says::status(202));
    taker
}

/// A table of a webhook.
fn webhook(name: &str, to: &Upstream) -> String {
    format!("[[alerts.to]]\nname = \"{name}\"\nkind = \"webhook\"\nurl = \"{}hook\"\n", to.url())
}

fn body(asked: &Asked) -> Value {
    serde_json::from_slice(&asked.body).unwrap()
}

/// What a webhook was told, in order: `+id` for an alert and `-id` for its end.
fn told(to: &Upstream) -> Vec<String> {
    let alerts = to
        .asked()
        .into_iter()
        .filter(|asked| asked.answered == 202)
        .flat_map(|asked| body(&asked)["data"]["alerts"].as_array().unwrap().clone());
    let sign = |alert: &Value| if alert["status"] == "open" { '+' } else { '-' };
    alerts.map(|alert| format!("{}{}", sign(&alert), alert["finding"].as_str().unwrap())).collect()
}

/// Waits until a webhook was told so many alerts and ends.
#[track_caller]
fn await_told(to: &Upstream, count: usize) -> Vec<String> {
    eventually(|| {
        let told = told(to);
        if told.len() >= count { Ok(told) } else { Err(format!("{count} alerts did not come: {told:?}")) }
    })
}

/// `daylight alerts`, as the API has it.
fn receivers(world: &World) -> Vec<Value> {
    world.admin().get("/api/v1/alerts").expect(200).json()["receivers"].as_array().unwrap().clone()
}
