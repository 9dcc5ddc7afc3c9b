//! Moving a repository of Maven or of raw files out: every file at its path with its date, what other servers and clients look for
//! beside it, and the way back.

use crate::maven_hosted::{build, release};
use crate::world::{Says, Upstream, World, hex, program, write};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

fn run(world: &World, arguments: &[&str]) -> Output {
    world.command(arguments).output().unwrap()
}

#[track_caller]
fn told(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn export(world: &World, repository: &str, folder: &Path) -> Value {
    told(&run(world, &["export", repository, folder.to_str().unwrap(), "--json"]))
}

/// The files below a folder by their paths.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    found
}

/// What a server lists of a repository, without the moments of arrival.
fn listing(world: &World, repository: &str) -> Vec<(String, String)> {
    let listed =
        world.admin().get(&format!("/api/v1/repositories/{repository}/contents?limit=1000")).expect(200).json();
    let text = |file: &Value, name: &str| file[name].as_str().unwrap().to_owned();
    listed["contents"].as_array().unwrap().iter().map(|file| (text(file, "path"), text(file, "sha256"))).collect()
}

/// A server whose lists never end: it repeats a page, or invents one more each time.
#[test]
fn a_list_without_an_end_is_an_error_for_each_command_that_reads_it() {
    let upstream = Upstream::start();
    let page = json!({
        "name": "trees", "format": "maven", "kind": "hosted", "contents": [], "missing": [], "collisions": [], "rows": [],
        "names": 0, "waiting": 0, "unknown": [], "versions": 0, "infos": 0, "older": 0, "gems": 0, "unproven": 0,
        "problems": [], "next": "again", "members": [],
    });
    upstream.says_otherwise(Says::bytes(page.to_string()).header("Content-Type", "application/json"));
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    for command in [
        vec!["export", "trees", out.to_str().unwrap()],
        vec!["repo", "contents", "trees"],
        vec!["repo", "missing", "trees"],
    ] {
        let output = program(&command)
            .args(["--server", upstream.url().trim_end_matches('/')])
            .env("DAYLIGHT_TOKEN", "daylight_some")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("does not end"), "{command:?}: {said}");
    }
    assert_eq!(fs::read_dir(&out).map_or(0, Iterator::count), 0, "nothing was written");
}

#[test]
fn a_repository_of_maven_is_exported_as_it_is_answered_and_comes_back_the_same() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.tree("trees", "maven");
    let admin = world.admin();
    for version in ["1.0", "1.10", "1.9"] {
        release(&admin, "lamp", version);
    }
    build(&admin, "20260101.120000", 1);
    build(&admin, "20260102.120000", 2);
    let signature = "org/example/lamp/1.0/lamp-1.0.jar.asc";
    let moment = UNIX_EPOCH + Duration::from_secs(1_460_000_000);
    let dated = [("Daylight-Published", "2016-04-07T03:33:20Z")];
    admin.ask("PUT", &format!("/repository/trees/{signature}"), &dated, b"signature").expect(201);
    let out = folder.path().join("out");
    let listed = listing(&world, "trees");
    let metadata = ["org/example/lamp", "org/example/lamp/1.0-SNAPSHOT"].map(|at| format!("{at}/maven-metadata.xml"));

    let told = export(&world, "trees", &out);
    assert_eq!((&told["written"], &told["there"]), (&(listed.len() + 2).into(), &0.into()));
    let found = files(&out);
    for (path, _) in &listed {
        assert!(found[path] == world.anon().file("trees", path).expect(200).body, "{path}");
        let sums = [".sha1", ".md5"].map(|ending| found.contains_key(&format!("{path}{ending}")));
        assert_eq!(sums, [path != signature; 2], "{path}");
    }
    for path in &metadata {
        let answered = world.anon().file("trees", path).expect(200).body;
        assert!(found[path] == answered, "{path}");
        assert_eq!(found[&format!("{path}.sha1")], hex(&Sha1::digest(&answered)).into_bytes());
    }
    let with_sums = listed.len() - 1 + metadata.len();
    assert_eq!(found.len(), listed.len() + metadata.len() + 2 * with_sums, "{:?}", found.keys());
    assert_eq!(out.join(signature).metadata().unwrap().modified().unwrap(), moment);

    // Again, after one that was killed: nothing is fetched again, and what had come is complete.
    fs::remove_file(out.join(&listed[0].0)).unwrap();
    write(&out.join(format!("{}/.{}.arriving", "org/example/lamp/1.0", "lamp-1.0.jar")), "half");
    let again = export(&world, "trees", &out);
    assert_eq!((&again["written"], &again["there"]), (&1.into(), &(listed.len() + 1).into()));
    fs::remove_file(out.join("org/example/lamp/1.0/.lamp-1.0.jar.arriving")).unwrap();
    assert!(files(&out) == found);

    let fresh = World::start();
    fresh.tree("trees", "maven");
    let imported = run(&fresh, &["import", "maven", out.to_str().unwrap(), "--into", "trees", "--claim", "--yes"]);
    assert!(imported.status.success(), "{imported:?}");
    assert_eq!(listing(&fresh, "trees"), listed);
    let back = fresh.anon().file("trees", signature).expect(200);
    assert_eq!(back.header("last-modified"), Some("Thu, 07 Apr 2016 03:33:20 GMT"));
    for path in &metadata {
        let versions =
            |world: &World| crate::maven_hosted::all(&world.anon().file("trees", path).expect(200), "version");
        assert_eq!(versions(&fresh), versions(&world));
    }
}

#[test]
fn a_file_with_other_bytes_is_not_overwritten_and_the_rest_is_written() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.tree("tools", "raw");
    let paths = ["dist/lamp v1.zip", "dist/lamp v1.zip.sha256", "lamp.txt", "deep/er/x"];
    for path in paths {
        let url = path.replace(' ', "%20");
        let bytes = if path.ends_with("sha256") {
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        } else {
            ""
        };
        world.admin().put("tools", &url, bytes.as_bytes()).expect(201);
    }
    let out = folder.path();
    write(&out.join("lamp.txt"), "mine");
    let output = run(&world, &["export", "tools", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let (text, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(text.contains("not overwritten, it has other bytes: ") && text.contains("wrote 3 files, 0 were"), "{text}");
    assert!(error.contains("1 files were not written") && error.contains("hint: "), "{error}");
    let found = files(out);
    assert_eq!(found["lamp.txt"], b"mine");
    let mut names: Vec<_> = found.keys().map(String::as_str).collect();
    names.sort_unstable();
    let mut expected = paths;
    expected.sort_unstable();
    assert_eq!(names, expected, "checksums of raw files are files like others");

    std::fs::remove_file(out.join("lamp.txt")).unwrap();
    assert_eq!(export(&world, "tools", out)["written"], 1);
    let fresh = World::start();
    fresh.tree("tools", "raw");
    for uploaded in [4, 0] {
        let imported = told(&run(&fresh, &["import", "raw", out.to_str().unwrap(), "--into", "tools", "--json"]));
        assert_eq!(imported["uploaded"], uploaded);
        assert_eq!(listing(&fresh, "tools"), listing(&world, "tools"));
    }
}

#[test]
fn cached_files_of_an_upstream_are_exported_and_one_who_may_only_read_is_told_what_it_takes() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    let upstream = crate::world::Upstream::start();
    world.remote("central", &upstream.url());
    let jar = "org/example/lamp/1.0/lamp-1.0.jar";
    upstream.file(&format!("/{jar}"), "lamp");
    world.anon().file("central", jar).expect(200);
    assert_eq!(export(&world, "central", folder.path())["written"], 1);
    assert_eq!(fs::read(folder.path().join(jar)).unwrap(), b"lamp");
    let reader = world.person("reader", &["read"], &["central"]);
    let mut command = world.command(&["export", "central", folder.path().to_str().unwrap()]);
    let refused = command.env("DAYLIGHT_TOKEN", reader.secret()).output().unwrap();
    assert!(String::from_utf8(refused.stderr).unwrap().contains("a token of the scope `admin`"));
    assert_eq!(json!(refused.status.code()), 1);
}
