//! What a package page leads to: downloads by day, the difference of two versions, the README of a gem.

use super::{call, page};
use crate::world::{FIRST, Gem, World};
use serde_json::{Value, json};

/// What the API tells, after the page at this URL was found to tell it too.
fn told(world: &World, api: &str, html: &str, shows: &[&str]) -> Value {
    let page = world.anon().get(html).expect(200);
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    for text in shows {
        assert!(page.text().contains(text), "{html} lacks {text}: {}", page.text());
    }
    world.anon().get(api).expect(200).json()
}

#[test]
fn downloads_are_counted_by_day_from_stored_events_and_before_these_nothing_is_known() {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.admin().push(FIRST, &Gem::new("lamp-oil", "1.0.0")).expect(200);
    for _ in 0..3 {
        world.anon().file(FIRST, "gems/lamp-1.0.0.gem").expect(200);
    }
    world.anon().file(FIRST, "gems/lamp-oil-1.0.0.gem").expect(200);
    world.anon().file(FIRST, "info/lamp").expect(200);
    world.anon().file("gems", "gems/lamp-1.0.0.gem").expect(200);
    world.anon().file(FIRST, "gems/lamp-2.0.0.gem").expect(404);
    // A question of an observer waits until the events of all requests before it are stored.
    world.admin().ask("POST", "/api/v1/ask", &[], b"count").expect(200);
    let api = call(FIRST, "lamp/downloads");
    let told =
        told(&world, &api, &page(FIRST, "lamp?downloads=true"), &["<rect", "not known", "3 through this repository"]);
    assert_eq!(
        (&told["total"], &told["complete"], &told["exact"]),
        (&json!(3), &json!(true), &json!(true)),
        "{told:#}"
    );
    let days = told["days"].as_array().unwrap();
    assert_eq!((days.len(), &days[29]["downloads"]), (30, &Value::Null), "{told:#}");
    let known: u64 = days.iter().filter_map(|day| day["downloads"].as_u64()).sum();
    assert!(known == 3 && told["known_since"].as_str().unwrap().starts_with("20"), "{told:#}");
    world.anon().get(&call(FIRST, "none/downloads")).expect(404);
    world.anon().get(&page(FIRST, "none?downloads=true")).expect(404);
}

#[test]
fn the_difference_of_two_gems_has_their_dependencies_and_files_and_nothing_of_a_hidden_one() {
    let world = World::start();
    let old =
        Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0").needs("wick", ">= 0").with("a.txt", b"a").with("b.txt", b"b");
    let new = Gem::new("lamp", "1.1.0").needs("oil", "~> 2.0").with("a.txt", b"a").with("<c>.txt", b"new");
    for gem in [&old, &new] {
        world.admin().push(FIRST, gem).expect(200);
    }
    let api = call(FIRST, "lamp/difference?from=1.0.0&to=1.1.0");
    let html = page(FIRST, "lamp?from=1.0.0&to=1.1.0");
    let told = told(&world, &api, &html, &["oil, runtime", "~&#62; 2.0", "&#60;c&#62;.txt", "2 files are the same"]);
    let changed = |name: &str, from: Value, to: Value| json!({ "name": name, "from": from, "to": to });
    assert_eq!(
        told["dependencies"],
        json!([
            changed("oil, runtime", json!("~> 1.0"), json!("~> 2.0")),
            changed("wick, runtime", json!(">= 0"), Value::Null)
        ])
    );
    let code = changed("lib/lamp.rb", json!("36"), json!("36"));
    let files = [changed("<c>.txt", Value::Null, json!("3")), changed("b.txt", json!("1"), Value::Null), code];
    assert_eq!((&told["files"], &told["same_files"]), (&json!(files), &json!(2)), "{told:#}");
    for (query, status) in [("from=1.0.0", 400), ("from=1.0.0&to=9", 404), ("", 400)] {
        world.anon().get(&format!("{}?{query}", call(FIRST, "lamp/difference"))).expect(status);
    }
    world.change(FIRST, &json!({ "policy": { "deny": ["lamp:1.1.0"] } }));
    let hidden = world.anon().get(&api).expect(200).json();
    assert_eq!((&hidden["dependencies"], &hidden["files"]), (&Value::Null, &Value::Null));
    assert!(world.anon().get(&html).expect(200).text().contains("clients do not get it"));
}

#[test]
fn the_difference_of_two_artifacts_compares_files_of_the_same_role() {
    let world = World::start();
    world.tree("ours", "maven");
    for (version, needs, jar) in [("1.0", "2.5", "same"), ("1.1", "2.6", "same")] {
        let pom = format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>lamp</artifactId>\
             <version>{version}</version><dependencies><dependency><groupId>org.example</groupId><artifactId>oil</artifactId>\
             <version>{needs}</version></dependency></dependencies></project>"
        );
        let put = |ending: &str, bytes: &[u8]| {
            world.admin().put("ours", &format!("org/example/lamp/{version}/lamp-{version}{ending}"), bytes).expect(201);
        };
        put(".pom", pom.as_bytes());
        put(".jar", jar.as_bytes());
        if version == "1.1" {
            put("-sources.jar", b"sources");
        }
    }
    let html = page("ours", "org.example:lamp?from=1.0&to=1.1");
    let told =
        told(&world, &call("ours", "org.example:lamp/difference?from=1.0&to=1.1"), &html, &["lamp-*-sources.jar"]);
    assert_eq!(told["dependencies"][0], json!({ "name": "org.example:oil, compile", "from": "2.5", "to": "2.6" }));
    let names: Vec<&Value> = told["files"].as_array().unwrap().iter().map(|file| &file["name"]).collect();
    assert_eq!((names, &told["same_files"]), (vec![&json!("lamp-*-sources.jar"), &json!("lamp-*.pom")], &json!(1)));
    let readme = world.anon().get(&call("ours", "org.example:lamp/1.0/readme")).expect(200).json();
    assert_eq!(readme["text"], Value::Null, "artifacts have none");
    let page = world.anon().get(&page("ours", "org.example:lamp")).expect(200).text().to_owned();
    assert!(!page.contains("README") && page.contains("?from=1.0&#38;to=1.1"), "{page}");
}

#[test]
fn a_readme_is_shown_as_text_of_a_published_and_of_a_cached_gem_and_no_upstream_is_called_for_it() {
    let (upstream, world) = (World::start(), World::start());
    let text = "# Lamp\n\n<script>alert(1)</script> [x](javascript:alert(1)) ![y](https://example.test/y.png)\n";
    let gem = Gem::new("lamp", "1.0.0").with("README.md", text.as_bytes()).with("lib/README", b"other");
    for admin in [upstream.admin(), world.admin()] {
        admin.push(FIRST, &gem).expect(200);
        admin.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    }
    world.remote_of("gem", "other", &upstream.url(FIRST));
    world.anon().file("other", "info/lamp").expect(200);
    let readme =
        |repository: &str, of: &str| world.anon().get(&call(repository, &format!("{of}/readme"))).expect(200).json();
    assert_eq!(readme("other", "lamp/1.0.0")["text"], Value::Null, "it is not in the cache");
    world.anon().file("other", "gems/lamp-1.0.0.gem").expect(200);
    for repository in ["other", FIRST] {
        let told = readme(repository, "lamp/1.0.0");
        assert_eq!((&told["name"], &told["text"], &told["cut"]), (&json!("README.md"), &json!(text), &json!(false)));
        let html = world.anon().get(&page(repository, "lamp/1.0.0?readme=true")).expect(200).text().to_owned();
        assert!(
            html.contains("&#60;script&#62;alert(1)") && !html.contains("<img") && !html.contains("href=\"java"),
            "{html}"
        );
    }
    assert_eq!(readme(FIRST, "oil/1.0.0")["text"], Value::Null);
    world.anon().get(&call(FIRST, "oil/9/readme")).expect(404);
}
