//! The guard of names: no upstream can add versions to a hosted member's name, and no upstream is called for it.

use super::{set, world};
use crate::world::{Answer, Upstream, World, hex};
use serde_json::json;
use sha1::{Digest, Sha1};

const OURS: &str = "org/example/lamp";
const OTHER: &str = "org/other/oil";

/// A group `all` of `ours` (hosted) and, in a nested group, `far` (remote); `outer` is a group with `all`.
struct Scene {
    world: World,
    far: Upstream,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { world: world(), far: Upstream::start() };
        scene.world.tree("ours", "maven");
        scene.world.remote("far", &scene.far.url());
        for (name, members) in [("inner", vec!["far"]), ("all", vec!["inner", "ours"]), ("outer", vec!["all"])] {
            scene.world.make(&json!({ "name": name, "format": "maven", "members": members }));
        }
        scene
    }

    fn get(&self, path: &str) -> Answer {
        self.world.anon().file("outer", path)
    }

    /// Gives the upstream version 9 of an artifact, with all its files.
    fn attack(&self, folder: &str) {
        let (above, name) = folder.rsplit_once('/').unwrap();
        let group = above.replace('/', ".");
        let metadata = format!(
            "<metadata><groupId>{group}</groupId><artifactId>{name}</artifactId><versioning><latest>9</latest><release>9\
             </release><versions><version>9</version></versions></versioning></metadata>"
        );
        let plugins = format!(
            "<metadata><plugins><plugin><prefix>evil</prefix><artifactId>{name}</artifactId></plugin></plugins></metadata>"
        );
        self.far.file(&format!("/{folder}/maven-metadata.xml"), metadata);
        self.far.file(&format!("/{above}/maven-metadata.xml"), plugins);
        for ending in ["jar", "pom", "jar.sha1"] {
            let text = if ending.ends_with("sha1") { hex(&Sha1::digest("evil")) } else { "evil".to_owned() };
            self.far.file(&format!("/{folder}/9/{name}-9.{ending}"), text);
        }
        self.far.file(&format!("/{folder}/9/odd.txt"), "evil");
        self.far.file(&format!("/{folder}/9-SNAPSHOT/{name}-9-SNAPSHOT.jar"), "evil");
    }

    /// The number of requests to the upstream below a folder.
    fn asked(&self, folder: &str) -> usize {
        let below = format!("/{folder}/");
        self.far.asked().iter().filter(|asked| asked.path.starts_with(&below)).count()
    }
}

#[test]
fn a_higher_version_of_a_hosted_name_is_visible_by_no_route_and_the_upstream_is_never_asked() {
    let scene = Scene::new();
    // One artifact with a POM, and one with nothing but a package.
    scene.world.admin().put("ours", &format!("{OURS}/1/lamp-1.pom"), b"<project/>").expect(201);
    scene.world.admin().put("ours", "org/example/wick/1/wick-1.jar", b"ours").expect(201);
    // All its files were deleted, and the name is still the hosted member's.
    scene.world.admin().put("ours", "org/example/soot/1/soot-1.jar", b"ours").expect(201);
    scene.world.admin().delete("ours", "org/example/soot").expect(204);
    let names = [OURS, "org/example/wick", "org/example/soot"];
    names.iter().for_each(|name| scene.attack(name));
    scene.attack(OTHER);
    for folder in names {
        let name = folder.rsplit('/').next().unwrap();
        for path in [
            format!("{folder}/9/{name}-9.jar"),
            format!("{folder}/9/{name}-9.pom"),
            format!("{folder}/9/{name}-9.jar.sha1"),
            format!("{folder}/9-SNAPSHOT/{name}-9-SNAPSHOT.jar"),
            format!("{folder}/9-SNAPSHOT/{name}-9-29990101.000000-9.jar"),
            format!("{folder}/9-SNAPSHOT/maven-metadata.xml"),
            format!("{folder}/9-SNAPSHOT/maven-metadata.xml.sha1"),
            format!("{folder}/1/{name}-1-sources.jar"),
            format!("{folder}/9/odd.txt"),
            format!("{folder}/maven-metadata.xml.asc"),
            format!("{folder}/9/maven-metadata.xml"),
            format!("{folder}/9/maven-metadata.xml.sha1"),
            format!("{folder}/notes.txt"),
            format!("{folder}/1/deep/notes.txt"),
        ] {
            for repository in ["outer", "all", "outer@2026-11-01T12:00:00Z"] {
                scene.world.anon().file(repository, &path).expect(404);
            }
        }
        for metadata in [format!("{folder}/maven-metadata.xml"), format!("{folder}/maven-metadata.xml.sha1")] {
            for repository in ["outer", "all", "outer@2026-11-01T12:00:00Z"] {
                let said = scene.world.anon().file(repository, &metadata);
                assert!(!said.text().contains(">9<"), "{repository} {metadata}: {}", said.text());
            }
        }
        assert_eq!(scene.asked(folder), 0, "{folder}");
    }
    let plugins = scene.get("org/example/maven-metadata.xml");
    assert!(!plugins.text().contains("evil"), "{}", plugins.text());
    assert!(scene.get(&format!("{OURS}/maven-metadata.xml")).expect(200).text().contains("<version>1</version>"));
    assert_eq!(scene.get(&format!("{OTHER}/9/oil-9.jar")).expect(200).text(), "evil", "the other owner of that name");
    assert!(scene.asked(OTHER) > 0);
}

#[test]
fn names_that_begin_privately_are_asked_of_no_upstream_whether_or_not_they_are_here() {
    let scene = Scene::new();
    scene.attack(OURS);
    scene.attack(OTHER);
    // Of one word.
    set(&scene.world, "outer", &json!({ "private_prefixes": ["org"] })).expect(200);
    for path in
        ["org/maven-metadata.xml", "org/notes.txt", "org/example/maven-metadata.xml", "org/other/oil/9/oil-9.jar"]
    {
        assert!(matches!(scene.get(path).status, 403 | 404), "{path}");
    }
    set(&scene.world, "outer", &json!({ "private_prefixes": ["org.example."] })).expect(200);
    set(&scene.world, "far", &json!({ "private_prefixes": ["org.other"] })).expect(200);
    for path in
        ["9/lamp-9.jar", "9/lamp-9.pom.sha1", "maven-metadata.xml", "9-SNAPSHOT/maven-metadata.xml", "9/odd.txt", "odd"]
    {
        let refused = scene.get(&format!("{OURS}/{path}")).expect(403);
        assert!(refused.text().contains("names that begin with `org.example` are private"), "{}", refused.text());
    }
    scene.get("org/example/maven-metadata.xml").expect(403);
    for path in ["9/oil-9.jar", "maven-metadata.xml"] {
        scene.get(&format!("{OTHER}/{path}")).expect(403);
        scene.world.anon().file("far", &format!("{OTHER}/{path}")).expect(403);
    }
    assert_eq!((scene.asked("org/example"), scene.asked("org/other")), (0, 0));
    // The group without that policy calls the upstream.
    scene.world.anon().file("all", &format!("{OURS}/9/lamp-9.jar")).expect(200);
}
