//! As-of views with real clients: they resolve the same versions as at that moment, whatever was published since.

use super::{Then, now};
use crate::maven_deploys::{deploy, knows_as, porch_says, shelf};
use crate::world::{Central, FIRST, Gem, Release, Ruby, World};

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
fn maven_resolves_a_range_as_it_would_have_then() {
    let central = Central::open();
    let world = shelf(&central);
    let desk = central.machine(Release::Three8);
    let writer = world.person("ci", &["read", "write"], &["releases", "snapshots"]);
    knows_as(&desk, &world, ["releases", "snapshots"], writer.secret());
    let lantern = |version, build| desk.project("lantern", &[("version", version), ("build", build)]);
    deploy(&world, &lantern("1.0.0", "1")).good();
    let then = now(&world, "releases", &[]);
    deploy(&world, &lantern("1.1.0", "2")).good();

    let user = desk.another();
    let releases = format!("releases@{}", then.names[0]);
    knows_as(&user, &world, [&releases, "snapshots"], "");
    assert_eq!(porch_says(&user, "[1.0,1.9]"), "Lantern 1.0.0 is lit, build 1\n");
    let today = desk.another();
    knows_as(&today, &world, ["releases", "snapshots"], "");
    assert_eq!(porch_says(&today, "[1.0,1.9]"), "Lantern 1.1.0 is lit, build 2\n");
}

#[test]
fn maven_resolves_from_an_upstream_what_had_been_seen_of_it() {
    let central = Central::open();
    let (world, upstream) = (shelf(&central), shelf(&central));
    world.remote("far", &upstream.url("releases"));
    world.tree("none", "maven");
    let desk = central.machine(Release::Three8);
    let writer = upstream.person("ci", &["read", "write"], &["releases", "snapshots"]);
    knows_as(&desk, &upstream, ["releases", "snapshots"], writer.secret());
    let lantern = |version, build| desk.project("lantern", &[("version", version), ("build", build)]);
    let says = |repository: &str| {
        let user = desk.another();
        knows_as(&user, &world, [repository, "none"], "");
        porch_says(&user, "[1.0,1.9]")
    };
    deploy(&upstream, &lantern("1.0.0", "1")).good();
    assert_eq!(says("far"), "Lantern 1.0.0 is lit, build 1\n");
    let then = settled(&world, "far");
    deploy(&upstream, &lantern("1.1.0", "2")).good();
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
