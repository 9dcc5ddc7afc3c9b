//! Reaching a gem upstream: credentials, a proxy, mirrors, certificates, and the size of its cache.

use super::shelf::{before_with, lamp_and_oil};
use super::{LATER, REMOTE};
use crate::pages::events;
use crate::tls::Certificate;
use crate::world::{FIRST, Gem, Ruby, Says, Upstream, World};
use serde_json::{Value, json};

const VARIABLES: &[(&str, &str)] = &[
    ("UPSTREAM_BASIC", "me:hush"),
    ("UPSTREAM_TOKEN", "abc"),
    ("UPSTREAM_USER", "abc:"),
    ("UPSTREAM_PROXY", "me:hush"),
];

#[test]
fn credentials_go_with_each_request_as_basic_as_a_token_and_as_a_token_for_a_user_name() {
    for (name, sent) in [
        ("UPSTREAM_BASIC", "Basic bWU6aHVzaA=="),
        ("UPSTREAM_TOKEN", "Bearer abc"),
        ("UPSTREAM_USER", "Basic YWJjOg=="),
    ] {
        let shelf = lamp_and_oil();
        let world = before_with(&shelf.upstream, VARIABLES, &json!({"credentials": format!("env:{name}")}));
        world.anon().file(REMOTE, "gems/lamp-1.0.0.gem").expect(200);
        let asked = shelf.upstream.asked();
        assert_eq!(asked.len(), 3, "{asked:?}");
        assert!(asked.iter().all(|asked| asked.header("authorization") == Some(sent)), "{asked:?}");
        assert!(!world.log().contains("hush"));
    }
}

#[test]
fn an_upstream_that_wants_other_credentials_is_no_upstream_without_gems() {
    for status in [401, 403] {
        let shelf = lamp_and_oil();
        let (index, info) = (shelf.versions.clone(), shelf.info("lamp"));
        shelf.upstream.says("/versions", Says::status(status).header("WWW-Authenticate", "Basic realm=\"gems\""));
        let mut world = before_with(&shelf.upstream, &[], &json!({}));
        for path in ["versions", "info/lamp", "gems/lamp-1.0.0.gem"] {
            world.anon().file(REMOTE, path).expect(502);
        }
        let machine = Ruby::new();
        let said = machine.app("app", &world.url(REMOTE), "gem 'lamp'").bundle(&["install"]).bad();
        assert!(!said.contains("Could not find gem"), "{said}");
        // A file that was cached once stays available, while others are refused.
        shelf.upstream.says("/versions", Says::bytes(index));
        world.set_time(LATER);
        assert_eq!(world.anon().file(REMOTE, "info/lamp").expect(200).text(), info);
        shelf.upstream.says("/gems/lamp-1.0.0.gem", Says::status(status));
        world.anon().file(REMOTE, "gems/lamp-1.0.0.gem").expect(502);
        world.stop();
        let tells = |event: &Value| event["detail"].as_str().is_some_and(|detail| detail.contains("`credentials`"));
        assert!(events(&world).iter().any(tells));
    }
}

#[test]
fn a_repository_with_credentials_is_private_unless_somebody_says_otherwise() {
    let shelf = lamp_and_oil();
    let world = World::start_with(VARIABLES);
    let remote = json!({"urls": [shelf.upstream.url()], "credentials": "env:UPSTREAM_BASIC"});
    world.make(&json!({"name": REMOTE, "format": "gem", "remote": remote}));
    world.anon().file(REMOTE, "versions").expect(401);
    assert_eq!(shelf.upstream.total(), 0);
    world.person("ci", &["read"], &[REMOTE]).file(REMOTE, "versions").expect(200);
}

#[test]
fn a_proxy_is_asked_for_everything_beyond_it() {
    let (shelf, proxy) = (lamp_and_oil(), Upstream::start());
    let gem = Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0").bytes();
    for (path, body) in [
        ("versions", shelf.versions.clone().into_bytes()),
        ("info/lamp", shelf.info("lamp").into()),
        ("gems/lamp-1.0.0.gem", gem),
    ] {
        proxy.says(&format!("http://gems.test/base/{path}"), Says::bytes(body));
    }
    let settings =
        json!({"urls": ["http://gems.test/base"], "proxy": proxy.url(), "proxy_credentials": "env:UPSTREAM_PROXY"});
    let world = before_with(&shelf.upstream, VARIABLES, &settings);
    world.anon().file(REMOTE, "gems/lamp-1.0.0.gem").expect(200);
    let asked = proxy.asked();
    assert!(asked.iter().all(|asked| asked.header("proxy-authorization") == Some("Basic bWU6aHVzaA==")), "{asked:?}");
    assert_eq!((asked.len(), shelf.upstream.total()), (3, 0));
}

#[test]
fn a_mirror_stands_in_for_an_upstream_that_is_down() {
    let (shelf, mirror) = (lamp_and_oil(), lamp_and_oil());
    shelf.upstream.says_otherwise(Says::status(500));
    let urls = json!({"urls": [shelf.upstream.url(), mirror.upstream.url()]});
    let world = before_with(&shelf.upstream, &[], &urls);
    world.anon().file(REMOTE, "gems/lamp-1.0.0.gem").expect(200);
    assert_eq!(mirror.upstream.total(), 0);
    shelf.upstream.says("/gems/oil-1.0.0.gem", Says::status(500));
    world.anon().file(REMOTE, "gems/oil-1.0.0.gem").expect(200);
    assert_eq!(mirror.upstream.count("/gems/oil-1.0.0.gem"), 1);
    shelf.upstream.unplug();
    world.set_time(LATER);
    world.anon().file(REMOTE, "versions").expect(200);
    assert_eq!(mirror.upstream.count("/versions"), 1);
}

#[test]
fn an_upstream_over_tls_is_believed_with_the_certificate_that_is_trusted() {
    let certificate = Certificate::new();
    let far = World::start_with_file(&certificate.settings());
    let trusts = certificate.file();
    let folder = format!("[upstream]\ncredentials_folder = {:?}\n", trusts.parent().unwrap());
    let near = World::start_with_file(&folder);
    let url = format!("https://{}/repository/{FIRST}", far.address());
    for (name, remote, status) in
        [("trusting", json!({"urls": [url], "trust": trusts}), 200), ("strange", json!({"urls": [url]}), 502)]
    {
        near.make(&json!({"name": name, "format": "gem", "private": false, "remote": remote}));
        near.anon().file(name, "versions").expect(status);
    }
}

#[test]
fn no_more_is_kept_than_may_be_and_the_index_stays() {
    let mut shelf = lamp_and_oil();
    let payload = |seed: u32| -> Vec<u8> {
        (0..8_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13) as u8).collect()
    };
    for number in 0..3_u32 {
        shelf.push(&Gem::new("lump", &format!("1.{number}")).payload(&payload(number)));
    }
    let world = before_with(&shelf.upstream, &[], &json!({"max_bytes": 16 << 20}));
    for number in [0, 1, 2, 2] {
        world.anon().file(REMOTE, &format!("gems/lump-1.{number}.gem")).expect(200);
    }
    assert_eq!(shelf.upstream.count("/gems/lump-1.2.gem"), 1);
    world.anon().file(REMOTE, "info/lump").expect(200);
    assert_eq!(shelf.upstream.count("/versions"), 1);
}
