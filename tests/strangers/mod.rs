//! No private answer reaches a stranger: random histories of repositories, tokens, time, pushes and reads, with every
//! form of credentials and from every page, against the rules of access.

mod rules;
mod steps;
mod trial;

use crate::world::Person;
use daylight::config::{self, Environment, Flag, Machine};
use daylight::instance::StartOptions;
use daylight::serve::{self, Running};
use proptest::test_runner::{Config, TestRunner};
use rules::Rules;
use serde_json::json;
use std::cell::Cell;
use std::collections::VecDeque;
use steps::{Step, steps};
use telemetry::{Clock, Log, Millis};
use trial::Trial;

fn server(clock: &Clock, folder: &std::path::Path) -> Running {
    let flag = |key, value: &str| Flag { key, flag: "--test", value: value.to_owned() };
    let flags = [flag("store.data", folder.to_str().unwrap()), flag("server.listen", "127.0.0.1:0")];
    let (settings, _) = config::load(None, &Environment::default(), &flags, Machine::here()).unwrap();
    serve::start(&settings, Log::silent(), StartOptions { clock: clock.clone(), ..StartOptions::default() }).unwrap()
}

#[test]
fn no_private_answer_goes_to_a_stranger_whatever_happened_before() {
    let folder = tempfile::tempdir().unwrap();
    let began = Millis(1_790_000_000_000);
    let clock = Clock::at(began);
    let running = server(&clock, &folder.path().join("data"));
    let secret = running.instance.first.admin_token.as_ref().unwrap().expose().to_owned();
    let sealed = json!({ "name": "sealed", "format": "gem", "kind": "hosted", "private": true });
    Person::new(running.address, Some(secret.clone())).post_json("/api/v1/repositories", &sealed).expect(201);
    let number = Cell::new(0);
    let trial = |steps: Vec<Step>| {
        number.set(number.get() + 1);
        let mut trial = Trial {
            admin: Person::new(running.address, Some(secret.clone())),
            anyone: Person::new(running.address, None),
            clock: &clock,
            number: number.get(),
            rules: Rules { now: clock.now(), ..Rules::default() },
            warm: VecDeque::new(),
        };
        steps.into_iter().for_each(|step| trial.step(step));
        Ok(())
    };
    let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&steps(), trial).unwrap();
    running.stop().unwrap();
}
