//! First sights of an upstream's versions are durable, cost few bytes, and stay within their budget.

use super::{METADATA, Scene};
use crate::as_of::last_change;
use crate::maven_hosted::all;
use crate::world::{Answer, Says, await_true};
use serde_json::json;
use store::{Batch, Change, JournalReads as _, JournalRow, Seq, Sqlite, Transactions as _};

/// The number of artifacts, and of versions of each.
const NAMES: usize = 10;
const VERSIONS: usize = 2_000;
/// Maximum cost of one version in the database and the segments together, in bytes.
const EACH: u64 = 100;

fn metadata(name: usize) -> String {
    format!("org/example/lamp{name}/maven-metadata.xml")
}

fn lists(scene: &Scene, path: &str, versions: usize) {
    let versions: String =
        (0..versions).map(|number| format!("<version>1.{}.{}-RC{number}</version>", number / 7, number % 7)).collect();
    let document = format!(
        "<metadata><groupId>org.example</groupId><versioning><versions>{versions}</versions><lastUpdated>20240101120000\
         </lastUpdated></versioning></metadata>"
    );
    scene.upstream.file(&format!("/{path}"), document);
}

/// Deletes the cached file, so that the next request calls the upstream.
fn forget(scene: &Scene, path: &str) {
    scene.world.admin().ask("DELETE", &format!("/api/v1/repositories/central/contents/{path}"), &[], b"").expect(200);
}

/// The answer for a path as of the last change.
fn as_of_now(scene: &Scene, path: &str) -> Answer {
    let moment = format!("central@seq-{}", last_change(&scene.world));
    scene.client().file(&moment, path)
}

/// Requests metadata, and waits until this number of its versions is recorded.
fn see(scene: &Scene, path: &str, versions: usize) {
    scene.get(path).expect(200);
    await_true("the versions are recorded", || all(&as_of_now(scene, path), "version").len() >= versions);
}

/// The size of the database and of the segments, while the server is stopped.
fn stored(scene: &Scene) -> u64 {
    let (truth, segments) = (scene.world.data().join("truth.sqlite"), scene.world.data().join("segments"));
    let files = scene.world.files().into_iter().filter(|file| *file == truth || file.starts_with(&segments));
    files.map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
fn a_version_that_anonymous_readers_have_us_see_costs_little_more_than_its_name() {
    let mut scene = Scene::new();
    scene.world.stop();
    let empty = stored(&scene);
    scene.world.resume();
    for name in 0..NAMES {
        lists(&scene, &metadata(name), VERSIONS);
        see(&scene, &metadata(name), VERSIONS);
    }
    scene.world.stop();
    let many = stored(&scene);
    let each = (many - empty) / (NAMES * VERSIONS) as u64;
    assert!(each <= EACH, "{each} bytes for each version");
    scene.world.resume();
    // A further version costs its own bytes, not those of all.
    for more in 1..=5 {
        lists(&scene, &metadata(0), VERSIONS + more);
        forget(&scene, &metadata(0));
        see(&scene, &metadata(0), VERSIONS + more);
    }
    scene.world.stop();
    let more = stored(&scene) - many;
    assert!(more <= 5 * 2 * 4096, "{more} bytes for five versions more");
    scene.world.resume();
    assert_eq!(all(&as_of_now(&scene, &metadata(0)), "version").len(), VERSIONS + 5);
}

#[test]
fn after_many_refreshes_one_row_says_everything_and_every_moment_is_told_as_it_was() {
    let mut scene = Scene::new();
    let mut moments = Vec::new();
    for versions in 1..=150 {
        lists(&scene, METADATA, versions);
        if versions > 1 {
            forget(&scene, METADATA);
        }
        see(&scene, METADATA, versions);
        moments.push((format!("central@seq-{}", last_change(&scene.world)), versions));
    }
    scene.world.stop();
    let mut truth = Sqlite::reader(&scene.world.data().join("truth.sqlite")).unwrap();
    let whole = |row: &JournalRow| match &row.change {
        Change::FirstSeen { unit, whole, .. } if unit.starts_with("org/") => Some(*whole),
        _ => None,
    };
    let rows: Vec<bool> = truth.journal(Seq(0), 10_000).unwrap().iter().filter_map(whole).collect();
    assert_eq!((rows.len(), rows.iter().filter(|whole| **whole).count()), (150, 2));
    scene.world.resume();
    for (moment, versions) in moments {
        assert_eq!(all(&scene.client().file(&moment, METADATA).expect(200), "version").len(), versions, "{moment}");
    }
}

#[test]
fn what_was_seen_just_before_a_stop_is_in_the_journal_after_it() {
    let mut scene = Scene::new();
    scene.add("raw", "raw", &json!({}));
    for number in 0..20 {
        let pom = format!("org/example/lamp{number}/1.0/lamp{number}-1.0.pom");
        scene.upstream.file(&format!("/{pom}"), "<project/>");
        scene.upstream.file(&format!("/raw/{number}"), "lamp");
        for url in [super::at(&pom), format!("/repository/raw/raw/{number}")] {
            super::distrust::ended(&scene, &scene.client().get(&url).expect(200));
        }
    }
    scene.world.stop();
    let mut truth = Sqlite::reader(&scene.world.data().join("truth.sqlite")).unwrap();
    let seen = |row: &JournalRow| match &row.change {
        Change::FirstSeen { unit, .. } => Some(unit.split_once("//").unwrap().0.to_owned()),
        _ => None,
    };
    let mut units: Vec<String> = truth.journal(Seq(0), 10_000).unwrap().iter().filter_map(seen).collect();
    units.sort();
    units.dedup();
    // One more says since when the upstreams are observed.
    assert_eq!(units.len(), 41, "{units:?}");
}

/// Settings with this budget of each repository.
fn budget(bytes: u64) -> String {
    format!("[upstream]\nfirst_seen_bytes = {bytes}\n")
}

/// A figure of the bound in `/metrics`.
fn figure(scene: &Scene, name: &str) -> u64 {
    let metrics = scene.client().get("/metrics").expect(200);
    let line = format!("daylight_bound_{name}{{bound=\"upstream.first_seen\"");
    let sample = metrics.text().lines().find(|sample| sample.starts_with(&line)).unwrap();
    sample.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn past_the_budget_of_a_repository_what_is_new_counts_as_young_and_as_of_a_moment_names_the_budget() {
    let mut scene = Scene::with_file(&budget(64 << 10));
    lists(&scene, METADATA, 100);
    see(&scene, METADATA, 100);
    let before = last_change(&scene.world);
    let used = figure(&scene, "used_bytes");
    assert!(used > 0 && figure(&scene, "rejected_total") == 0);
    lists(&scene, &metadata(0), VERSIONS);
    scene.get(&metadata(0)).expect(200);
    let full = "no longer recorded";
    scene.world.await_log(full);
    assert!(figure(&scene, "used_bytes") <= figure(&scene, "limit_bytes") && figure(&scene, "rejected_total") == 1);

    // Earlier as-of answers stay; later ones are unknown.
    let then = |path: &str| scene.client().file(&format!("central@seq-{before}"), path);
    assert_eq!(all(&then(METADATA).expect(200), "version").len(), 100);
    then(&metadata(0)).expect(404);
    for path in [METADATA, &metadata(0)] {
        let unknown = as_of_now(&scene, path).expect(404);
        assert!(unknown.text().contains("upstream.first_seen_bytes"), "{}", unknown.text());
    }
    // No date is believed for a version that could not be recorded, and no POMs are requested in vain.
    scene.world.change("central", &json!({ "policy": { "cooldown_s": 86_400 } }));
    assert_eq!(all(&scene.get(&metadata(0)).expect(200), "version"), [""; 0]);
    assert_eq!(all(&scene.get(METADATA).expect(200), "version").len(), 100);
    let jar = "org/example/lamp0/1.0.0/lamp0-1.0.0.jar";
    let dated = Says::bytes("old").header("Last-Modified", "Wed, 01 Jan 2020 12:00:00 GMT");
    scene.upstream.says(&format!("/{jar}"), dated);
    scene.get(jar).expect(403);
    assert_eq!(scene.asked("org/example/lamp0/1.0.0-RC0/lamp0-1.0.0-RC0.pom"), 0);
    assert_eq!(scene.world.log().matches(full).count(), 1);

    // With a larger budget recording continues, and the log says so once.
    scene.world.configure(&budget(8 << 20));
    scene.world.restart();
    forget(&scene, &metadata(0));
    see(&scene, &metadata(0), VERSIONS);
    scene.world.await_log("is recorded again");
    assert_eq!(all(&as_of_now(&scene, METADATA).expect(200), "version").len(), 100);
}

#[test]
fn what_a_version_before_wrote_of_each_version_of_its_own_is_still_known() {
    let mut scene = Scene::new();
    let document = |name: &str, versions: &[&str]| {
        let versions: String = versions.iter().map(|version| format!("<version>{version}</version>")).collect();
        let updated = "<lastUpdated>20240101120000</lastUpdated>";
        let document =
            format!("<metadata><versioning><versions>{versions}</versions>{updated}</versioning></metadata>");
        scene.upstream.file(&format!("/org/example/{name}/maven-metadata.xml"), document);
    };
    document("new", &["1.0"]);
    document("old", &["1.0", "1.1"]);
    see(&scene, "org/example/new/maven-metadata.xml", 1);
    scene.world.stop();
    let mut truth = Sqlite::writer(&scene.world.data().join("truth.sqlite")).unwrap();
    let rows = truth.journal(Seq(0), 1_000).unwrap();
    let (repository, unit) = rows
        .iter()
        .find_map(|row| match &row.change {
            Change::FirstSeen { repository, unit, .. } if unit.starts_with("org/") => Some((*repository, unit)),
            _ => None,
        })
        .unwrap();
    let unit = |of: &str| format!("{}{of}", unit.replace("/new/", "/old/"));
    let said = [
        (unit(""), json!({ "seen": 1_700_000_000_000_u64, "listed": true, "met": 1 })),
        (unit("/versions/1.0"), json!({ "seen": 1_700_000_000_000_u64, "since": 1_600_000_000_000_u64 })),
    ];
    let changes = said.map(|(unit, facts)| Change::Unit { repository, unit, facts }).to_vec();
    let batch = Batch { by: "daylight".into(), from: "server".into(), changes, ..Batch::default() };
    truth.commit_batches(&[batch]).unwrap();
    drop(truth);
    scene.world.resume();

    let old = "org/example/old/maven-metadata.xml";
    let told = |scene: &Scene| all(&as_of_now(scene, old), "version");
    assert_eq!(told(&scene), ["1.0"]);
    // A version that appeared since is new, whatever the upstream's date. Later rows are added to the earlier ones.
    scene.world.change("central", &json!({ "policy": { "cooldown_s": 86_400 } }));
    assert_eq!(all(&scene.get(old).expect(200), "version"), ["1.0"]);
    scene.world.change("central", &json!({ "policy": { "cooldown_s": null } }));
    assert_eq!(told(&scene), ["1.0", "1.1"]);
    scene.world.stop();
    let rebuilt = scene.world.run("rebuild");
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    scene.world.resume();
    assert_eq!(told(&scene), ["1.0", "1.1"]);
}
