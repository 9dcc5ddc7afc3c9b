//! The calls for operators: lists of files, deletion and undo, negative answers of upstreams, and the state of
//! upstreams.

use crate::world::{FIRST, Gem, Says, Upstream, World};
use serde_json::{Value, json};

const LAMP: &str = "org/example/lamp/1.0/lamp-1.0.jar";

fn get(world: &World, below: &str) -> Value {
    world.admin().get(&format!("/api/v1/repositories/{below}")).expect(200).json()
}

fn paths(list: &Value, name: &str) -> Vec<String> {
    list[name].as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap().to_owned()).collect()
}

/// A server with a remote repository of raw files, and its upstream.
fn remote(path: &str, bytes: &str) -> (World, Upstream) {
    let (world, upstream) = (World::start(), Upstream::start());
    upstream.file(path, bytes);
    let wanted = json!({"name": "far", "format": "raw", "remote": {"urls": [upstream.url()]}});
    world.admin().post_json("/api/v1/repositories", &wanted).expect(201);
    (world, upstream)
}

#[test]
fn a_list_shows_what_clients_see_and_goes_on_where_it_ended() {
    let world = World::start();
    world.tree("tools", "raw");
    for path in ["a/1", "a/2", "a-b/1", "b"] {
        world.admin().put("tools", path, path.as_bytes()).expect(201);
    }
    let all = get(&world, "tools/contents");
    assert_eq!(paths(&all, "contents"), ["a-b/1", "a/1", "a/2", "b"]);
    assert_eq!((&all["next"], &all["contents"][0]["size_bytes"]), (&Value::Null, &json!(5)));
    assert_eq!(paths(&get(&world, "tools/contents/a"), "contents"), ["a/1", "a/2"]);
    assert_eq!(paths(&get(&world, "tools/contents/b"), "contents"), ["b"]);
    assert_eq!(paths(&get(&world, "tools/contents/c"), "contents"), [""; 0]);
    // Pages of any size add up to the whole list.
    for limit in 1..=5 {
        let (mut together, mut after) = (Vec::new(), String::new());
        loop {
            let part = get(&world, &format!("tools/contents?limit={limit}&after={after}"));
            together.extend(paths(&part, "contents"));
            let Some(next) = part["next"].as_str() else { break };
            after = next.replace('/', "%2F");
        }
        assert_eq!(together, paths(&all, "contents"), "{limit}");
    }
    for odd in ["limit=0", "limit=1001", "limit=many"] {
        world.admin().get(&format!("/api/v1/repositories/tools/contents?{odd}")).expect(400);
    }
    world.admin().get("/api/v1/repositories/nothing/contents").expect(404);
}

#[test]
fn what_is_deleted_can_be_seen_and_brought_back_as_it_was() {
    let world = World::start();
    world.tree("trees", "maven");
    let admin = world.admin();
    for ending in ["jar", "pom"] {
        let pom =
            "<project><groupId>org.example</groupId><artifactId>lamp</artifactId><version>1.0</version></project>";
        admin.put("trees", &format!("org/example/lamp/1.0/lamp-1.0.{ending}"), pom.as_bytes()).expect(201);
    }
    let before = world.anon().file("trees", LAMP).expect(200);
    let folder = "/api/v1/repositories/trees/contents/org/example/lamp/1.0";
    assert_eq!(admin.ask("DELETE", folder, &[], b"").expect(200).json()["removed"], json!(2));
    world.anon().file("trees", LAMP).expect(404);
    world.anon().file("trees", "org/example/lamp/maven-metadata.xml").expect(404);
    assert_eq!(paths(&get(&world, "trees/contents"), "contents"), [""; 0]);
    assert_eq!(paths(&get(&world, "trees/contents?removed=true"), "contents").len(), 2);
    assert_eq!(admin.ask("POST", folder, &[], b"").expect(200).json(), json!({"restored": 2}));
    let after = world.anon().file("trees", LAMP).expect(200);
    assert_eq!((&after.body, after.header("etag")), (&before.body, before.header("etag")));
    world.anon().file("trees", "org/example/lamp/maven-metadata.xml").expect(200);
    assert_eq!(paths(&get(&world, "trees/contents?removed=true"), "contents"), [""; 0]);
    admin.ask("POST", folder, &[], b"").expect(404);
    admin.ask("DELETE", "/api/v1/repositories/trees/contents/no/where", &[], b"").expect(404);
    admin.ask("GET", "/api/v1/repositories/trees/not-found", &[], b"").expect(400);
}

#[test]
fn what_is_kept_of_an_upstream_is_listed_and_asked_for_anew_when_it_is_taken_away() {
    let (world, upstream) = remote("/dist/x.zip", "old");
    assert_eq!(world.anon().file("far", "dist/x.zip").expect(200).text(), "old");
    upstream.file("/dist/x.zip", "new");
    assert_eq!(world.anon().file("far", "dist/x.zip").expect(200).text(), "old");
    let list = get(&world, "far/contents");
    assert_eq!((paths(&list, "contents"), &list["contents"][0]["size_bytes"]), (vec!["dist/x.zip".into()], &json!(3)));
    let path = "/api/v1/repositories/far/contents/dist";
    assert_eq!(world.admin().ask("DELETE", path, &[], b"").expect(200).json()["removed"], json!(1));
    assert_eq!(paths(&get(&world, "far/contents"), "contents"), [""; 0]);
    assert_eq!(world.anon().file("far", "dist/x.zip").expect(200).text(), "new");
    world.admin().ask("DELETE", "/api/v1/repositories/far/contents/no/where", &[], b"").expect(404);
}

#[test]
fn what_an_upstream_was_proven_not_to_have_is_listed_and_forgotten() {
    let (world, upstream) = remote("/there", "there");
    for path in ["a/1", "a/2", "b"] {
        world.anon().file("far", path).expect(404);
        world.anon().file("far", path).expect(404);
        assert_eq!(upstream.count(&format!("/{path}")), 1);
    }
    let missing = get(&world, "far/not-found");
    assert_eq!(paths(&missing, "missing"), ["b", "a/1", "a/2"]);
    assert!(missing["missing"][0]["until"].as_str().unwrap().ends_with('Z'));
    // The file appears upstream. Daylight sees it as soon as the negative answer is deleted.
    upstream.file("/a/1", "here");
    world.anon().file("far", "a/1").expect(404);
    let forget = |below: &str| {
        let path = format!("/api/v1/repositories/far/not-found{below}");
        world.admin().ask("DELETE", &path, &[], b"").expect(200).json()["forgotten"].as_u64().unwrap()
    };
    assert_eq!(forget("/a"), 2);
    assert_eq!(world.anon().file("far", "a/1").expect(200).text(), "here");
    assert_eq!(paths(&get(&world, "far/not-found"), "missing"), ["b"]);
    assert_eq!((forget("/c"), forget(""), forget("")), (0, 1, 0));
    // A failure proves nothing.
    upstream.says("/c", Says::status(500));
    assert!(world.anon().file("far", "c").status >= 500);
    assert_eq!(paths(&get(&world, "far/not-found"), "missing"), [""; 0]);
}

#[test]
fn how_upstreams_stand_is_told_with_what_went_wrong_last() {
    let (world, upstream) = remote("/there", "there");
    let state = || world.admin().get("/api/v1/upstreams").expect(200).json()["upstreams"].clone();
    world.anon().file("far", "there").expect(200);
    let host = upstream.address().to_string();
    let one = state().as_array().unwrap().iter().find(|one| one["host"].as_str().unwrap().ends_with(&host)).cloned();
    let one = one.unwrap();
    assert_eq!((&one["circuit"], &one["last_error"], &one["calls"]), (&json!("closed"), &Value::Null, &json!(0)));
    assert_eq!(one["repositories"], json!(["far"]));
    upstream.says("/busy", Says::status(429).header("Retry-After", "60"));
    assert!(world.anon().file("far", "busy").status >= 500);
    let one = state()[0].clone();
    assert!(one["paused_until"].is_string() && one["last_error"]["what"].as_str().unwrap().contains("429"), "{one}");
}

#[test]
fn versions_of_hosted_gems_are_listed_with_who_published_them() {
    let world = World::start();
    let (admin, mira) = (world.admin(), world.person("mira", &["read", "write", "delete"], &[]));
    for (who, name, version) in [(&mira, "lamp", "1.0.0"), (&admin, "lamp", "2.0.0"), (&mira, "oil", "1.0.0.rc1")] {
        who.push(FIRST, &Gem::new(name, version)).expect(200);
    }
    let java = Gem::new("lamp", "1.0.0").platform("java");
    admin.push(FIRST, &java).expect(200);
    let list = |below: &str| get(&world, &format!("{FIRST}/contents{below}"));
    let all = list("");
    assert_eq!(
        paths(&all, "contents"),
        ["gems/lamp-1.0.0.gem", "gems/lamp-1.0.0-java.gem", "gems/lamp-2.0.0.gem", "gems/oil-1.0.0.rc1.gem"]
    );
    let row = all["contents"][1].clone();
    let told = ["name", "version", "platform", "by", "yanked", "size_bytes"].map(|field| row[field].clone());
    let bytes = java.bytes().len();
    assert_eq!(told, [json!("lamp"), json!("1.0.0"), json!("java"), json!("admin"), json!(false), json!(bytes)]);
    assert_eq!((&row["published"], &all["contents"][0]["by"]), (&row["changed"], &json!("mira")));
    for (below, count) in
        [("/gems", 4), ("/lamp", 3), ("/lamp:1.0.0", 2), ("/gems/lamp-1.0.0-java.gem", 1), ("/wick", 0)]
    {
        assert_eq!(paths(&list(below), "contents").len(), count, "{below}");
    }
    for limit in 1..=5 {
        for (below, whole) in [("", &all), ("/lamp", &list("/lamp"))] {
            let (mut together, mut after) = (Vec::new(), String::new());
            loop {
                let part = list(&format!("{below}?limit={limit}&after={after}"));
                together.extend(paths(&part, "contents"));
                let Some(next) = part["next"].as_str() else { break };
                after = next.to_owned();
            }
            assert_eq!(together, paths(whole, "contents"), "{limit} {below}");
        }
    }
    mira.yank(FIRST, "lamp", "2.0.0").expect(200);
    assert_eq!(paths(&list("/lamp"), "contents"), ["gems/lamp-1.0.0.gem", "gems/lamp-1.0.0-java.gem"]);
    let removed = list("?removed=true");
    assert_eq!(paths(&removed, "contents"), ["gems/lamp-2.0.0.gem"]);
    let row = &removed["contents"][0];
    assert_eq!((&row["yanked"], &row["by"]), (&json!(true), &json!("admin")), "who published it");
    assert!(row["published"].as_str() < row["changed"].as_str());

    // What policy hides is not there; a group holds nothing, and files of gems are not deleted one by one.
    let deny = json!({ "policy": { "deny": ["lamp:1.0.0"] } });
    admin.patch_json(&format!("/api/v1/repositories/{FIRST}"), &deny).expect(200);
    assert_eq!(paths(&list(""), "contents"), ["gems/oil-1.0.0.rc1.gem"]);
    world.make(&json!({ "name": "all", "format": "gem", "members": [FIRST] }));
    let said = admin.get("/api/v1/repositories/all/contents").expect(400).json();
    assert!(said["detail"].as_str().unwrap().contains("`all` is a group"), "{said}");
    admin.ask("DELETE", &format!("/api/v1/repositories/{FIRST}/contents/gems"), &[], b"").expect(400);
    admin.get("/api/v1/repositories/nothing/contents").expect(404);
}

#[test]
fn the_command_line_does_the_same() {
    let (world, _upstream) = remote("/dist/x.zip", "old");
    world.anon().file("far", "dist/x.zip").expect(200);
    world.anon().file("far", "gone").expect(404);
    let say = |line: &str| {
        let (said, code) = world.says(line);
        assert_eq!(code, Some(0), "{line}: {said}");
        said
    };
    assert!(say("repo contents far").contains("\ndist/x.zip  3      20"));
    assert!(say("repo missing far").contains("\ngone  20"));
    assert_eq!(say("repo forget far"), "forgot 1 at `/` and below it in `far`\n");
    let said = say("repo delete far dist");
    assert!(said.starts_with("deleted 1 at `dist` and below it in `far`\nfrees 3 bytes on 20"), "{said}");
    assert!(say("upstreams").contains("  ok  "));
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let said = say(&format!("repo contents {FIRST} lamp"));
    assert!(said.starts_with("NAME  VERSION  PLATFORM  BYTES") && said.contains("\nlamp  1.0.0    ruby "), "{said}");
    world.tree("tools", "raw");
    world.admin().put("tools", "a+b/c", b"x").expect(201);
    let said = say("repo delete tools a+b");
    assert!(said.starts_with("deleted 1 at `a+b` and below it in `tools`\nfrees 1 bytes on 20"), "{said}");
    assert!(say("repo contents tools --deleted").contains("\na+b/c  1"));
    assert_eq!(say("repo restore tools a+b"), "restored 1 at `a+b` and below it in `tools`\n");
    world.anon().file("tools", "a+b/c").expect(200);
}
