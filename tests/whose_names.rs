//! Whose the names of an imported Maven folder are: public names stay with their upstreams, and nothing is uploaded before that is decided.

use crate::world::{Central, Person, Release, Upstream, World, write};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

const GROUP: &str = "com/acme";

/// Runs the import as the holder of a token.
fn import(world: &World, by: &Person, folder: &Path, into: &str, more: &[&str]) -> Output {
    let mut command = world.command(&["import", "maven", folder.to_str().unwrap(), "--into", into]);
    command.args(more).env("DAYLIGHT_TOKEN", by.secret()).output().unwrap()
}

#[track_caller]
fn told(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// The names of a report that are decided in this way.
fn names(report: &Value, whose: &str) -> Vec<String> {
    let rows = report["names"][whose].as_array().unwrap();
    rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

/// The artifacts that a hosted repository has.
fn held(world: &World, repository: &str) -> Vec<String> {
    let packages = world.admin().get(&format!("/api/v1/packages/{repository}")).expect(200).json();
    let packages = packages["packages"].as_array().unwrap().iter();
    let mut names: Vec<String> = packages.map(|one| one["package"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// A version with the file in which Maven keeps where its files came from; `None`: without that file.
fn version(folder: &Path, artifact: &str, number: &str, from: Option<&str>) {
    version_of(folder, GROUP, artifact, number, from);
}

fn version_of(folder: &Path, group: &str, artifact: &str, number: &str, from: Option<&str>) {
    let put = |name: &str, text: &str| write(&folder.join(format!("{group}/{artifact}/{number}/{name}")), text);
    let pom = format!("{artifact}-{number}.pom");
    put(&pom, &format!("<project><artifactId>{artifact}</artifactId></project>"));
    if let Some(from) = from {
        put("_remote.repositories", &format!("#NOTE: This is a file of Maven.\n#Sat Nov 28\n{pom}>{from}=\n"));
    }
}

/// A server with a group `all` of `ours` (hosted) and `near` (remote), of which it has `com.acme:lamp` cached; and a folder with a
/// name for each kind of evidence.
fn scene() -> (World, Upstream, TempDir) {
    let (world, near, folder) = (World::start(), Upstream::start(), TempDir::new().unwrap());
    world.tree("ours", "maven");
    world.remote("near", &near.url());
    world.make(&json!({ "name": "all", "format": "maven", "members": ["ours", "near"] }));
    near.file(&format!("/{GROUP}/lamp/1.0/lamp-1.0.pom"), "<project/>");
    world.anon().file("all", &format!("{GROUP}/lamp/1.0/lamp-1.0.pom")).expect(200);
    for (artifact, from) in [
        ("bulb", Some("")),
        ("lamp", None),
        ("oil", Some("central-8fac3ebd6edbaca3c794783fa38088af0aa128e7")),
        ("wick", None),
    ] {
        version(folder.path(), artifact, "1.0", from);
    }
    (world, near, folder)
}

#[test]
fn a_name_that_nobody_can_decide_about_stops_an_import_before_its_first_upload_and_leaves_the_house_only_if_asked_to() {
    let (world, near, folder) = scene();
    let before = near.total();
    let run = |more: &[&str]| import(&world, &world.admin(), folder.path(), "ours", more);

    let stopped = run(&[]);
    let (out, err) = (String::from_utf8_lossy(&stopped.stdout), String::from_utf8_lossy(&stopped.stderr));
    assert!(!stopped.status.success());
    assert!(err.contains("1 undecided name") && err.contains("--claim") && err.contains("--ask-upstreams"), "{err}");
    assert!(out.contains("undecided") && out.contains("com.acme:wick"), "{out}");
    let planned = told(&run(&["--dry-run", "--json"]));
    assert_eq!(planned["dry_run"], true);
    assert_eq!(names(&planned, "ours"), ["com.acme:bulb"]);
    assert_eq!(names(&planned, "others"), ["com.acme:lamp", "com.acme:oil"]);
    assert_eq!(names(&planned, "undecided"), ["com.acme:wick"]);
    let why = planned["names"]["others"].to_string();
    assert!(why.contains("cached of `near`") && why.contains("downloaded from `central`"), "{why}");
    assert_eq!(held(&world, "ours"), Vec::<String>::new());
    assert_eq!(near.total(), before, "no name left the house");

    // With the answers of the upstreams there is nothing to decide any more.
    near.file(&format!("/{GROUP}/wick/maven-metadata.xml"), "<metadata><artifactId>wick</artifactId></metadata>");
    let asked = told(&run(&["--ask-upstreams", "--dry-run", "--json"]));
    assert_eq!(names(&asked, "others"), ["com.acme:lamp", "com.acme:oil", "com.acme:wick"]);
    let of_others = near.asked().iter().filter(|asked| asked.path.contains("bulb")).count();
    assert_eq!(of_others, 0, "the name of what was installed here is not sent");
    version(folder.path(), "shade", "1.0", None);
    let asked = told(&run(&["--ask-upstreams", "--json"]));
    assert_eq!(
        (names(&asked, "ours").join(" "), &asked["uploaded"]),
        ("com.acme:bulb com.acme:shade".into(), &2.into())
    );
    assert_eq!(held(&world, "ours"), ["com.acme:bulb", "com.acme:shade"]);
    // An upstream that does not answer decides nothing.
    version(folder.path(), "stand", "1.0", None);
    near.unplug();
    assert_eq!(names(&told(&run(&["--ask-upstreams", "--dry-run", "--json"])), "undecided"), ["com.acme:stand"]);
}

#[test]
fn a_claim_makes_undecided_names_ours_and_a_pattern_others_too() {
    let (world, near, folder) = scene();
    // The token of somebody who publishes is enough.
    let publisher = world.person("publisher", &["read", "write"], &["ours"]);
    let run = |more: &[&str]| import(&world, &publisher, folder.path(), "ours", more);
    let typed_wrong = run(&["--claim", "com.acmee"]);
    assert!(String::from_utf8_lossy(&typed_wrong.stderr).contains("`com.acmee` matches no name"), "{typed_wrong:?}");
    let all = told(&run(&["--claim", "--yes", "--json"]));
    assert_eq!(names(&all, "ours"), ["com.acme:bulb", "com.acme:wick"]);
    assert!(all.to_string().contains("cached of `near`"), "{all}");
    let command = "daylight repo set all --shared com.acme:bulb";
    let closed = json!([{ "group": "all", "names": ["com.acme:bulb", "com.acme:wick"], "command": command }]);
    assert_eq!(all["names"]["closed"], closed);
    assert_eq!(held(&world, "ours"), ["com.acme:bulb", "com.acme:wick"]);
    near.file(&format!("/{GROUP}/lamp/2.0/lamp-2.0.pom"), "<project/>");
    world.admin().file("all", &format!("{GROUP}/lamp/2.0/lamp-2.0.pom")).expect(200);

    // The same again needs no flag: the names are ours now.
    assert_eq!(told(&run(&["--json"]))["there"], 2);
    let patched = told(&run(&["--claim", "com.acme:l*", "--json"]));
    assert_eq!(names(&patched, "others"), ["com.acme:oil"]);
    world.admin().file("all", &format!("{GROUP}/lamp/2.0/lamp-2.0.pom")).expect(404);
    world
        .person("reader", &["read"], &["ours"])
        .post_json("/api/v1/repositories/ours/names", &json!({ "folders": ["com/acme/lamp"] }))
        .expect(403);
}

#[test]
fn a_claim_without_a_pattern_is_confirmed_and_an_import_says_which_names_upstreams_are_no_longer_asked_for() {
    let (world, _near, folder) = scene();
    let run = |more: &[&str]| import(&world, &world.admin(), folder.path(), "ours", more);
    let text = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();

    let unconfirmed = run(&["--claim"]);
    let err = String::from_utf8_lossy(&unconfirmed.stderr);
    assert!(!unconfirmed.status.success() && text(&unconfirmed).contains("com.acme:wick"), "{unconfirmed:?}");
    assert!(err.contains("makes 1 name yours") && err.contains("--claim com.acme") && err.contains("--yes"), "{err}");
    assert_eq!(held(&world, "ours"), Vec::<String>::new());

    let confirmed = text(&run(&["--claim", "--yes"]));
    assert!(
        confirmed.contains("the group `all` now asks no upstream for: com.acme:bulb, com.acme:wick"),
        "{confirmed}"
    );
    assert!(confirmed.contains("`daylight repo set all --shared com.acme:bulb`"), "{confirmed}");
    let again = text(&run(&[]));
    assert!(!again.contains("no upstream"), "{again}");
    // The command keeps the names that are shared already.
    world.change("all", &json!({ "policy": { "shared": ["org.x:y"] } }));
    version(folder.path(), "shade", "1.0", None);
    let closed = told(&run(&["--claim", "com.acme:shade", "--json"]));
    let command = "daylight repo set all --shared org.x:y --shared com.acme:shade";
    let closed_now = json!([{ "group": "all", "names": ["com.acme:shade"], "command": command }]);
    assert_eq!(closed["names"]["closed"], closed_now);
}

#[test]
fn a_pattern_of_a_group_covers_the_groups_below_it_and_leaves_out_what_was_installed_of_others() {
    let (world, near, folder) = scene();
    version_of(folder.path(), "com/acme/house", "door", "1.0", None);
    version_of(folder.path(), "org/public", "fork", "1.0-acme-1", Some(""));
    let run = |more: &[&str]| told(&import(&world, &world.admin(), folder.path(), "ours", more));
    let ours = run(&["--claim", "com.acme", "--ask-upstreams", "--json"]);
    assert_eq!(names(&ours, "undecided"), ["org.public:fork"]);
    assert_eq!(names(&ours, "ours")[..2], ["com.acme.house:door", "com.acme:bulb"]);
    assert_eq!(held(&world, "ours"), names(&ours, "ours"));
    assert!(ours.to_string().contains("installed on this machine, but no pattern matches it"), "{ours}");
    assert!(!near.asked().iter().any(|asked| asked.path.contains("fork")), "its name does not leave the house");
}

#[test]
fn what_is_said_of_a_name_depends_on_no_repository_that_the_caller_may_not_read() {
    let (world, near, _) = scene();
    let admin = world.admin();
    world.tree("secret", "maven");
    for (name, change) in [
        ("all", json!({ "private": true, "members": ["ours", "secret", "near"] })),
        ("secret", json!({ "private": true })),
        ("near", json!({ "private": true, "policy": { "private_prefixes": ["com.acme.inner"] } })),
    ] {
        admin.patch_json(&format!("/api/v1/repositories/{name}"), &change).expect(200);
    }
    admin.put("secret", &format!("{GROUP}/wick/1.0/wick-1.0.jar"), b"wick").expect(201);
    for artifact in ["wick", "shade"] {
        near.file(
            &format!("/{GROUP}/{artifact}/maven-metadata.xml"),
            "<metadata><artifactId>a</artifactId></metadata>",
        );
    }
    let folders = ["lamp", "wick", "shade", "bulb", "inner"].map(|artifact| format!("{GROUP}/{artifact}"));
    let ask = |who: &Person, ask_upstreams: bool| -> Vec<Value> {
        let body = json!({ "folders": folders, "ask_upstreams": ask_upstreams });
        let said = who.post_json("/api/v1/repositories/ours/names", &body).expect(200).json();
        said["names"].as_array().unwrap().clone()
    };
    let publisher = world.person("publisher", &["read", "write"], &["ours"]);
    let before = near.total();
    for asked in [false, true] {
        for mut said in ask(&publisher, asked) {
            said.as_object_mut().unwrap().retain(|key, _| !["folder", "name", "closed_in"].contains(&key.as_str()));
            let nothing = json!({
                "hosted": false, "private": false, "cached": false, "cached_by": [], "listed": null, "listed_by": [],
            });
            assert_eq!(said, nothing);
        }
    }
    assert_eq!(near.total(), before, "an upstream that the caller may not read is not asked");

    // Who may read all is told all, and the upstream does not learn a name that a hosted member has.
    let said = ask(&admin, true);
    let listed: Vec<&Value> = said.iter().map(|one| &one["listed"]).collect();
    assert_eq!(listed[1..4], [&Value::Null, &json!(true), &json!(false)]);
    assert_eq!((&said[0]["cached_by"], &said[1]["hosted"]), (&json!(["near"]), &json!(true)));
    let sent = |artifact: &str| near.asked().iter().any(|asked| asked.path.contains(&format!("/{artifact}/maven-")));
    assert_eq!(["wick", "shade", "bulb"].map(sent), [false, true, true]);

    // So does nobody who may read the upstream, but not the member; the name seems not to be listed.
    let neighbour = world.person("neighbour", &["read", "write"], &["ours", "near", "all"]);
    let wick = &ask(&neighbour, true)[1];
    assert_eq!((&wick["hosted"], &wick["listed"], sent("wick")), (&json!(false), &json!(false), false));
}

#[test]
fn a_question_to_upstreams_has_twenty_names_at_most() {
    let (world, near, _) = scene();
    let before = near.total();
    let folders = |count: usize| (0..count).map(|at| format!("{GROUP}/part{at}")).collect::<Vec<_>>();
    let ask = |count: usize, asked: bool| {
        let body = json!({ "folders": folders(count), "ask_upstreams": asked });
        world.admin().post_json("/api/v1/repositories/ours/names", &body)
    };
    let refused = ask(21, true).expect(400);
    assert!(refused.text().contains("20 names at most"), "{}", refused.text());
    ask(21, false).expect(200);
    assert_eq!(near.total(), before);
    ask(20, true).expect(200);
    assert_eq!(near.total(), before + 20);
}

#[test]
fn a_folder_with_nothing_but_public_names_is_not_imported_and_says_how_it_would_be() {
    let (world, _near, _) = scene();
    let folder = TempDir::new().unwrap();
    version(folder.path(), "oil", "1.0", Some("nexus"));
    let refused = import(&world, &world.admin(), folder.path(), "ours", &[]);
    let err = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && err.contains("--claim GROUP:ARTIFACT"), "{err}");
    let out = String::from_utf8_lossy(&refused.stdout);
    assert!(out.contains("downloaded from `nexus`: com.acme:oil"), "{out}");
    // A name that no upstream is ever asked for cannot be a public one.
    world.change("all", &json!({ "policy": { "private_prefixes": ["com.acme"] } }));
    assert!(import(&world, &world.admin(), folder.path(), "ours", &[]).status.success());
}

/// A real build fills a local repository with public artifacts and installs three of its own there.
#[track_caller]
fn brings_in_what_a_build_installed(release: Release) {
    let (central, world) = (Central::open(), World::start());
    world.change("maven-central", &json!({ "remote": { "urls": [central.url()] } }));
    let machine = central.machine(release);
    machine.settings(&central.url(), &[], "");
    let built = machine.project("lantern", &[("version", "1.0.0"), ("build", "1")]);
    built.maven(&["install", "-DskipTests"]).good();
    let report = told(&import(&world, &world.admin(), &machine.local(Path::new("")), "maven-releases", &["--json"]));
    assert!(names(&report, "others").len() > 50, "{report}");
    let ours = names(&report, "ours");
    assert!(ours.len() >= 3 && ours.iter().all(|name| name.starts_with("example.lantern:")), "{ours:?}");
    assert_eq!(held(&world, "maven-releases"), ours);
    assert!(report["names"]["others"].to_string().contains("downloaded from `mirror`"), "{report}");
    // Central is still asked for the names of the plugins that were downloaded.
    let plugin = "org/apache/maven/plugins/maven-install-plugin/maven-metadata.xml";
    world.anon().file("maven", plugin).expect(200);
    world.anon().file("maven", "example/lantern/lantern-app/1.0.0/lantern-app-1.0.0.jar").expect(200);
}

#[test]
fn of_a_local_repository_of_maven_3_8_only_what_was_installed_comes_in() {
    brings_in_what_a_build_installed(Release::Three8);
}

#[test]
fn of_a_local_repository_of_maven_3_10_only_what_was_installed_comes_in() {
    brings_in_what_a_build_installed(Release::Three10);
}

#[test]
fn of_a_local_repository_of_maven_4_only_what_was_installed_comes_in() {
    brings_in_what_a_build_installed(Release::Four);
}
