//! Names that members share: each version is that of the first member that has it.

use super::{FIRST, GROUP, scene};
use crate::world::Gem;
use format::gem::info::md5_hex;
use serde_json::{Value, json};

/// Lamp 1.0.0 is in both members, 0.9.0 in the upstream alone, and 1.1.0 in the hosted one.
#[test]
fn a_shared_name_has_the_versions_of_all_members_each_once_in_every_protocol_and_the_md5_of_its_info_once_that_was_read()
 {
    let scene = scene();
    let theirs = scene.publish("lamp", "0.9.0");
    scene.upstream.admin().push(FIRST, &Gem::new("lamp", "1.0.0").needs("theirs", ">= 0")).expect(200);
    scene.get("info/lamp").expect(200);
    scene.world.change(FIRST, &json!({ "claims": ["lamp"] }));
    scene.world.change(GROUP, &json!({ "policy": { "shared": ["lamp"] } }));
    let ours = Gem::new("lamp", "1.0.0").needs("ours", ">= 0");
    scene.world.admin().push(FIRST, &ours).expect(200);
    scene.push("lamp", "1.1.0");

    let line = || {
        let versions = scene.get("versions").expect(200).text().to_owned();
        versions.lines().rfind(|line| line.starts_with("lamp ")).unwrap().to_owned()
    };
    let md5 = || line().rsplit(' ').next().unwrap().to_owned();
    let (first, provisional) = (line(), md5());
    let mut tokens: Vec<&str> = first.split(' ').nth(1).unwrap().split(',').collect();
    tokens.sort_unstable();
    assert_eq!(tokens, ["0.9.0", "1.0.0", "1.1.0"]);
    let info = scene.get("info/lamp").expect(200).text().to_owned();
    assert!(info.contains("1.0.0 ours:>= 0|") && !info.contains("theirs") && info.contains("\n0.9.0 |"), "{info}");
    assert_eq!(info.lines().count(), 4, "{info}");
    assert_eq!(scene.get("gems/lamp-1.0.0.gem").expect(200).body, ours.bytes());
    assert_eq!(scene.get("gems/lamp-0.9.0.gem").expect(200).body, theirs.bytes());
    let needs = scene.get("api/v1/dependencies.json?gems=lamp").expect(200).json();
    let of = |number: &str| -> Vec<Value> {
        let all = needs.as_array().unwrap().iter();
        all.filter(|one| one["number"] == number).map(|one| one["dependencies"].clone()).collect()
    };
    assert_eq!((needs.as_array().unwrap().len(), of("1.0.0")), (3, vec![json!([["ours", ">= 0"]])]));
    let all = scene.get("api/v1/versions/lamp.json").expect(200).json();
    let numbers: Vec<&Value> = all.as_array().unwrap().iter().map(|one| &one["number"]).collect();
    assert_eq!(numbers, ["1.1.0", "1.0.0", "0.9.0"]);
    // An upstream's line does not have it.
    assert!(all[2]["authors"].is_null() && !all[1]["authors"].is_null(), "{all:#}");
    assert_eq!(scene.get("api/v1/gems/lamp.json").expect(200).json()["version"], "1.1.0");
    assert_eq!(scene.get("api/v1/versions/lamp/latest.json").expect(200).json(), json!({ "version": "1.1.0" }));
    scene.get("api/v2/rubygems/lamp/versions/0.9.0.json").expect(200);
    scene.get("api/v2/rubygems/lamp/versions/7.json").expect(404);
    assert_eq!(scene.get("api/v1/search.json?query=lamp").expect(200).json()[0]["version"], "1.1.0");

    let known = md5_hex(info.as_bytes());
    scene.at("2026-11-02T12:02:00Z");
    assert!(provisional != known && md5() == known, "{provisional} {known} {}", md5());
    scene.push("lamp", "1.2.0");
    assert_ne!(md5(), known);
    let known = md5_hex(&scene.get("info/lamp").expect(200).body);
    scene.at("2026-11-02T12:04:00Z");
    assert_eq!(md5(), known);
}
