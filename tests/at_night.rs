//! Questions of a person on call: which upstream do builds wait for, and which versions do clients not get?

use crate::policy::{set, set_day, world};
use crate::world::{FIRST, Gem, Says, Upstream, World};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What a command of the program prints.
#[track_caller]
fn daylight(world: &World, arguments: &[&str]) -> String {
    let output = world.command(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn jar(name: &str) -> String {
    format!("org/example/{name}/1.0/{name}-1.0.jar")
}

#[test]
fn the_upstreams_are_listed_with_the_time_of_their_calls_and_the_share_of_it_in_all_requests() {
    let (world, late, quick) = (World::start(), Upstream::start(), Upstream::start());
    world.remote("slow", &late.url());
    world.remote("fast", &quick.url());
    world.make(&json!({ "name": "both", "format": "maven", "members": ["slow", "fast"] }));
    late.says(&format!("/{}", jar("lamp")), Says::file("lamp").silent());
    (0..30).for_each(|number| quick.file(&format!("/{}", jar(&format!("oil{number}"))), "oil"));
    let anon = world.anon();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| anon.file("both", &jar("lamp")).expect(200));
        late.await_count(&format!("/{}", jar("lamp")), 1);
        // It takes as long as all of these, whatever the machine.
        (0..30).for_each(|number| drop(world.anon().file("fast", &jar(&format!("oil{number}"))).expect(200)));
        late.release(&format!("/{}", jar("lamp")));
        waiting.join().unwrap();
    });
    let of = |hosts: &Value, upstream: &Upstream| {
        let address = upstream.address().to_string();
        let host = hosts.as_array().unwrap().iter().find(|host| host["host"] == address).unwrap().clone();
        ["p50_ms", "p95_ms", "wait_share"].map(|key| host[key].as_f64().unwrap())
    };
    let began = Instant::now();
    let ([late50, late95, late_share], [quick50, quick95, quick_share]) = loop {
        let hosts = world.admin().get("/api/v1/upstreams").expect(200).json()["upstreams"].take();
        let both = (of(&hosts, &late), of(&hosts, &quick));
        // A request counts when its last byte was sent, and clients may be faster.
        if both.0[2] > both.1[2] {
            break both;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{hosts:#}");
    };
    assert!(late95 > quick95 && late95 > late50 && quick95 >= quick50, "{late50} {late95} {quick50} {quick95}");
    assert!(late_share <= 1.0 && quick_share > 0.0, "{late_share} {quick_share}");

    let shown = daylight(&world, &["upstreams"]);
    let [head, rows @ ..] = &*shown.lines().collect::<Vec<_>>() else { panic!("{shown}") };
    assert!(["P50", "P95", "FAILED", "WAITS"].iter().all(|name| head.contains(name)), "{shown}");
    let row = rows.iter().find(|row| row.contains(&late.address().to_string())).unwrap();
    assert!(row.contains("  ok  ") && row.contains("  0.0 %  "), "{shown}");
    // Of a host that was not called there is nothing to tell.
    let never = Upstream::start();
    world.remote("never", &never.url());
    world.anon().file("never", "org/example/x/1.0/x-1.0.jar").expect(404);
    never.unplug();
    assert!(daylight(&world, &["upstreams"]).contains(&never.address().to_string()));
}

#[test]
fn a_dead_upstream_is_listed_with_the_share_of_its_failed_calls_and_is_not_fast() {
    let (world, upstream) = (World::start(), Upstream::start());
    let told = || {
        let hosts = world.admin().get("/api/v1/upstreams").expect(200).json()["upstreams"].take();
        let is_it = |host: &&Value| host["host"] == upstream.address().to_string();
        hosts.as_array().unwrap().iter().find(is_it).unwrap().clone()
    };
    let figures = || {
        let told = told();
        ["failed_share", "p50_ms", "p95_ms"].map(|figure| told[figure].as_f64())
    };
    let state = |shown: &str| daylight(&world, &["upstreams"]).contains(shown);
    upstream.unplug();
    world.remote("far", &upstream.url());
    world.anon().file("far", &jar("oil0")).expect(502);
    // A refused connection is no fast response.
    assert_eq!(figures(), [Some(1.0), None, None], "{:#}", told());
    assert!(state("  last calls failed  ") && state("  100.0 %  "), "{:#}", told());
    // Each trial that fails leaves it alone for longer.
    let is_left_alone = |number| {
        world.anon().file("far", &jar(&format!("oil{number}")));
        state("  not called until ")
    };
    assert!((1..30).any(is_left_alone), "{:#}", told());
}

#[test]
fn a_comparison_with_a_time_of_which_nothing_is_stored_says_so_and_names_another_one() {
    let world = World::start();
    (0..40).for_each(|_| drop(world.anon().file(FIRST, "info/lamp").expect(404)));
    let path = "/api/v1/ask";
    crate::asking::ask_until(&world, &json!("where status = 404"), |answer| answer["rows"][0]["count"] == 40);
    let refused = world.admin().ask("POST", path, &[], b"where status = 404 compare -5m").expect(400).json();
    let [detail, hint] = ["detail", "hint"].map(|key| refused[key].as_str().unwrap());
    assert!(detail.starts_with("no event is stored of the time from ") && hint.contains("`compare rest`"), "{refused}");
    // The time is as long as the step back, so it does not reach into the time that it is compared with.
    let (_, times) = detail.split_once("from ").unwrap();
    let (from, to) = times.split_once(" to ").unwrap();
    let [from, to] = [from, to.split(';').next().unwrap()].map(|at| at.parse::<jiff::Timestamp>().unwrap());
    assert_eq!(to.as_second() - from.as_second(), 300, "{detail}");
}

fn explained(world: &World, repository: &str, path: &str) -> Value {
    world.admin().get(&format!("/api/v1/explain?repository={repository}&path={path}")).expect(200).json()
}

#[test]
fn the_explanation_of_a_gem_names_each_version_that_clients_do_not_get_with_the_reason() {
    let world = world();
    for (day, version) in [(1, "1.0.0"), (2, "1.1.0"), (20, "1.2.0"), (21, "2.0.0")] {
        set_day(&world, day);
        world.admin().push(FIRST, &Gem::new("lamp", version)).expect(200);
    }
    world.admin().yank(FIRST, "lamp", "1.1.0").expect(200);
    set(&world, FIRST, &json!({ "deny": ["lamp:2.0.0"] })).expect(200);
    world.make(&json!({ "name": "all", "format": "gem", "members": [FIRST] }));
    set(&world, "all", &json!({ "cooldown_s": 7 * 86_400 })).expect(200);
    let parts = [
        "left out are 3 of 4 versions",
        "`lamp:1.2.0` is hidden by the policy of `all`: versions are hidden until they are 7 days old",
        "shown from 2026-11-27T12:00:00.000Z on",
        "`lamp:2.0.0` is hidden by the policy of `",
        "`lamp:1.1.0` was yanked",
    ];
    // The name alone is understood, too.
    for path in ["info/lamp", "lamp"] {
        let told = explained(&world, "all", path);
        let member = told["members"].as_array().unwrap().iter().find(|member| member["member"] == FIRST).unwrap();
        let detail = member["detail"].as_str().unwrap();
        assert_eq!((&told["status"], &told["package"]), (&json!(200), &json!("lamp")), "{told:#}");
        assert!(parts.iter().all(|part| detail.contains(part)), "{detail}");
        assert!(daylight(&world, &["explain", "all", path]).contains("`lamp:1.1.0` was yanked"));
    }
    let detail = explained(&world, FIRST, "lamp")["detail"].as_str().unwrap().to_owned();
    assert!(detail.starts_with("left out are 2 of 4 versions: `lamp:2.0.0` is hidden"), "{detail}");
    assert!(explained(&world, FIRST, "versions")["path"].as_str().unwrap().ends_with("/versions"), "it is no gem");
    let missing = explained(&world, "all", "oil");
    assert_eq!((&missing["status"], &missing["package"]), (&json!(404), &json!("oil")), "{missing:#}");
}

#[test]
fn the_explanation_of_an_upstreams_gem_names_what_is_young_and_what_the_upstream_yanked() {
    let mut shelf = crate::gem_upstream::shelf::lamp_and_oil();
    shelf.push(&Gem::new("lamp", "1.1.0"));
    let world = crate::gem_upstream::shelf::before(&shelf.upstream);
    let remote = crate::gem_upstream::REMOTE;
    world.make(&json!({ "name": "all", "format": "gem", "members": [remote] }));
    world.anon().file("all", "info/lamp").expect(200);
    shelf.yank("lamp", "1.1.0");
    shelf.push(&Gem::new("lamp", "1.2.0"));
    set_day(&world, 3);
    world.anon().file("all", "versions").expect(200);
    world.anon().file("all", "info/lamp").expect(200);
    set(&world, remote, &json!({ "cooldown_s": 7 * 86_400 })).expect(200);
    let told = explained(&world, "all", "lamp");
    let detail = told["members"][0]["detail"].as_str().unwrap();
    let parts = [" of 3 versions", "`lamp:1.2.0` is hidden by the policy of", "the upstream yanked `lamp:1.1.0`"];
    assert!(parts.iter().all(|part| detail.contains(part)), "{told:#}");
}
