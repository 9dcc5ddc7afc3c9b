//! Searching: names of any format and files by checksum, in the repositories that the caller may read and in no other.

use crate::world::{FIRST, Gem, Person, World, hex};
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

fn search(person: &Person, query: &str) -> Value {
    person.get(&format!("/api/v1/search?{query}")).expect(200).json()
}

/// The repository and the name of each answer.
fn found(answer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    answer["results"].as_array().unwrap().iter().map(|one| (text(&one["repository"]), text(&one["name"]))).collect()
}

fn names(answer: &Value) -> Vec<String> {
    found(answer).into_iter().map(|(_, name)| name).collect()
}

fn publish(world: &World, repository: &str, artifact: &str, version: &str) {
    let text = format!(
        "<project><groupId>org.example</groupId><artifactId>{artifact}</artifactId><version>{version}</version></project>"
    );
    let path = format!("org/example/{artifact}/{version}/{artifact}-{version}.pom");
    world.admin().put(repository, &path, text.as_bytes()).expect(201);
}

#[test]
fn the_best_names_of_all_formats_come_first_and_follow_each_change() {
    let (world, far) = (World::start(), World::start());
    world.tree("trees", "maven");
    world.tree("tools", "raw");
    for name in ["lamp", "lamp-oil", "red-lamp", "clamps"] {
        world.admin().push(FIRST, &Gem::new(name, "1.0")).expect(200);
    }
    publish(&world, "trees", "lamp", "1.0");
    publish(&world, "trees", "lamp", "1.10");
    publish(&world, "trees", "lamp", "1.9");
    world.admin().put("tools", "dist/lamp", b"lamp").expect(201);
    // A path with a colon is no package.
    world.admin().put("tools", "core:/flint.deb", b"flint").expect(201);
    let anon = world.anon();
    assert_eq!(names(&search(&anon, "q=flint")), ["core:/flint.deb"]);
    let all = search(&anon, "q=Lamp");
    let expected = ["dist/lamp", "lamp", "org.example:lamp", "lamp-oil", "red-lamp", "clamps"];
    assert_eq!((names(&all), &all["count"]), (expected.map(str::to_owned).to_vec(), &json!(6)));
    assert_eq!((&all["results"][2]["version"], &all["results"][2]["state"]), (&json!("1.10"), &json!("hosted")));
    assert_eq!(all["incomplete"], json!([]));
    for limit in 1..=4 {
        let (mut together, mut after) = (Vec::new(), String::new());
        loop {
            let part = search(&anon, &format!("q=lamp&limit={limit}&after={after}"));
            assert_eq!(part["count"], json!(6));
            together.extend(names(&part));
            let Some(next) = part["next"].as_str() else { break };
            after = next.replace(':', "%3A").replace('/', "%2F");
        }
        assert_eq!(together, expected, "{limit}");
    }
    assert_eq!(names(&search(&anon, "q=org.example%3Alamp%3A1.0")), ["org.example:lamp"]);
    assert_eq!(names(&search(&anon, "q=lamp+oil")), ["lamp-oil"]);
    assert_eq!(found(&search(&anon, "q=lamp&repository=tools")), [("tools".to_owned(), "dist/lamp".to_owned())]);

    // Each change is found by the next search.
    publish(&world, "trees", "wick", "1.0");
    assert_eq!(names(&search(&anon, "q=wick")), ["org.example:wick"]);
    world.admin().ask("DELETE", "/api/v1/repositories/trees/contents/org/example/wick", &[], b"").expect(200);
    assert_eq!(search(&anon, "q=wick")["count"], json!(0));
    world.admin().yank(FIRST, "lamp-oil", "1.0").expect(200);
    world.admin().push(FIRST, &Gem::new("lampion", "2.0")).expect(200);
    assert_eq!(names(&search(&anon, "q=lampi")), ["lampion"]);
    assert_eq!(search(&anon, "q=lamp-oil")["count"], json!(0));

    // The index of an upstream has known names, and its files are cached ones.
    world.remote_of("gem", "far", &far.url(FIRST));
    far.admin().push(FIRST, &Gem::new("lantern", "3.0")).expect(200);
    assert_eq!(search(&anon, "q=lantern")["count"], json!(0), "no upstream is called for a search");
    anon.file("far", "versions").expect(200);
    let lantern = search(&anon, "q=lantern");
    assert_eq!((&lantern["results"][0]["version"], &lantern["results"][0]["state"]), (&json!("3.0"), &json!("known")));
    anon.file("far", "gems/lantern-3.0.gem").expect(200);
    assert_eq!(search(&anon, "q=lantern")["results"][0]["state"], json!("cached"));
    far.tree("trees", "maven");
    publish(&far, "trees", "sconce", "4.0");
    world.remote("distant", &far.url("trees"));
    assert_eq!(search(&anon, "q=sconce")["count"], json!(0));
    anon.file("distant", "org/example/sconce/4.0/sconce-4.0.pom").expect(200);
    assert_eq!(found(&search(&anon, "q=sconce")), [("distant".to_owned(), "org.example:sconce".to_owned())]);
}

#[test]
fn a_file_is_found_by_either_checksum_and_its_policy_is_told() {
    let world = World::start();
    world.tree("tools", "raw");
    world.tree("more", "raw");
    let bytes = b"the bytes of a jar";
    world.admin().put("tools", "a/x.jar", bytes).expect(201);
    world.admin().put("more", "secret/y.jar", bytes).expect(201);
    world.change("more", &json!({ "policy": { "deny": ["secret/*"] } }));
    let anon = world.anon();
    for digest in [hex(&Sha1::digest(bytes)), hex(&Sha256::digest(bytes)).to_uppercase()] {
        let answer = search(&anon, &format!("q={digest}"));
        let expected = [("more", "secret/y.jar"), ("tools", "a/x.jar")];
        assert_eq!(found(&answer), expected.map(|(one, two)| (one.to_owned(), two.to_owned())));
        assert!(answer["results"][0]["hidden"]["reason"].as_str().unwrap().contains("secret/*"));
        assert_eq!(
            (&answer["results"][1]["hidden"], &answer["results"][1]["size_bytes"]),
            (&Value::Null, &json!(bytes.len()))
        );
    }
    let first = search(&anon, &format!("q={}&limit=1", hex(&Sha1::digest(bytes))));
    assert_eq!((&first["count"], found(&first).len()), (&json!(2), 1));
    assert!(search(&anon, &format!("q={}", "0".repeat(40)))["results"].as_array().unwrap().is_empty());
    world.admin().delete("tools", "a/x.jar").expect(204);
    assert_eq!(search(&anon, &format!("q={}", hex(&Sha1::digest(bytes))))["count"], json!(1));
}

#[test]
fn neither_an_answer_nor_a_number_tells_of_a_private_repository() {
    let world = World::start();
    world.repository("open", false);
    world.repository("quiet", true);
    world.make(&json!({ "name": "hush", "format": "maven", "kind": "hosted", "private": true }));
    world.admin().push("open", &Gem::new("lamp", "1.0")).expect(200);
    let secret = Gem::new("lamp-secret", "1.0");
    world.admin().push("quiet", &secret).expect(200);
    publish(&world, "hush", "lamp", "1.0");
    let (anon, reader) = (world.anon(), world.person("reader", &["read"], &["quiet"]));
    let digest = hex(&Sha256::digest(secret.bytes()));
    for query in ["q=lamp", "q=lamp&limit=1", "q=secret", "q=quiet", "q=lamp&repository=quiet", &format!("q={digest}")]
    {
        let answer = anon.get(&format!("/api/v1/search?{query}")).expect(200).json();
        let told = format!("{}{}{}", answer["results"], answer["next"], answer["incomplete"]);
        assert!(!told.contains("secret") && !told.contains("quiet") && !told.contains("hush"), "{query}: {told}");
        let html = anon.ask("GET", &format!("/search?{query}"), &[("Accept", "text/html")], b"").expect(200);
        assert!(!html.text().contains("lamp-secret"), "{query}");
    }
    assert_eq!(search(&anon, "q=lamp")["count"], json!(1));
    assert_eq!(search(&anon, "q=lamp&limit=1")["next"], Value::Null);
    assert_eq!(search(&anon, "q=lamp&repository=quiet")["count"], search(&anon, "q=lamp&repository=nothing")["count"]);
    assert_eq!(names(&search(&reader, "q=lamp")), ["lamp", "lamp-secret"]);
    assert_eq!(found(&search(&reader, &format!("q={digest}"))).len(), 1);
    assert_eq!(search(&world.admin(), "q=lamp")["count"], json!(3));
}

#[test]
fn hostile_searches_are_answered_or_refused_and_never_read_as_patterns() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0")).expect(200);
    let anon = world.anon();
    for text in ["%25", "*", ".*", "_", "%00", "%0a%0d", "%27%20OR%201%3d1", "%3Cscript%3E", "%C3%A4", "%5B%5D"] {
        let answer = search(&anon, &format!("q={text}"));
        assert_eq!(answer["count"], json!(0), "{text}");
        let html = anon.ask("GET", &format!("/search?q={text}"), &[("Accept", "text/html")], b"").expect(200);
        assert!(!html.text().contains("<script>"), "{text}");
    }
    assert_eq!(search(&anon, "q=")["count"], json!(0));
    for odd in [
        format!("q={}", "a".repeat(257)),
        "q=a&limit=101".into(),
        "q=a&limit=0".into(),
        format!("q=a&after={}", "a".repeat(3000)),
    ] {
        anon.get(&format!("/api/v1/search?{odd}")).expect(400);
    }
    for after in ["x", "9:a:b", "0:", "::", "0:gems-private", "%FF"] {
        anon.get(&format!("/api/v1/search?q=lamp&after={after}")).expect(200);
    }
    let described = anon.get("/opensearch.xml").expect(200);
    assert!(described.text().contains("/search?q={searchTerms}"), "{}", described.text());
    assert_eq!(described.header("content-type"), Some("application/opensearchdescription+xml"));
    let home = anon.ask("GET", "/", &[("Accept", "text/html")], b"").expect(200);
    assert!(home.text().contains("href=\"/opensearch.xml\""));
}
