//! Derived data can be deleted: without the database, segments and blobs give the same bytes for every URL.

use crate::world::{Answer, FIRST, Gem, Index, World, await_true};

/// Everything that clients can see of all repositories: the status, validators and body of every URL.
pub(crate) fn everything(world: &World) -> Vec<(String, Answer)> {
    let admin = world.admin();
    let mut paths = Vec::new();
    for repository in [FIRST, "vault"] {
        let index = Index::read(&admin, repository);
        index.download(&admin, repository);
        paths.extend(index.paths(repository));
        paths.push(format!("/repository/{repository}/gems/lamp-1.1.0.gem"));
    }
    paths.extend(["/api/v1/repositories".to_owned(), "/api/v1/tokens".to_owned()]);
    for folder in ["org/example", "org/example/lamp", "org/example/lamp/2-SNAPSHOT"] {
        paths.push(format!("/repository/trees/{folder}/maven-metadata.xml"));
        paths.push(format!("/repository/trees/{folder}/maven-metadata.xml.sha512"));
    }
    for version in ["1.0", "1.1", "2-SNAPSHOT"] {
        paths.extend(
            ["pom", "jar", "jar.md5"]
                .map(|ending| format!("/repository/trees/org/example/lamp/{version}/lamp-{version}.{ending}")),
        );
    }
    let seen = |path: String| {
        let answer = admin.get(&path).only(&["etag", "repr-digest", "content-type", "content-length"]);
        (path, answer)
    };
    paths.into_iter().map(seen).collect()
}

pub(crate) fn filled() -> World {
    // Each start uses another port, which does not count as a difference.
    let world = World::start_with(&[("DAYLIGHT_SERVER_PUBLIC_URL", "https://gems.example")]);
    fill(&world);
    world
}

/// Publishes and removes something of each kind.
pub(crate) fn fill(world: &World) {
    world.repository("vault", true);
    world.person("reader", &["read"], &["vault"]);
    let admin = world.admin();
    for repository in [FIRST, "vault"] {
        for version in ["1.0.0", "1.1.0", "1.2.0.pre", "2.0.0"] {
            let gem = Gem::new("lamp", version).needs("oil", ">= 1.0").payload(repository.as_bytes());
            admin.push(repository, &gem).expect(200);
        }
        admin.push(repository, &Gem::new("oil", "1.0.0")).expect(200);
        admin.yank(repository, "lamp", "1.1.0").expect(200);
        admin.yank(repository, "oil", "1.0.0").expect(200);
        admin.push(repository, &Gem::new("oil", "1.0.1")).expect(200);
    }
    world.tree("trees", "maven");
    for version in ["1.0", "1.1", "2-SNAPSHOT"] {
        let path = format!("org/example/lamp/{version}/lamp-{version}");
        admin.put("trees", &format!("{path}.jar"), version.as_bytes()).expect(201);
        let pom = "<project><packaging>maven-plugin</packaging><artifactId>lamp</artifactId></project>";
        admin.put("trees", &format!("{path}.pom"), pom.as_bytes()).expect(201);
    }
    admin.put("trees", "org/example/lamp/2-SNAPSHOT/lamp-2-SNAPSHOT.jar", b"again").expect(200);
    admin.delete("trees", "org/example/lamp/1.1").expect(204);
}

#[test]
fn a_restart_and_a_rebuild_without_the_database_change_no_byte_of_any_url() {
    let mut world = filled();
    let before = everything(&world);
    world.stop();
    world.resume();
    assert_eq!(everything(&world), before, "after a restart");
    world.stop();

    let truth: Vec<_> = world.files().into_iter().filter(|path| name(path).starts_with("truth")).collect();
    assert!(!truth.is_empty(), "{:?}", world.files());
    truth.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let said = world.run("rebuild");
    assert!(said.status.success(), "{said:?}");
    let said = world.run("check");
    assert!(said.status.success(), "{said:?}");
    world.resume();
    assert_eq!(everything(&world), before, "after a rebuild");

    // The rebuilt repository accepts changes.
    world.admin().push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
    world.admin().push(FIRST, &Gem::new("lamp", "1.1.0")).expect(409);
    Index::read(&world.anon(), FIRST).download(&world.anon(), FIRST);
    world.admin().put("trees", "org/example/lamp/1.0/lamp-1.0.jar", b"other").expect(409);
    world.admin().put("trees", "org/example/lamp/1.1/lamp-1.1.jar", b"other").expect(409);
}

#[test]
fn the_cache_database_may_be_deleted_at_any_time() {
    let mut world = filled();
    let before = everything(&world);
    world.kill();
    let cache = world.files().into_iter().filter(|path| name(path).starts_with("cache"));
    cache.for_each(|path| std::fs::remove_file(path).unwrap());
    world.resume();
    assert_eq!(everything(&world), before);
}

#[test]
fn check_finds_a_missing_blob_and_a_changed_one() {
    let mut world = filled();
    world.stop();
    assert!(world.run("check").status.success());
    let blobs: Vec<_> = world.files().into_iter().filter(|path| path.iter().any(|part| part == "blobs")).collect();
    let blob = blobs.iter().find(|path| std::fs::metadata(path).unwrap().len() > 1000).unwrap();
    let bytes = std::fs::read(blob).unwrap();
    std::fs::remove_file(blob).unwrap();
    assert!(!world.run("check").status.success(), "a blob is missing");
    std::fs::write(blob, &bytes[1..]).unwrap();
    assert!(!world.run("check").status.success(), "a blob is too short");
}

#[test]
fn a_rebuild_after_a_crash_that_lost_the_truth_says_which_blobs_no_row_names() {
    let mut world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.stop();
    let shipped = world.files();
    world.resume();
    let lost = Gem::new("oil", "1.0.0");
    world.admin().push(FIRST, &lost).expect(200);
    world.kill();
    // Removes the last second of the journal, which was not synced, and the database.
    for file in world.files().into_iter().filter(|file| !shipped.contains(file) || name(file).starts_with("truth")) {
        if file.iter().all(|part| part != "blobs") {
            std::fs::remove_file(file).unwrap();
        }
    }
    let digest = crate::world::hex(&<sha2::Sha256 as sha2::Digest>::digest(lost.bytes()));
    let rebuilt = world.run("rebuild");
    let said = String::from_utf8(rebuilt.stdout).unwrap();
    assert!(rebuilt.status.success(), "{said}");
    assert!(said.contains(&format!("/{digest}`")) && said.contains("no row names 1 blobs"), "{said}");
    let checked = world.run("check");
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(checked.status.success(), "the served files are complete: {said}");
    assert!(said.contains(&format!("/{digest}`")), "{said}");
    world.resume();
    world.admin().push(FIRST, &lost).expect(200);
    world.stop();
    assert!(!String::from_utf8(world.run("check").stdout).unwrap().contains(&digest));
}

#[test]
fn a_rebuild_after_a_crash_that_lost_the_truth_brings_the_last_acknowledged_push_back() {
    let mut world = World::start();
    let gem = Gem::new("lamp", "1.0.0");
    world.admin().push(FIRST, &gem).expect(200);
    world.kill();
    for file in world.files().into_iter().filter(|file| name(file).starts_with("truth")) {
        std::fs::remove_file(file).unwrap();
    }
    let rebuilt = world.run("rebuild");
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    let checked = world.run("check");
    assert!(checked.status.success(), "{checked:?}");
    world.resume();
    let answer = world.anon().get(&format!("/repository/{FIRST}/gems/lamp-1.0.0.gem"));
    assert_eq!(answer.expect(200).body, gem.bytes());
}

#[test]
fn what_an_upload_left_that_was_killed_is_no_damage() {
    let mut world = World::start();
    let admin = world.admin();
    let mut upload = admin.connect().unwrap();
    let head = format!(
        "POST /repository/{FIRST}/api/v1/gems HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\nContent-Length: 1000000\r\n\r\n",
        admin.secret()
    );
    upload.send(head.as_bytes()).unwrap();
    upload.send(&[7; 500_000]).unwrap();
    let arriving = |world: &World| world.files().iter().any(|file| file.parent().unwrap().ends_with("blobs/tmp"));
    await_true("the upload arrives", || arriving(&world));
    world.kill();
    assert!(arriving(&world));
    let checked = world.run("check");
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(checked.status.success(), "{said}");
    assert!(said.contains("1 uploads or fetches were interrupted"), "{said}");
    world.resume();
    assert!(!arriving(&world));
}

#[test]
fn a_folder_in_use_is_refused_to_everybody_else() {
    let world = World::start();
    for verb in ["rebuild", "check"] {
        let said = world.run(verb);
        assert!(!said.status.success());
        assert!(String::from_utf8_lossy(&said.stderr).contains("hint: "), "{said:?}");
    }
}

fn name(path: &std::path::Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}
