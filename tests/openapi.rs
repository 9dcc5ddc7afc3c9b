//! The OpenAPI document matches the server.

use crate::world::{Gem, World};
use serde_json::{Value, json};

fn document(world: &World) -> Value {
    world.admin().get("/api/v1/openapi.json").expect(200).json()
}

/// A path of the document with names that do not exist.
fn filled(path: &str) -> String {
    let path = path.replace("{name}", "nobody").replace("{id}", "0123").replace("{path}", "no/where");
    let path = path.replace("{package}", "nothing").replace("{version}", "1.0");
    // The answer to a filter that can be read has no end.
    if path.ends_with("/tail") { format!("{path}?where=nothing") } else { path }
}

/// Every call of the document: its path with names that do not exist, and its methods.
fn calls(document: &Value) -> Vec<(String, Vec<String>)> {
    let methods = |calls: &Value| calls.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
    document["paths"].as_object().unwrap().iter().map(|(path, calls)| (filled(path), methods(calls))).collect()
}

/// Whether the document says that a call needs no token.
fn is_open(document: &Value, method: &str, path: &str) -> bool {
    let call = &document["paths"].as_object().unwrap().iter().find(|(known, _)| filled(known) == *path).unwrap().1;
    let security = call[method.to_lowercase()]["security"].as_array();
    security.is_some_and(|ways| ways.contains(&serde_json::json!({})))
}

#[test]
fn each_call_of_the_document_is_answered_and_any_other_method_is_told_which_are() {
    let world = World::start();
    let document = document(&world);
    assert_eq!(document["openapi"], "3.1.0");
    assert!(world.url("").starts_with(document["servers"][0]["url"].as_str().unwrap()));
    let calls = calls(&document);
    assert!(calls.len() > 5, "{calls:?}");
    for (path, methods) in &calls {
        for method in ["GET", "PUT", "POST", "PATCH", "DELETE"] {
            let answer = world.admin().ask(method, path, &[], b"");
            if !methods.iter().any(|known| known == method) {
                let allow = answer.expect(405).header("allow").unwrap().to_owned();
                let mut told: Vec<&str> = allow.split(", ").filter(|method| *method != "HEAD").collect();
                told.sort_unstable();
                let mut known = methods.clone();
                known.sort_unstable();
                assert_eq!(told, known, "{path}");
                continue;
            }
            // The name does not exist and the body is empty, but the call is known.
            assert!(![405, 500, 501].contains(&answer.status), "{method} {path}: {}", answer.text());
            if answer.status == 404 {
                assert!(!answer.text().contains("no URL of this server is"), "{method} {path}: {}", answer.text());
            }
            // Without a token every call is refused that is not for readers of a public repository.
            if is_open(&document, method, path) {
                world.anon().ask(method, path, &[], b"").expect(match path.as_str() {
                    path if path.contains("explain") => 400,
                    "/api/v1/search" => 200,
                    _ => 404,
                });
            } else {
                world.anon().ask(method, path, &[], b"").expect(401);
            }
        }
    }
    for unknown in ["/api/v1", "/api/v1/nothing", "/api/v1/tokens/a/b", "/api/v2/tokens"] {
        world.admin().get(unknown).expect(404);
    }
}

/// Whether the keys of an answer are those of its schema.
fn fits(document: &Value, schema: &str, answer: &Value) {
    let (described, answer) = (&document["components"]["schemas"][schema], answer.as_object().unwrap());
    for key in answer.keys() {
        assert!(described["properties"].get(key).is_some(), "{schema} has no `{key}`");
    }
    for required in described["required"].as_array().into_iter().flatten() {
        assert!(answer.contains_key(required.as_str().unwrap()), "{schema} is told without {required}");
    }
}

#[test]
fn what_is_answered_has_the_keys_that_the_document_says() {
    let world = World::start();
    let (admin, document) = (world.admin(), document(&world));
    let wanted = [
        json!({"name": "g", "format": "gem"}),
        json!({"name": "m", "format": "maven", "versions": "snapshots", "retention": {"days": 1}}),
        json!({"name": "r", "format": "raw", "remote": {"urls": ["http://127.0.0.1:9"], "max_bytes": 1 << 30}}),
    ];
    for wanted in wanted {
        fits(&document, "NewRepository", &wanted);
        fits(&document, "Repository", &admin.post_json("/api/v1/repositories", &wanted).expect(201).json());
    }
    fits(&document, "Repositories", &admin.get("/api/v1/repositories").expect(200).json());
    let wanted = json!({"name": "t", "owner": "t", "scopes": ["write"], "repositories": ["g"], "otp": true});
    fits(&document, "NewToken", &wanted);
    fits(&document, "MadeToken", &admin.post_json("/api/v1/tokens", &wanted).expect(201).json());
    let tokens = admin.get("/api/v1/tokens").expect(200).json();
    fits(&document, "Tokens", &tokens);
    tokens["tokens"].as_array().unwrap().iter().for_each(|token| fits(&document, "Token", token));
    world.tree("tools", "raw");
    admin.put("tools", "a/1", b"1").expect(201);
    assert!(admin.file("r", "a/1").status >= 500);
    for (below, whole, rows, row) in [
        ("repositories/tools/contents", "Contents", "contents", "File"),
        ("repositories/r/not-found", "Missing", "missing", "MissingPath"),
        ("upstreams", "Upstreams", "upstreams", "Upstream"),
    ] {
        let list = admin.get(&format!("/api/v1/{below}")).expect(200).json();
        fits(&document, whole, &list);
        list[rows].as_array().unwrap().iter().for_each(|one| fits(&document, row, one));
        assert_eq!(list[rows].as_array().unwrap().is_empty(), whole == "Missing", "{list}");
    }
    admin.push("g", &Gem::new("lamp", "1.0.0").needs("oil", ">= 0")).expect(200);
    for (below, schema) in [
        ("g", "Packages"),
        ("g/lamp", "Package"),
        ("g/lamp/1.0.0", "PackageVersion"),
        ("g/oil/dependents", "Dependents"),
        ("g/lamp/downloads", "Downloads"),
        ("g/lamp/difference?from=1.0.0&to=1.0.0", "Difference"),
        ("g/lamp/1.0.0/readme", "Readme"),
    ] {
        fits(&document, schema, &admin.get(&format!("/api/v1/packages/{below}")).expect(200).json());
    }
    let explained = admin.get("/api/v1/explain?repository=tools&path=a%2F1").expect(200).json();
    fits(&document, "Explanation", &explained);
    let preview = admin.post_json("/api/v1/repositories/tools/preview", &json!({"private": true})).expect(200).json();
    fits(&document, "Preview", &preview);
    let id = admin.file("tools", "a/1").expect(200).header("daylight-event").unwrap().to_owned();
    fits(&document, "Event", &world.event(&id));
    fits(&document, "Problem", &admin.get("/api/v1/repositories/nobody").expect(404).json());
}
