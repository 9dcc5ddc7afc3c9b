//! A path is a call of the gem API only in gem repositories. In other formats it is a file, and needs the scopes of
//! files.

use crate::accounts::sum;
use crate::world::{Person, World};

/// Paths that are calls or indexes in a gem repository.
const CALLS: [&str; 12] = [
    "api/v1/gems/x/owners",
    "api/v1/gems/x/owners.json",
    "api/v1/api_key",
    "api/v1/api_key.json",
    "api/v1/profile/me.json",
    "api/v1/web_hooks/fire",
    "api/v1/webauthn_verification",
    "api/v1/gems",
    "api/v1/search.json",
    "versions",
    "names",
    "info/x",
];

fn world() -> World {
    let world = World::start();
    world.tree("tools", "raw");
    world.tree("jars", "maven");
    world
}

#[test]
fn tokens_for_owners_of_gems_change_no_file() {
    let world = world();
    let writer = world.person("writer", &["write"], &[]);
    let add = world.person("add", &["add_owner"], &[]);
    let remove = world.person("remove", &["remove_owner"], &[]);
    let update = world.person("update", &["update_owner"], &[]);
    for path in CALLS {
        writer.put("tools", path, b"bytes").expect(201);
        for repository in ["tools", "jars"] {
            let url = format!("/repository/{repository}/{path}");
            for who in [&add, &remove, &update] {
                for method in ["PUT", "DELETE", "POST"] {
                    who.ask(method, &url, &[], b"others").expect(403);
                }
                who.ask("PATCH", &url, &[], b"others").expect(405);
            }
            // A caller who may write files learns that files are not published like that.
            writer.ask("POST", &url, &[], b"others").expect(405);
        }
        assert_eq!(world.anon().file("tools", path).expect(200).text(), "bytes", "{path}");
    }
}

#[test]
fn a_file_that_is_called_like_a_call_is_a_file_of_its_class() {
    let world = world();
    let (admin, anon) = (world.admin(), world.anon());
    for path in CALLS {
        admin.put("tools", path, path.as_bytes()).expect(201);
        for query in ["", "?gems=x", "?email=mira", "?query=x"] {
            assert_eq!(anon.file("tools", &format!("{path}{query}")).expect(200).text(), path);
        }
        let head = anon.ask("HEAD", &format!("/repository/tools/{path}"), &[], b"").expect(200);
        assert_eq!(head.header("content-length"), Some(path.len().to_string().as_str()));
        let now = anon.get(&format!("/repository/tools@2020-01-01/{path}"));
        assert_eq!(now.status, 404, "{path}: nothing was there in 2020");
        let told = admin.get(&format!("/api/v1/explain?repository=tools&path={path}")).expect(200).json();
        assert_eq!((&told["status"], &told["path"]), (&200.into(), &format!("/repository/tools/{path}").into()));
    }
    let metrics = anon.get("/metrics").expect(200);
    let peak = |class: &str| {
        let labels = format!("{{bound=\"requests\",which=\"{class}\"}}");
        sum(metrics.text(), &format!("daylight_bound_peak{labels}"))
    };
    assert_eq!(peak("dynamic_index"), 0);
    assert!(peak("downloads") > 0);
    for path in CALLS {
        admin.delete("tools", path).expect(204);
        anon.file("tools", path).expect(404);
    }
}

#[test]
fn keys_are_made_where_gems_are() {
    let world = world();
    // Nobody listens there.
    world.remote("mirror", "http://127.0.0.1:9/");
    let admin = world.admin();
    let keys = |who: &Person| who.get("/api/v1/tokens").expect(200).json()["tokens"].as_array().unwrap().len();
    let before = keys(&admin);
    for repository in ["tools", "jars", "mirror"] {
        let url = format!("/repository/{repository}/api/v1/api_key");
        for (method, form) in [("POST", "name=k&push_rubygem=true"), ("GET", ""), ("PUT", "api_key=k"), ("PATCH", "")] {
            let answer = admin.ask(method, &url, &[], form.as_bytes());
            assert!(!answer.text().contains("daylight_"), "{method} {url}: {}", answer.text());
            assert_ne!((method, answer.status), ("GET", 200), "{url}");
        }
    }
    assert_eq!(keys(&admin), before);
}
