//! What events say about clients: the program, its run, the size of its question, and as much of its address as the settings allow.

use crate::pages::events;
use crate::world::{FIRST, Gem, Ruby, World};
use serde_json::Value;

const JSON: &[(&str, &str)] = &[("DAYLIGHT_TELEMETRY_JSON_LINES", "on")];

#[test]
fn all_requests_of_one_bundle_install_have_its_run_and_those_of_the_next_one_another() {
    let mut world = World::start_with(JSON);
    for name in ["lamp", "oil"] {
        world.admin().push(FIRST, &Gem::new(name, "1.0.0")).expect(200);
    }
    for name in ["first", "second"] {
        let desk = Ruby::here();
        desk.app(name, &world.url(FIRST), "gem 'lamp'\ngem 'oil'").bundle(&["install"]).good();
    }
    world.stop();
    let events = events(&world);
    let of_bundler: Vec<&Value> = events.iter().filter(|event| event["client_product"] == "bundler").collect();
    assert!(of_bundler.len() >= 4 && of_bundler.iter().all(|event| event["client_version"].is_string()));
    let mut runs: Vec<&str> = of_bundler.iter().map(|event| event["run"].as_str().unwrap()).collect();
    runs.dedup();
    assert_eq!(runs.len(), 2, "the requests of a run come together: {runs:?}");
}

#[test]
fn an_event_tells_how_much_was_asked_for() {
    let world = World::start();
    for (name, version) in [("lamp", "1.0.0"), ("lamp", "2.0.0"), ("oil", "1.0.0")] {
        world.admin().push(FIRST, &Gem::new(name, version)).expect(200);
    }
    for (path, size) in [("api/v1/dependencies.json?gems=lamp,oil,wick", 3), ("api/v1/versions/lamp.json", 2)] {
        let answer = world.anon().get(&format!("/repository/{FIRST}/{path}")).expect(200);
        let event = world.event(answer.header("daylight-event").unwrap());
        assert_eq!(event["size"], size, "{event}");
    }
}

/// The whole address of every client of these tests, and its network.
const ADDRESSES: [&str; 2] = ["127.0.0.1", "127.0.0.0"];

/// Where the addresses stand: in the events, the rows of the journal, the log, the access log, and the files of the data folder.
fn places(setting: &'static [(&'static str, &'static str)]) -> [Vec<String>; 2] {
    let mut world = World::start_with(setting);
    let admin = world.admin();
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let answer = admin.ask("GET", &format!("/repository/{FIRST}/names"), &[("X-Forwarded-Host", "other.example")], b"");
    world
        .anon()
        .ask("GET", &format!("/repository/{FIRST}/"), &[("X-Forwarded-Host", "other.example")], b"")
        .expect(200);
    let event = world.event(answer.header("daylight-event").unwrap());
    let journal = admin.get("/api/v1/journal").expect(200).json();
    let from: Vec<String> =
        journal["rows"].as_array().unwrap().iter().map(|row| row["from"].as_str().unwrap().to_owned()).collect();
    let mut told = vec![event["client"].as_str().unwrap_or_default().to_owned()];
    told.extend(from.into_iter().filter(|from| from != "server"));
    // The address of the server itself is in the log, with a port.
    let here = world.address().to_string();
    let log = world.log().replace(&here, "HERE");
    let out = world.said().join("\n").replace(&here, "HERE");
    world.stop();
    let found = world.files().into_iter().filter(|file| {
        let bytes = std::fs::read(file).unwrap();
        String::from_utf8_lossy(&bytes).replace(&here, "HERE").contains(ADDRESSES[0])
    });
    let mut written: Vec<String> = found.map(|file| file.file_name().unwrap().display().to_string()).collect();
    for (place, text) in [("log", log), ("out", out)] {
        if text.contains(ADDRESSES[0]) {
            written.push(place.to_owned());
        }
    }
    [told, written]
}

#[test]
fn addresses_of_clients_are_recorded_whole_or_as_networks_or_not_at_all() {
    let [told, written] = places(JSON);
    assert!(told.len() > 1 && told.iter().all(|address| address == ADDRESSES[0]), "{told:?}");
    assert!(["events.jsonl", "log"].iter().all(|place| written.iter().any(|other| other == place)), "{written:?}");
    let [told, written] = places(&[
        ("DAYLIGHT_TELEMETRY_JSON_LINES", "on"),
        ("DAYLIGHT_TELEMETRY_ACCESS_LOG", "text"),
        ("DAYLIGHT_TELEMETRY_CLIENT_ADDRESSES", "truncated"),
    ]);
    assert!(told.len() > 1 && told.iter().all(|address| address == ADDRESSES[1]), "{told:?}");
    assert_eq!(written, [""; 0]);
    let [told, written] = places(&[
        ("DAYLIGHT_TELEMETRY_JSON_LINES", "on"),
        ("DAYLIGHT_TELEMETRY_ACCESS_LOG", "text"),
        ("DAYLIGHT_TELEMETRY_CLIENT_ADDRESSES", "off"),
    ]);
    assert!(told[0].is_empty() && told[1..].iter().all(|from| from == "client"), "{told:?}");
    assert_eq!(written, [""; 0]);
}

#[test]
fn the_address_that_a_proxy_names_is_recorded_as_its_network_too() {
    let mut world = World::start_with(&[
        ("DAYLIGHT_TELEMETRY_JSON_LINES", "on"),
        ("DAYLIGHT_TELEMETRY_CLIENT_ADDRESSES", "truncated"),
        ("DAYLIGHT_SERVER_TRUSTED_PROXIES", "127.0.0.1"),
        ("DAYLIGHT_SERVER_CLIENT_FROM", "x-forwarded-for"),
    ]);
    let path = format!("/repository/{FIRST}/names");
    for (address, network) in [("203.0.113.77", "203.0.113.0"), ("2001:db8:1:77::1", "2001:db8:1::")] {
        let answer = world.anon().ask("GET", &path, &[("X-Forwarded-For", address)], b"").expect(200);
        assert_eq!(world.event(answer.header("daylight-event").unwrap())["client"], network);
    }
    let log = world.log();
    world.stop();
    for address in ["203.0.113.77", "2001:db8:1:77::1"] {
        assert!(!log.contains(address), "{log}");
        for file in world.files() {
            let bytes = std::fs::read(&file).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains(address), "{}", file.display());
        }
    }
}
