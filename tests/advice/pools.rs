//! Pools and limits.

use super::stage::{Stage, durations, refusals};
use crate::findings::upstreams;
use crate::world::{Says, Upstream, World, await_true};
use std::time::Duration;

#[test]
fn as_many_calls_as_are_advised_end_the_wait_for_a_call() {
    let upstream = Upstream::start();
    upstream.says_otherwise(Says::bytes("bytes").after(Duration::from_millis(200)));
    let mut stage = Stage::new(&[("upstream.max_calls", 2), ("upstream.max_fetches", 1024)]);
    upstreams::remote(stage.world(), "far", &upstream);
    let id = format!("pool-too-narrow@upstream:{}", upstream.address());
    stage.holds(&id, durations, &|world, series| {
        let statuses = upstreams::ask(&world.anon(), "far", series, 40, 1);
        assert_eq!(statuses, [200; 40]);
    });
    let world = stage.world();
    let said = world.command(&["findings", "--state", "closed"]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(
        said.contains("\n  promise   held: upstream.max_calls = ")
            && said.contains(" (before 2) since 2026-11-02T13:00"),
        "{said}"
    );
    let page = world.admin().ask("GET", "/", &[("Accept", "text/html")], b"").expect(200);
    assert!(
        page.text().contains("What came of changes") && page.text().contains("held: upstream.max_calls"),
        "{}",
        page.text()
    );
}

/// Two uploads whose bytes do not come, and 30 further ones.
fn uploads(world: &World, series: &str) {
    let held: Vec<_> = (0..2).map(|number| upstreams::limits::held(world, number)).collect();
    let taken = "daylight_bound_used{bound=\"requests\",which=\"uploads\"} 2\n";
    await_true("both places are taken", || world.anon().get("/metrics").expect(200).text().contains(taken));
    let admin = world.admin();
    for number in 0..30 {
        let path = format!("/repository/maven-releases/a/{series}/{number}/{series}-{number}.jar");
        let status = admin.ask("PUT", &path, &[], b"bytes").status;
        assert!([201, 503].contains(&status), "{status}");
    }
    drop(held);
}

#[test]
fn as_many_uploads_as_are_advised_are_not_refused() {
    let mut stage = Stage::new(&[("server.max_uploads", 2), ("server.client_share_percent", 100)]);
    stage.holds("class-too-narrow@bound:requests/uploads", refusals, &uploads);
}
