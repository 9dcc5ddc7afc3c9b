//! Groups whose members are asked in vain, too late, or too few at a time.

use super::stage::{Stage, durations};
use super::widely;
use crate::findings::groups::{get, width};
use crate::world::{Says, Upstream, World};
use serde_json::json;
use std::time::Duration;

/// A group `company` of `partner`, which answers 404 after a while, and `central`.
struct Company {
    partner: Upstream,
    central: Upstream,
}

impl Company {
    fn new(world: &World, slow: Duration) -> Self {
        let (partner, central) = (Upstream::start(), Upstream::start());
        partner.says_otherwise(Says::status(404).after(slow));
        world.remote("partner", &partner.url());
        world.remote("central", &central.url());
        world.make(&json!({ "name": "company", "format": "maven", "members": ["partner", "central"] }));
        Self { partner, central }
    }

    /// `partner` has a file of its own, which is asked for.
    fn has_own(&self, world: &World) {
        let own = "com/partner/oil/1.0/oil-1.0.jar".to_owned();
        self.partner.file(&format!("/{own}"), "oil");
        get(world, &world.anon(), "company", &[own], 1, &[200]);
    }

    /// Files that `central` alone has.
    fn releases(&self, count: usize, series: &str) -> Vec<String> {
        let path = |n| format!("org/example/{series}{n}/1.0/{series}{n}-1.0.jar");
        let paths: Vec<String> = (0..count).map(path).collect();
        paths.iter().for_each(|path| self.central.file(&format!("/{path}"), path.as_str()));
        paths
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_advised_order_ends_the_wait_for_the_slow_member() {
    let mut stage = Stage::new(&[]);
    let company = Company::new(stage.world(), SECOND);
    stage.holds("slow-member-first@member:company/partner", durations, &|world, series| {
        get(world, &world.anon(), "company", &company.releases(24, series), 12, &[200]);
    });
}

#[test]
fn a_member_that_is_asked_for_its_own_names_alone_delays_no_others() {
    let mut stage = Stage::new(&[]);
    let company = Company::new(stage.world(), SECOND);
    company.has_own(stage.world());
    stage.holds("slow-member-first@member:company/partner", durations, &|world, series| {
        get(world, &world.anon(), "company", &company.releases(24, series), 12, &[200]);
    });
}

#[test]
fn the_advised_width_ends_the_turns() {
    // Three turns of eight members.
    let upstreams = &width::upstreams()[..24];
    let mut stage = Stage::new(&[]);
    width::wide(stage.world(), upstreams);
    stage.holds("group-too-narrow@group:wide", durations, &|world, series| {
        let paths = width::lists(upstreams, 4, series, SECOND);
        get(world, &world.admin(), "wide", &paths, 4, &[200]);
    });
}

/// Names below `com.acme` that nobody has.
fn missing(count: usize, series: &str) -> Vec<String> {
    (0..count).map(|n| format!("com/acme/{series}{n}/1.0/{series}{n}-1.0.pom")).collect()
}

#[test]
fn negative_answers_that_are_kept_as_advised_are_not_asked_for_again() {
    let mut stage = Stage::new(&[]);
    let company = Company::new(stage.world(), Duration::from_millis(300));
    for (name, urls) in [("partner", company.partner.url()), ("central", company.central.url())] {
        stage.world().change(name, &json!({ "remote": { "urls": [urls], "missing_s": 0 } }));
    }
    stage.holds("names-asked-in-vain@member:company/partner", durations, &|world, series| {
        let rounds: Vec<String> = (0..10).flat_map(|_| missing(10, series)).collect();
        get(world, &world.anon(), "company", &rounds, 10, &[404]);
    });
}

#[test]
fn a_prefix_for_which_nobody_is_asked_costs_nothing() {
    if !widely() {
        return;
    }
    let mut stage = Stage::new(&[]);
    let company = Company::new(stage.world(), Duration::from_millis(400));
    company.has_own(stage.world());
    get(stage.world(), &stage.world().anon(), "company", &company.releases(1, "x"), 1, &[200]);
    stage.holds("facts-at-wrong-level@group:company", durations, &|world, series| {
        get(world, &world.anon(), "company", &missing(1100, series), 16, &[403, 404]);
    });
}

#[test]
fn without_the_member_that_never_has_anything_nobody_waits_for_it() {
    if !widely() {
        return;
    }
    let mut stage = Stage::new(&[]);
    let company = Company::new(stage.world(), Duration::from_millis(300));
    stage.holds("member-never-decides@member:company/partner", durations, &|world, series| {
        get(world, &world.anon(), "company", &company.releases(1100, series), 16, &[200]);
    });
}

#[test]
fn with_the_advised_space_for_facts_no_member_is_asked_twice() {
    const FOLDERS: usize = 400;
    if !widely() {
        return;
    }
    let mut stage = Stage::new(&[("store.facts_bytes", 65_536)]);
    let company = Company::new(stage.world(), Duration::from_millis(90));
    company.has_own(stage.world());
    stage.holds("group-facts-too-small@bound:facts", durations, &|world, series| {
        for ending in [".pom", ".jar", "-sources.jar"] {
            let path = |n| format!("org/example/{series}{n}/1.0/{series}{n}-1.0{ending}");
            let paths: Vec<String> = (0..FOLDERS).map(path).collect();
            paths.iter().for_each(|path| company.central.file(&format!("/{path}"), path.as_str()));
            get(world, &world.anon(), "company", &paths, 16, &[200]);
        }
    });
}
