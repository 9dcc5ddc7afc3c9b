//! Who changed what, in the API and on the command line.

use crate::groups::command;
use crate::world::{FIRST, Gem, Upstream, World, await_true};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/journal";

fn page(world: &World, query: &str) -> Value {
    world.admin().get(&format!("{PATH}?{query}")).expect(200).json()
}

/// The kind, package and version of each row.
fn said(page: &Value) -> Vec<[String; 3]> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let row = |row: &Value| [text(row, "kind"), text(row, "package"), text(row, "version")];
    page["rows"].as_array().unwrap().iter().map(row).collect()
}

fn of(kind: &str, package: &str, version: &str) -> [String; 3] {
    [kind, package, version].map(str::to_owned)
}

/// A server on which two people changed packages of three formats.
fn busy() -> World {
    let world = World::start();
    let ci = world.person("ci", &["write", "delete"], &[]);
    world.tree("tools", "raw");
    ci.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    ci.yank(FIRST, "lamp", "1.0.0").expect(200);
    world.admin().put("tools", "dist/x.zip", b"one").expect(201);
    world.admin().delete("tools", "dist/x.zip").expect(204);
    ci.put("maven-releases", "org/example/oil/1.0/oil-1.0.jar", b"oil").expect(201);
    world
}

#[test]
fn each_change_says_who_made_it_from_where_and_what_it_did() {
    let world = busy();
    let gems = page(&world, &format!("repository={FIRST}&kind=publish"));
    assert_eq!(said(&gems), [of("publish", "lamp", "1.0.0")]);
    let row = &gems["rows"][0];
    assert_eq!((&row["by"], &row["from"], &row["repository"]), (&json!("ci"), &json!("127.0.0.1"), &json!(FIRST)));
    assert!(row["seq"].is_u64() && row["at"].as_str().unwrap().starts_with("20"), "{row}");
    let mut keys: Vec<_> = row.as_object().unwrap().keys().cloned().collect();
    keys.sort_unstable();
    assert_eq!(keys, ["at", "by", "from", "kind", "package", "repository", "seq", "version"]);

    let tools = page(&world, "repository=tools");
    let wanted = [of("repository", "", ""), of("publish", "dist/x.zip", ""), of("delete", "dist/x.zip", "")];
    assert_eq!(said(&tools), wanted);
    let theirs = said(&page(&world, "by=ci"));
    assert!(theirs.contains(&of("yank", "lamp", "1.0.0")) && theirs.contains(&of("publish", "org.example:oil", "1.0")));
    assert!(!theirs.iter().any(|[_, package, _]| package.starts_with("dist")), "{theirs:?}");
    let tokens = page(&world, "kind=token");
    assert!(tokens["rows"].as_array().unwrap().iter().any(|row| row["name"] == "ci" && row["repository"].is_null()));
    // No row contains a secret.
    let all = page(&world, "").to_string();
    assert!(!all.contains("hash") && !all.contains(world.admin().secret()));
}

#[test]
fn the_newest_are_shown_unless_somebody_says_where_to_begin_and_pages_miss_nothing() {
    let world = busy();
    let all = page(&world, "after=0");
    let seqs = |page: &Value| -> Vec<u64> {
        page["rows"].as_array().unwrap().iter().map(|row| row["seq"].as_u64().unwrap()).collect()
    };
    let every = seqs(&all);
    assert_eq!(every, (1..=*every.last().unwrap()).collect::<Vec<_>>());
    assert_eq!(seqs(&page(&world, "limit=3")), every[every.len() - 3..]);
    for limit in 1..=4 {
        let (mut forward, mut place) = (Vec::new(), "after=0".to_owned());
        loop {
            let part = page(&world, &format!("limit={limit}&{place}"));
            forward.extend(seqs(&part));
            let Some(next) = part["next"].as_u64() else { break };
            place = format!("after={next}");
        }
        assert_eq!(forward, every);
        let (mut back, mut place) = (Vec::new(), String::new());
        loop {
            let part = page(&world, &format!("limit={limit}{place}"));
            back.splice(0..0, seqs(&part));
            let Some(earlier) = part["earlier"].as_u64() else { break };
            place = format!("&before={earlier}");
        }
        assert_eq!(back, every);
    }
    // A moment filters in both directions.
    let at = all["rows"][4]["at"].as_str().unwrap();
    let (since, until) = (seqs(&page(&world, &format!("since={at}"))), seqs(&page(&world, &format!("until={at}"))));
    assert!(since.contains(&5) && until.contains(&5));
    assert!(since.iter().all(|seq| all["rows"][*seq as usize - 1]["at"].as_str().unwrap() >= at));
    assert!(until.iter().all(|seq| all["rows"][*seq as usize - 1]["at"].as_str().unwrap() <= at));
}

#[test]
fn a_repository_that_was_removed_is_found_by_its_name_and_others_may_not_read_at_all() {
    let world = busy();
    world.admin().ask("DELETE", "/api/v1/repositories/tools?confirm=tools", &[], b"").expect(200);
    let kinds: Vec<String> = said(&page(&world, "repository=tools")).into_iter().map(|[kind, ..]| kind).collect();
    assert_eq!(kinds, ["repository", "publish", "delete", "repository"]);
    world.admin().get(&format!("{PATH}?repository=nothing")).expect(404);
    world.admin().get(&format!("{PATH}?kind=push")).expect(400);
    world.anon().get(PATH).expect(401);
    world.person("reader", &["read", "write"], &[]).get(PATH).expect(403);
}

#[test]
fn people_are_shown_a_table_and_programs_all_pages_in_one_document() {
    let world = busy();
    let say = |line: &str| {
        let said = world.command(&line.split(' ').collect::<Vec<_>>()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        assert!(said.status.success(), "{line}: {}", text(&said.stderr));
        (text(&said.stdout), text(&said.stderr))
    };
    let (table, more) = say("journal --repository tools --by admin");
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[0].starts_with("SEQ") && rows[0].ends_with("WHAT") && rows.len() == 4, "{table}");
    assert!(rows[3].contains("delete") && rows[3].ends_with("dist/x.zip"), "{table}");
    assert_eq!(more, "");
    let (two, more) = say("journal --after 1 --limit 2");
    assert!(two.lines().count() == 3 && more.contains("`--after 3` shows them"), "{two}{more}");
    let (last, more) = say("journal --limit 1");
    assert!(last.lines().count() == 2 && last.contains("org.example:oil"), "{last}");
    assert!(more.contains("there are earlier rows"), "{more}");
    let (both, _) = say("journal --kind yank,delete --since -1h");
    assert!(both.lines().count() == 3 && both.contains("yank") && both.contains("delete"), "{both}");
    let document: Value = serde_json::from_str(&say("journal --kind yank --json").0).unwrap();
    assert_eq!(said(&document), [of("yank", "lamp", "1.0.0")]);
}

#[test]
fn changes_of_people_do_not_drown_in_what_the_server_records_of_upstreams() {
    let (world, upstream) = (World::start(), Upstream::start());
    world.remote("central", &upstream.url());
    let document = "<metadata><groupId>org.example</groupId><versioning><versions><version>1.0</version></versions></versioning></metadata>";
    upstream.file("/org/example/lamp/maven-metadata.xml", document);
    world.admin().get("/repository/central/org/example/lamp/maven-metadata.xml").expect(200);
    await_true("the version is recorded", || !said(&page(&world, "kind=first_seen")).is_empty());
    let of = |arguments: &[&str]| String::from_utf8(command(&world, arguments).stdout).unwrap();
    assert!(!of(&["journal"]).contains("first_seen") && of(&["journal"]).contains("repository"));
    for all in [&["journal", "--all"][..], &["journal", "--kind", "first_seen"]] {
        assert!(of(all).contains("first_seen"), "{all:?}");
    }
}

#[test]
fn a_change_of_a_repository_says_what_it_changed() {
    let world = World::start();
    world.repository("team", false);
    for change in [json!({ "claim": ["rack"] }), json!({ "unclaim": ["rack"] }), json!({ "private": true })] {
        world.change("team", &change);
        // Rows of other kinds are between them.
        world.admin().push("team", &Gem::new("lamp", "1.0.0")).expect(200);
    }
    let told = page(&world, "repository=team&kind=repository");
    let what: Vec<&str> = told["rows"].as_array().unwrap().iter().map(|row| row["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["added", "claims: +rack", "claims: -rack", "private: true"]);
    // A page of one row finds the record before it, too.
    let last = page(&world, "repository=team&kind=repository&limit=1");
    assert_eq!(last["rows"][0]["what"], "private: true");
}

#[test]
fn the_journal_tells_which_exception_a_change_made_and_what_became_of_a_token_and_of_a_yanked_version() {
    let world = busy();
    let exceptions = format!("/api/v1/repositories/{FIRST}/exceptions");
    for package in ["lamp:1.0.0", "oil"] {
        world.admin().post_json(&exceptions, &json!({ "package": package, "why": "old" })).expect(201);
    }
    world.admin().ask("DELETE", &format!("{exceptions}/oil"), &[], b"").expect(204);
    world.admin().ask("DELETE", "/api/v1/tokens/ci", &[], b"").expect(204);
    world.person("ci", &["read"], &[]);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let unyank = format!("/repository/{FIRST}/api/v1/gems/unyank");
    world.admin().ask("PUT", &unyank, &form, b"gem_name=lamp&version=1.0.0").expect(200);
    world.admin().put("tools", "dist/x.zip", b"one").expect(201);

    let what = |query: &str| -> Vec<String> {
        let told = page(&world, query);
        told["rows"].as_array().unwrap().iter().map(|row| row["what"].as_str().unwrap_or("-").to_owned()).collect()
    };
    let settings = what(&format!("repository={FIRST}&kind=repository"));
    let wanted = ["added", "policy.exceptions: +lamp:1.0.0", "policy.exceptions: +oil", "policy.exceptions: -oil"];
    assert_eq!(settings, wanted);
    assert_eq!(what("kind=token")[1..], ["created, with write, delete", "revoked", "created, with read"]);
    assert_eq!(what("kind=change"), ["restored", "restored"]);
    assert_eq!(what("kind=yank"), ["-"]);
}
