//! As-of views with real clients: they resolve the same versions as at that moment, whatever was published since.

use super::{Then, last_change, now};
use crate::maven_deploys::{HOSTED, knows_as, porch_says, publish, shelf};
use crate::policy;
use crate::world::{Central, FIRST, Gem, Release, Ruby, World};
use serde_json::json;

/// Maximum number of attempts, far more than a commit takes.
const TRIES: usize = 5_000;
/// The files that Maven requests from an upstream for its artifacts. The version range is in `lantern-app`, which
/// depends on `lantern-core`, and both have a parent.
const TOLD: [&str; 4] = [
    "example/lantern/lantern-app/maven-metadata.xml",
    "example/lantern/lantern-app/1.0.0/lantern-app-1.0.0.jar",
    "example/lantern/lantern-core/1.0.0/lantern-core-1.0.0.jar",
    "example/lantern/lantern/1.0.0/lantern-1.0.0.pom",
];

#[test]
fn bundler_installs_what_it_would_have_installed_then() {
    let (world, ruby) = (World::start(), Ruby::new());
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let then = now(&world, FIRST, &[]);
    world.admin().push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    let [moment, change] = then.names.each_ref().map(|name| world.url(&format!("{FIRST}@{name}")));
    for (name, source, version) in
        [("then", &moment, "1.0.0"), ("change", &change, "1.0.0"), ("now", &world.url(FIRST), "1.1.0")]
    {
        let app = ruby.app(name, source, "gem \"lamp\"");
        app.bundle(&["install"]).good();
        assert!(app.lock().contains(&format!("lamp ({version})")), "{name}: {}", app.lock());
    }
    // A version of that moment is withdrawn later, and its lock file still installs.
    world.admin().yank(FIRST, "lamp", "1.0.0").expect(200);
    let again = Ruby::new();
    let app = again.app("then", &moment, "gem \"lamp\", \"1.0.0\"");
    app.bundle(&["install"]).good();
    let listed = ruby.shell("", &format!("gem list --remote --all lamp --clear-sources --source {moment}")).good();
    assert!(listed.contains("lamp (1.0.0)"), "{listed}");
}

#[test]
fn maven_resolves_a_range_as_it_would_have_then_and_to_the_older_version_until_the_newer_is_old_enough() {
    let central = Central::open();
    let world = shelf(policy::world(), &central);
    publish(&world.admin(), &central, HOSTED[0], "1.0.0");
    let then = format!("{}@seq-{}", HOSTED[0], last_change(&world));
    policy::set_day(&world, 10);
    publish(&world.admin(), &central, HOSTED[0], "1.1.0");
    let says = |day, repository: &str| {
        policy::set_day(&world, day);
        let user = central.machine(Release::Three8);
        knows_as(&user, &world, [repository, HOSTED[1]], "");
        porch_says(&user, "[1.0,1.9]")
    };
    assert_eq!(says(10, &then), "Lantern 1.0.0 is lit, build 1\n");
    policy::set(&world, HOSTED[0], &json!({ "cooldown_s": 7 * 86_400 })).expect(200);
    assert_eq!(says(11, HOSTED[0]), "Lantern 1.0.0 is lit, build 1\n");
    assert_eq!(says(17, HOSTED[0]), "Lantern 1.1.0 is lit, build 2\n");
}

#[test]
fn maven_resolves_from_an_upstream_what_had_been_seen_of_it() {
    let central = Central::open();
    let (world, upstream) = (shelf(World::start(), &central), World::start());
    world.remote("far", &upstream.url(HOSTED[0]));
    let says = |repository: &str| {
        let user = central.machine(Release::Three8);
        knows_as(&user, &world, [repository, HOSTED[1]], "");
        porch_says(&user, "[1.0,1.9]")
    };
    publish(&upstream.admin(), &central, HOSTED[0], "1.0.0");
    assert_eq!(says("far"), "Lantern 1.0.0 is lit, build 1\n");
    let then = settled(&world, "far");
    publish(&upstream.admin(), &central, HOSTED[0], "1.1.0");
    world.admin().ask("DELETE", "/api/v1/repositories/far/contents/example", &[], b"").expect(200);
    assert_eq!(says("far"), "Lantern 1.1.0 is lit, build 2\n");
    assert_eq!(says(&format!("far@{}", then.names[0])), "Lantern 1.0.0 is lit, build 1\n");
}

/// A moment at which the journal has everything that Maven received. The journal is written after the reply.
fn settled(world: &World, repository: &str) -> Then {
    for _ in 0..TRIES {
        let then = now(world, repository, &[]);
        let told = |name: &String| {
            TOLD.iter().all(|path| world.anon().file(&format!("{repository}@{name}"), path).status == 200)
        };
        if then.names.iter().all(told) {
            return then;
        }
    }
    panic!("what was seen of `{repository}` is not in the journal after {TRIES} looks");
}
