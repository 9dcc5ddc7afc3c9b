//! A server with something of each kind to look at: gems and artifacts, old and young versions under a cooldown, a group, a private
//! repository.

use crate::world::{FIRST, Gem, World};
use serde_json::json;

/// Young versions are hidden for a week.
const COOLDOWN_S: u64 = 7 * 86_400;
const LONG_AGO: [(&str, &str); 2] =
    [("Daylight-Published", "2026-02-03T09:30:00Z"), ("Daylight-Published-By", "Ann Porter")];

/// The server.
pub(super) fn world() -> World {
    let world = World::start();
    fill(&world);
    world
}

/// Publishes all of it.
pub(super) fn fill(world: &World) {
    let admin = world.admin();
    // No upstream is called.
    for (group, members) in [("gems", [FIRST].as_slice()), ("maven", &["maven-releases", "maven-snapshots"])] {
        let change = json!({ "include_hosted": true, "members": members, "policy": { "cooldown_s": COOLDOWN_S } });
        admin.patch_json(&format!("/api/v1/repositories/{group}"), &change).expect(200);
    }
    let readme =
        "# Lamp\n\nA light for caves. It burns `wick` and a long_word_that_fits_no_line_of_a_telephone_at_all.\n";
    let lamp = |version: &str| {
        let gem = Gem::new("lamp", version).needs("wick", "~> 0.9").with("README.md", readme.as_bytes());
        gem.links("changelog_uri", "https://example.com/lamp/blob/main/CHANGELOG.md#a-long-name-without-a-break")
    };
    let old = ["1.0.0", "1.0.1", "1.1.0"].map(lamp);
    let native = Gem::new("lamp", "1.1.0").platform("x86_64-linux").needs("wick", "~> 0.9");
    // A list that is long enough to be filtered.
    let wicks = (0..25).map(|minor| Gem::new("wick", &format!("0.{minor}.0")));
    for gem in old.into_iter().chain([native]).chain(wicks) {
        admin.ask("POST", &format!("/repository/{FIRST}/api/v1/gems"), &LONG_AGO, &gem.bytes()).expect(200);
    }
    admin.yank(FIRST, "lamp", "1.0.1").expect(200);
    admin.push(FIRST, &Gem::new("lamp", "1.2.0").needs("wick", "~> 0.9")).expect(200);
    for (version, age) in [("1.0", &LONG_AGO[..]), ("1.1", &LONG_AGO), ("2.0", &[])] {
        let folder = format!("/repository/maven-releases/org/example/lantern/lantern-core/{version}");
        let pom = pom(version);
        for (ending, bytes) in [("pom", pom.as_bytes()), ("jar", b"jar")] {
            admin.ask("PUT", &format!("{folder}/lantern-core-{version}.{ending}"), age, bytes).expect(201);
        }
    }
    world.tree("tools", "raw");
    admin.put("tools", "images/disk.img", b"image").expect(201);
    world.repository("vault", true);
    admin.push("vault", &Gem::new("secret-lamp", "1.0.0")).expect(200);
}

fn pom(version: &str) -> String {
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example.lantern</groupId>\
         <artifactId>lantern-core</artifactId><version>{version}</version><name>Lantern</name>\
         <description>Light for caves.</description><dependencies><dependency><groupId>org.example</groupId>\
         <artifactId>oil</artifactId><version>3.1</version></dependency></dependencies></project>"
    )
}
