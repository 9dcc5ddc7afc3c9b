//! An upstream that was never reached: names that are published meanwhile are not compared with it, which is said, and a public name among
//! them waits for a decision once its index arrives. Until then explanations and errors name the failure.

use crate::cold_start::address;
use crate::groups::{command, event};
use crate::world::{FIRST, Gem, Passed, World};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};

const START: &str = "2026-11-02T08:00:00Z";
const LATER: &str = "2026-11-02T08:10:00Z";
const LATER_STILL: &str = "2026-11-02T08:20:00Z";
const NOTICE: &str = "The name was not compared with the gems of `rubygems`, which was never reached";

/// A new server with the default repositories. Nothing listens yet on the address of their upstream.
fn cold() -> (World, SocketAddr) {
    let upstream = address();
    let url: &'static str = format!("http://{upstream}/repository/{FIRST}").leak();
    let world = World::start_in_conformance(vec![("DAYLIGHT_UPSTREAM_RUBYGEMS", url)].leak());
    world.set_time(START);
    (world, upstream)
}

/// The upstream, with these gems.
fn reached(upstream: SocketAddr, names: &[&str]) -> World {
    let near = World::start_on(TcpListener::bind(upstream).unwrap(), Passed::AsInput);
    for name in names {
        near.admin().push(FIRST, &Gem::new(name, "9.0.0")).expect(200);
    }
    near
}

fn output(world: &World, arguments: &[&str]) -> String {
    let output = command(world, arguments);
    assert!(output.status.success(), "{output:?}");
    [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat()
}

fn waiting(world: &World) -> Vec<String> {
    let told = world.admin().get("/api/v1/repositories/gems/collisions?waiting=true").expect(200).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = told["collisions"].as_array().unwrap().iter();
    rows.map(|row| {
        format!("{} {} {} {}", text(&row["name"]), text(&row["owner"]), text(&row["because"]), row["waiting"])
    })
    .collect()
}

#[test]
fn a_public_name_that_was_published_before_the_upstream_was_reached_waits_for_a_decision() {
    let (world, upstream) = cold();
    let push =
        |name: &str, version: &str| world.admin().push(FIRST, &Gem::new(name, version)).expect(200).text().to_owned();
    for name in ["rake", "acme-lamp"] {
        let said = push(name, "1.0.0");
        assert!(said.starts_with(&format!("Successfully registered gem: {name} (1.0.0)\n{NOTICE}")), "{said}");
    }
    assert_eq!(push("rake", "1.0.1").trim_end(), "Successfully registered gem: rake (1.0.1)");
    let folder = tempfile::tempdir().unwrap();
    for version in ["1.0.0", "1.0.1"] {
        let gem = Gem::new("rack", version);
        std::fs::write(folder.path().join(gem.file()), gem.bytes()).unwrap();
    }
    let imported = output(&world, &["import", "gems", folder.path().to_str().unwrap(), "--into", FIRST]);
    assert!(imported.contains("the server has a notice about 1 gems:\n  rack-1.0.0: The name was not"), "{imported}");
    let versions = |world: &World| world.anon().file("gems", "versions").expect(200).text().to_owned();
    let before = versions(&world);

    let _near = reached(upstream, &["rake", "rack", "oil"]);
    world.set_time(LATER);
    let after = versions(&world);
    assert!(after.starts_with(&before) && after.contains("\noil 9.0.0 "), "{after}");
    let last = |versions: &str, name: &str| {
        let of = |line: &&str| line.starts_with(&format!("{name} "));
        versions.lines().rfind(of).unwrap().to_owned()
    };
    // The names stay with their owner until somebody decides.
    assert!(last(&after, "rake").contains("1.0.1") && !after.contains("rake 9.0.0"), "{after}");
    let all = ["rack", "rake"].map(|name| format!("{name} gems-private hosted [\"rubygems\"]"));
    assert_eq!(waiting(&world), all);
    let (page, why) = (output(&world, &["explain", "gems", "info/rake"]), "waits for an administrator");
    assert!(page.contains(why), "{page}");
    let shown = output(&world, &["repo", "show", "gems"]);
    assert!(shown.contains("names that wait for a decision: 2\n"), "{shown}");
    assert!(shown.contains("`daylight repo set rubygems --claim rake` gives it to `rubygems`"), "{shown}");
    world.set_time(LATER_STILL);
    world.await_log("`rake` of `gems-private` is listed by `rubygems`, too");

    output(&world, &["repo", "set", "rubygems", "--claim", "rake"]);
    output(&world, &["repo", "set", FIRST, "--claim", "rack"]);
    assert_eq!(waiting(&world), [""; 0]);
    let decided = versions(&world);
    assert!(decided.starts_with(&after) && last(&decided, "rake").contains("9.0.0"), "{decided}");
    assert!(last(&decided, "rack").contains("1.0.1"), "{decided}");
    // From now on each new name is compared.
    let refused = world.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(409);
    assert!(refused.text().contains("`oil` is a gem of the upstream `rubygems`"), "{}", refused.text());
    assert!(!push("acme-oil", "1.0.0").contains(NOTICE));
}

#[test]
fn what_depends_on_an_upstream_that_fails_is_told_with_the_failure_and_its_host_to_those_who_may_know_it() {
    let (world, upstream) = cold();
    world.admin().push(FIRST, &Gem::new("acme-lamp", "1.0.0")).expect(200);
    let host = upstream.to_string();
    let refused = world.anon().file("gems", "info/rack");
    let id = refused.header("daylight-event").unwrap();
    let text = refused.text();
    assert!(text.contains(&format!("`daylight explain --event {id}`")) && !text.contains(&host), "{text}");
    let past = event(&world, &refused);
    assert!(past["members"][0]["detail"].as_str().unwrap().contains(&host), "{past:#}");

    let explain = "/api/v1/explain?repository=gems&path=info/rack";
    let told = world.admin().get(explain).expect(200).json();
    assert_eq!(told["status"], json!(0));
    assert!(told["detail"].as_str().unwrap().contains(&format!("`{host}`, cannot be used")), "{told:#}");
    let told = world.anon().get(explain).expect(200).json();
    assert_eq!(told["detail"], "the upstream of `rubygems` would be asked; it cannot be used at present");
    let page = "/packages/gems/rack";
    let told = world.admin().get(page).expect(404).text().to_owned();
    assert!(told.contains(&host) && told.contains("daylight upstreams"), "{told}");
    let told = world.anon().get(page).expect(404).text().to_owned();
    assert!(told.contains("cannot be used at present") && !told.contains(&host), "{told}");

    let _near = reached(upstream, &["oil"]);
    world.set_time(LATER);
    world.anon().file("gems", "info/oil").expect(200);
    world.anon().get(page).expect(404);
    let told = world.admin().get("/api/v1/explain?repository=gems&path=gems/oil-9.0.0.gem").expect(200).json();
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.starts_with("the upstream of `rubygems` would be asked; `oil` belongs to `rubygems`"), "{detail}");
    assert!(!detail.contains("cannot be used"), "{detail}");
}
