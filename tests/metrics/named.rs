//! Private repositories are named to those alone who may read them, and hosts of upstreams to administrators.

use crate::accounts::settled;
use crate::world::{Person, Upstream, World};
use serde_json::json;

fn told(person: &Person) -> String {
    person.get("/metrics").expect(200).text().to_owned()
}

#[test]
fn a_private_repository_is_named_to_readers_of_it_and_its_host_to_administrators() {
    let (world, upstream) = (World::start(), Upstream::start());
    upstream.file("/lamp", "bytes");
    for name in ["vault", "attic"] {
        let remote = json!({ "urls": [upstream.url()] });
        world.make(&json!({ "name": name, "format": "raw", "private": true, "remote": remote }));
        world.admin().file(name, "lamp").expect(200);
    }
    settled(&world);
    let (reader, writer) =
        (world.person("reader", &["read"], &["vault"]), world.person("writer", &["write"], &["attic"]));
    let host = upstream.address().to_string();
    let named = |page: &str| ["vault", "attic", host.as_str()].map(|name| page.contains(&format!("\"{name}\"")));
    let strangers = [told(&world.anon()), told(&world.holder("daylight_of-nobody"))];
    for page in &strangers {
        assert_eq!(named(page), [false; 3]);
        assert!(page.contains("daylight_repository_requests_total{repository=\"(other)\"} 2\n"), "{page}");
        assert!(page.contains("daylight_repository_bytes{repository=\"(other)\"} 10\n"), "{page}");
    }
    assert_eq!(named(&told(&reader)), [true, false, false]);
    assert!(told(&reader).contains("daylight_repository_requests_total{repository=\"(other)\"} 1\n"));
    assert_eq!(named(&told(&writer)), [false; 3], "it may not read");
    assert_eq!(named(&told(&world.admin())), [true; 3]);
    // The number of the host is the label of its bounds, for everybody.
    let hosts = world.admin().get("/api/v1/upstreams").expect(200).json();
    let number =
        hosts["upstreams"].as_array().unwrap().iter().find(|one| one["host"] == *host).unwrap()["number"].clone();
    assert!(strangers[0].contains(&format!("daylight_upstream_received_bytes_total{{host=\"{number}\"}} 10\n")));
    assert!(
        told(&world.admin()).contains(&format!("daylight_upstream_info{{host=\"{host}\",number=\"{number}\"}} 1\n"))
    );
}
