//! Upstreams that are reached through a proxy, over TLS, with credentials, or by a mirror.

use crate::pages::events;
use crate::tls::{Certificate, curl};
use crate::world::{Says, Upstream, World};
use serde_json::{Value, json};
use std::net::TcpListener;

const TOOL: &str = "1.0/tool.zip";

/// Creates `tools`, a public remote repository of raw files.
fn tools(world: &World, remote: &Value) {
    let wanted = json!({"name": "tools", "format": "raw", "kind": "remote", "private": false, "remote": remote});
    world.admin().post_json("/api/v1/repositories", &wanted).expect(201);
}

#[test]
fn a_proxy_is_asked_for_what_is_beyond_it_and_shown_what_is_for_it() {
    let proxy = Upstream::start();
    proxy.file("http://files.test/base/1.0/tool.zip", "tool");
    let mut world = World::start_with(&[("UPSTREAM_PROXY", "me:hush"), ("UPSTREAM_TOKEN", "abc")]);
    let credentials = json!({"credentials": "env:UPSTREAM_TOKEN", "proxy_credentials": "env:UPSTREAM_PROXY"});
    let mut remote = json!({"urls": ["http://files.test/base"], "proxy": proxy.url()});
    remote.as_object_mut().unwrap().extend(credentials.as_object().unwrap().clone());
    tools(&world, &remote);
    assert_eq!(world.anon().file("tools", TOOL).expect(200).text(), "tool");
    let asked = &proxy.asked()[0];
    assert_eq!(asked.header("proxy-authorization"), Some("Basic bWU6aHVzaA=="));
    assert_eq!((asked.header("authorization"), asked.header("host")), (Some("Bearer abc"), Some("files.test")));

    proxy.says_otherwise(Says::status(407));
    let refused = world.anon().file("tools", "1.0/other.zip").expect(502);
    assert!(refused.text().contains("cannot be reached"), "{}", refused.text());
    world.stop();
    let tells = |event: &Value| event["detail"].as_str().is_some_and(|detail| detail.contains("the proxy"));
    assert!(events(&world).iter().any(tells));
}

#[test]
fn a_host_that_is_named_is_reached_without_the_proxy() {
    let (proxy, inside) = (Upstream::start(), Upstream::start());
    proxy.file("http://files.test/1.0/tool.zip", "from outside");
    inside.file("/1.0/other.zip", "from inside");
    let world = World::start();
    proxy.says("http://files.test/1.0/other.zip", Says::status(503));
    let urls = json!(["http://files.test", inside.url()]);
    tools(&world, &json!({"urls": urls, "proxy": proxy.url(), "no_proxy": ["127.0.0.1"]}));
    assert_eq!(world.anon().file("tools", TOOL).expect(200).text(), "from outside");
    assert_eq!(world.anon().file("tools", "1.0/other.zip").expect(200).text(), "from inside");
    assert_eq!((proxy.asked().len(), inside.asked().len()), (2, 1));
}

#[test]
fn a_daylight_stands_behind_another_with_tls_a_certificate_of_its_own_and_a_token() {
    let certificate = Certificate::new();
    let far = World::start_with_file(&certificate.settings());
    let token = format!("Authorization: {}", far.admin().secret());
    let wanted = json!({"name": "vault", "format": "raw", "kind": "hosted", "private": true}).to_string();
    let json = ["-H", &token, "-H", "Content-Type: application/json", "--data-binary", &wanted];
    let trusts = certificate.file();
    assert!(curl(&far, &trusts, "/api/v1/repositories", &json).status.success());
    let file = trusts.with_file_name("tool.zip");
    std::fs::write(&file, vec![7; 3 << 20]).unwrap();
    let put = ["-H", &token, "--upload-file", file.to_str().unwrap()];
    assert!(curl(&far, &trusts, &format!("/repository/vault/{TOOL}"), &put).status.success());
    let login = trusts.with_file_name("login");
    std::fs::write(&login, format!("me:{}\n", far.admin().secret())).unwrap();

    let folder = format!("[upstream]\ncredentials_folder = {:?}\n", trusts.parent().unwrap());
    let near = World::start_with_file(&folder);
    let url = format!("https://{}/repository/vault", far.address());
    let credentials = format!("file:{}", login.display());
    tools(&near, &json!({"urls": [url], "trust": trusts, "credentials": credentials}));
    assert!(near.anon().file("tools", TOOL).expect(200).body == vec![7; 3 << 20]);
    near.anon().file("tools", "1.0/none.zip").expect(404);

    let stranger = World::start_with_file(&folder);
    tools(&stranger, &json!({"urls": [url], "credentials": credentials}));
    let refused = stranger.anon().file("tools", TOOL).expect(502);
    assert!(refused.text().contains("TLS"), "{}", refused.text());
}

#[test]
fn a_mirror_stands_in_for_an_upstream_that_is_down_and_not_for_one_that_has_nothing() {
    let down = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (first, mirror) = (Upstream::start(), Upstream::start());
    mirror.file(&format!("/{TOOL}"), "tool");
    let world = World::start();
    tools(&world, &json!({"urls": [format!("http://{down}"), first.url(), mirror.url()]}));
    world.anon().file("tools", TOOL).expect(404);
    assert_eq!((first.asked().len(), mirror.asked().len()), (1, 0));

    first.says_otherwise(Says::status(500));
    assert_eq!(world.anon().file("tools", "1.0/none.zip").expect(404).status, 404);
    let path = "2.0/tool.zip";
    mirror.file(&format!("/{path}"), "tool");
    assert_eq!(world.anon().file("tools", path).expect(200).text(), "tool");
}
