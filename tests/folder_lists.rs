//! Lists of folders, as programs read them: their rows, and the rows that they leave out.

use crate::policy;
use crate::world::{Answer, Central, Person, Said, Says, Upstream, World, await_true, write};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const VERSIONS: &str = "org/example/lamp/";
const METADATA: &str = "/org/example/lamp/maven-metadata.xml";

fn list(person: &Person, repository: &str, path: &str) -> Answer {
    let answer = person.file(repository, path).expect(200);
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    answer
}

/// The targets of the links of a list, without the one to the folder above.
fn links(answer: &Answer) -> Vec<String> {
    let targets = answer.text().split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    targets.skip(1).collect()
}

/// The line of a name: its date and its size.
fn line<'a>(answer: &'a Answer, name: &str) -> (&'a str, &'a str) {
    let begin = format!("title=\"{name}\">{name}</a>");
    let (_, rest) = answer.text().split_once(&begin).unwrap_or_else(|| panic!("no {name} in {}", answer.text()));
    let rest = rest.lines().next().unwrap().trim();
    rest.rsplit_once(' ').map(|(date, size)| (date.trim(), size)).unwrap()
}

/// Metadata of `org.example:lamp` with these versions, which does not say when it was updated: that would date them.
fn metadata(versions: &[&str]) -> String {
    crate::world::metadata(versions).replace("<lastUpdated>20260101000000</lastUpdated>", "")
}

#[test]
fn a_folder_of_a_hosted_tree_lists_the_files_and_folders_that_may_be_read() {
    let world = policy::world();
    world.tree("files", "raw");
    let (admin, anon) = (world.admin(), world.anon());
    let odd = ["a b.txt", "a'&=;x,y", "core:/x", "javascript:alert(1)", "100%25", "z#"];
    for path in odd.iter().map(|path| format!("dist/{}", path.replace('%', "%25").replace([' '], "%20"))) {
        admin.put("files", &path.replace('#', "%23"), b"seven b").expect(201);
    }
    for path in ["dist/v1/deep/er/lamp", "dist/v2/lamp"] {
        admin.put("files", path, b"x").expect(201);
    }
    // No name can be markup.
    admin.put("files", "dist/a%22%3E%3Cscript%3E", b"x").expect(404);
    let whole = list(&anon, "files", "dist/");
    assert_eq!(line(&whole, "a b.txt"), ("2026-11-01 12:00", "7"));
    assert_eq!(line(&whole, "v1/"), ("2026-11-01 12:00", "-"));
    assert!(whole.text().contains("<a href=\"v1/\" title=\"v1/\">v1/</a>"), "{}", whole.text());
    let all = links(&whole);
    assert_eq!(all.len(), odd.len() + 2, "{all:?}");
    for link in &all {
        let link = link.replace("&#39;", "'").replace("&#38;", "&");
        assert!(!link.split('/').next().unwrap().contains(':'), "a scheme: {link}");
        anon.file("files", &format!("dist/{}", link.trim_start_matches("./"))).expect(200);
    }
    for header in ["content-security-policy", "x-content-type-options"] {
        assert!(whole.header(header).is_some(), "{header}");
    }
    let etag = whole.header("etag").unwrap();
    anon.ask("GET", "/repository/files/dist/", &[("If-None-Match", etag)], b"").expect(304);
    let head = anon.ask("HEAD", "/repository/files/dist/", &[], b"").expect(200);
    assert_eq!((head.header("etag"), head.header("content-length")), (Some(etag), whole.header("content-length")));
    assert!(!anon.get("/repository/files/").expect(200).text().contains("Index of"), "the root is the overview");
    for missing in ["dist", "none/", "dist/v2/lamp/", "dist/a%20b.txt/"] {
        anon.file("files", missing).expect(404);
    }

    policy::set_day(&world, 3);
    admin.put("files", "dist/v3/lamp", b"x").expect(201);
    admin.delete("files", "dist/v2/lamp").expect(204);
    assert_eq!(line(&list(&anon, "files", "dist/"), "v3/").0, "2026-11-03 12:00");
    assert!(!links(&list(&anon, "files", "dist/")).contains(&"v2/".to_owned()));
    assert_eq!(links(&list(&anon, "files@2026-11-01", "dist/")), all);

    // What a policy hides is not told from what never existed.
    world.change("files", &json!({ "policy": { "deny": ["dist/v1/*"], "cooldown_s": 86_400 } }));
    let seen = links(&list(&anon, "files", "dist/"));
    assert!(!seen.iter().any(|link| ["v1/", "v2/", "v3/"].contains(&link.as_str())), "{seen:?}");
    let text = |path: &str| anon.file("files", path).expect(404).text().replace(path, "PATH");
    assert_eq!(text("dist/v1/"), text("dist/v9/"));
    admin.put("files", "dist/v1/deep/lamp", b"x").expect(403);

    world.change("files", &json!({ "private": true, "policy": { "deny": null, "cooldown_s": null } }));
    assert_eq!(anon.file("files", "dist/").status, anon.file("files", "dist/v3/lamp").status);
    assert_eq!(anon.file("files", "dist/").status, anon.file("files", "none/").status);
    let reader = world.person("reader", &["read"], &["files"]);
    assert_eq!(links(&list(&reader, "files", "dist/v1/")), ["deep/"]);
    let off = world.change("files", &json!({ "listing": false }));
    assert_eq!(off.json()["listing"], false);
    reader.file("files", "dist/").expect(404);
    assert_eq!(world.change("files", &json!({ "listing": true })).json()["listing"], true);
    list(&reader, "files", "dist/");
}

#[test]
fn a_remote_repository_lists_the_versions_of_an_artifact_or_says_that_it_does_not_know_them() {
    let (world, upstream) = (World::start(), Upstream::start());
    world.remote("central", &upstream.url());
    let anon = world.anon();
    upstream.says(METADATA, Says::status(500));
    assert!(anon.file("central", VERSIONS).status >= 500);
    upstream.file(METADATA, metadata(&["1.0", "1.1"]));
    let pom = "/org/example/lamp/1.0/lamp-1.0.pom";
    upstream.says(pom, Says::bytes("<project/>").header("Last-Modified", "Sun, 01 Feb 2026 03:04:05 GMT"));
    world.change("central", &json!({ "remote": { "fresh_s": 0 } }));
    assert_eq!(line(&list(&anon, "central", VERSIONS), "1.0/"), ("-", "-"));
    anon.file("central", &pom[1..]).expect(200);
    // The date is recorded after the reply.
    await_true("the date is recorded", || line(&list(&anon, "central", VERSIONS), "1.0/") != ("-", "-"));
    let known = list(&anon, "central", VERSIONS);
    assert_eq!((line(&known, "1.0/"), line(&known, "1.1/")), (("2026-02-01 03:04", "-"), ("-", "-")));
    assert_eq!(links(&known), ["1.0/", "1.1/"]);
    upstream.says(METADATA, Says::status(500));
    let stale = list(&anon, "central", VERSIONS);
    assert_eq!(links(&stale), ["1.0/", "1.1/"]);
    assert!(stale.header("daylight-stale").is_some());
    upstream.file(METADATA, metadata(&["1.0", "1.1", "../../x", "a\"&gt;&lt;b", "javascript:x", "2.0"]));
    world.change("central", &json!({ "policy": { "deny": ["org.example:lamp:1.1"] } }));
    assert_eq!(links(&list(&anon, "central", VERSIONS)), ["1.0/", "2.0/"]);
    for other in ["org/", "org/example/", "org/example/lamp/1.0/", "org/example/wick/"] {
        anon.file("central", other).expect(404);
    }
    let explained = world.admin().get("/api/v1/explain?repository=central&path=org/example/oil/").expect(200);
    assert!(explained.text().contains("would be asked"), "{}", explained.text());
}

#[test]
fn a_group_lists_what_hosted_members_have_and_the_versions_of_upstreams_all_or_none() {
    let (world, near, far) = (World::start(), Upstream::start(), Upstream::start());
    world.make(&json!({ "name": "ivy", "format": "maven", "layout": "any" }));
    world.remote("near", &near.url());
    world.remote("far", &far.url());
    world.make(&json!({ "name": "all", "format": "maven", "members": ["near", "ivy", "far"] }));
    let (admin, anon) = (world.admin(), world.anon());
    near.file(METADATA, metadata(&["1.0", "1.1"]));
    far.says(METADATA, Says::status(500));
    assert!(anon.file("all", VERSIONS).status >= 500, "far may have others");
    far.file(METADATA, metadata(&["1.1", "1.2"]));
    world.change("far", &json!({ "remote": { "fresh_s": 0 } }));
    assert_eq!(links(&list(&anon, "all", VERSIONS)), ["1.0/", "1.1/", "1.2/"]);
    admin.put("ivy", "org.example/wick/ivy-1.0.xml", b"<ivy-module/>").expect(201);
    admin.put("ivy", "org.example/wick/1.0/wick.jar", b"jar").expect(201);
    let own = list(&anon, "all", "org.example/wick/");
    assert_eq!(links(&own), ["1.0/", "ivy-1.0.xml"]);
    assert_eq!(line(&own, "ivy-1.0.xml").1, "13");
    assert_eq!((near.count_of("wick"), far.count_of("wick")), (0, 0), "no upstream learns the name");
    // Once it is a hosted name, its upstreams' versions are not listed.
    admin.put("ivy", "org/example/lamp/9/lamp-9.jar", b"jar").expect(201);
    assert_eq!(links(&list(&anon, "all", VERSIONS)), ["9/"]);
    world.change("all", &json!({ "policy": { "shared": ["org.example:lamp"] } }));
    assert_eq!(links(&list(&anon, "all", VERSIONS)), ["1.0/", "1.1/", "1.2/", "9/"]);

    world.change("ivy", &json!({ "listing": false }));
    anon.file("all", VERSIONS).expect(404);

    world.tree("ours", "raw");
    world.make(&json!({ "name": "files", "format": "raw", "members": ["ours"] }));
    admin.put("ours", "a/b", b"x").expect(201);
    assert_eq!(links(&list(&anon, "files", "a/")), ["b"]);
    world.remote_of("raw", "theirs", &near.url());
    world.change("files", &json!({ "members": ["ours", "theirs"] }));
    anon.file("files", "a/").expect(404);
    anon.file("theirs", "a/").expect(404);
}

#[test]
fn wget_copies_a_hosted_tree() {
    let world = World::start();
    world.tree("files", "raw");
    let files = ["dist/lamp.zip", "dist/v1/a b.txt", "dist/v1/lamp-1:2.zip", "dist/v2/deep/er/x+y~z", "dist/v2/a&b;c"];
    for path in files {
        world.admin().put("files", &path.replace(' ', "%20"), path.as_bytes()).expect(201);
    }
    world.admin().put("files", "other", b"x").expect(201);
    let here = TempDir::new().unwrap();
    let url = format!("{}dist/", world.url("files"));
    let arguments = ["-q", "-r", "-l", "inf", "-np", "-nH", "--cut-dirs=2", "--reject", "index.html*", &url];
    let said: Said = Command::new("wget").args(arguments).current_dir(here.path()).output().unwrap().into();
    said.good();
    for path in files {
        assert_eq!(std::fs::read(here.path().join(path)).unwrap(), path.as_bytes(), "{path}");
    }
    assert!(!here.path().join("other").exists());
}

const NEWEST_IVY: &str = "org/apache/ivy/ivy/2.6.0/ivy-2.6.0.jar";
const DEBIANS_IVY: &str = "/usr/share/java/ivy.jar";

/// Resolves `example.lantern#wick` in a revision, and returns the jar.
fn ivy(jar: &Path, url: &str, revision: &str) -> String {
    let here = TempDir::new().unwrap();
    let pattern = |file: &str| format!("{url}[organisation]/[module]/[revision]/{file}");
    let settings = format!(
        "<ivysettings><settings defaultResolver=\"url\"/><resolvers><url name=\"url\"><ivy pattern=\"{}\"/>\
         <artifact pattern=\"{}\"/></url></resolvers></ivysettings>",
        pattern("ivy.xml"),
        pattern("[artifact].[ext]")
    );
    write(&here.path().join("ivysettings.xml"), &settings);
    let module = format!(
        "<ivy-module version=\"2.0\"><info organisation=\"example.lantern\" module=\"porch\"/>\
         <dependencies><dependency org=\"example.lantern\" name=\"wick\" rev=\"{revision}\"/></dependencies></ivy-module>"
    );
    write(&here.path().join("ivy.xml"), &module);
    let said: Said = Command::new("java")
        .arg(format!("-Duser.home={}", here.path().display()))
        .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar"])
        .arg(jar)
        .args(["-settings", "ivysettings.xml", "-ivy", "ivy.xml", "-retrieve", "lib/[artifact].[ext]"])
        .current_dir(here.path())
        .output()
        .unwrap()
        .into();
    said.good();
    std::fs::read_to_string(here.path().join("lib/wick.jar")).unwrap()
}

#[test]
fn ivy_finds_the_newest_revision_in_a_hosted_repository_and_through_a_group() {
    let central = Central::open();
    let (world, upstream) = (World::start(), Upstream::start());
    world.make(&json!({ "name": "ivy", "format": "maven", "layout": "any" }));
    world.remote("central", &upstream.url());
    world.make(&json!({ "name": "all", "format": "maven", "members": ["ivy", "central"] }));
    for revision in ["1.0", "1.9", "1.10+b~2", "2.0"] {
        let module = format!(
            "<ivy-module version=\"2.0\"><info organisation=\"example.lantern\" module=\"wick\" revision=\"{revision}\" \
             status=\"release\"/></ivy-module>"
        );
        let at = |file: &str| format!("example.lantern/wick/{revision}/{file}");
        world.admin().put("ivy", &at("ivy.xml"), module.as_bytes()).expect(201);
        world.admin().put("ivy", &at("wick.jar"), revision.as_bytes()).expect(201);
    }
    for jar in [Path::new(DEBIANS_IVY), &central.jar(NEWEST_IVY)] {
        for repository in ["ivy", "all"] {
            let found = |revision: &str| ivy(jar, &world.url(repository), revision);
            assert_eq!((found("latest.integration"), found("1.+")), ("2.0".into(), "1.10+b~2".into()), "{repository}");
        }
    }
}
