//! A hosted Maven repository on the wire: uploads, generated files, and refusals.

use crate::world::{Answer, Person, World, hex};
use sha1::{Digest, Sha1};
use sha2::Sha256;

pub(crate) fn world() -> World {
    let world = World::start();
    world.tree("trees", "maven");
    world
}

fn pom(group: &str, artifact: &str, version: &str) -> String {
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>{group}</groupId><artifactId>{artifact}</artifactId>\
         <version>{version}</version></project>"
    )
}

/// Publishes a release of `org.example:ARTIFACT` as Maven does: the package, the POM, the checksums.
pub(crate) fn release(person: &Person, artifact: &str, version: &str) {
    let base = format!("org/example/{artifact}/{version}/{artifact}-{version}");
    for (ending, bytes) in [("jar", format!("jar of {version}")), ("pom", pom("org.example", artifact, version))] {
        person.put("trees", &format!("{base}.{ending}"), bytes.as_bytes()).expect(201);
        let sum = hex(&Sha1::digest(&bytes));
        person.put("trees", &format!("{base}.{ending}.sha1"), sum.as_bytes()).expect(201);
    }
}

/// Publishes a build of `org.example:lamp:1.0-SNAPSHOT`.
pub(crate) fn build(person: &Person, timestamp: &str, number: u32) {
    let base = format!("org/example/lamp/1.0-SNAPSHOT/lamp-1.0-{timestamp}-{number}");
    person.put("trees", &format!("{base}.jar"), format!("jar {number}").as_bytes()).expect(201);
    person.put("trees", &format!("{base}-sources.jar"), format!("sources {number}").as_bytes()).expect(201);
    person.put("trees", &format!("{base}.pom"), pom("org.example", "lamp", "1.0-SNAPSHOT").as_bytes()).expect(201);
}

pub(crate) fn metadata(world: &World, folder: &str) -> Answer {
    world.anon().file("trees", &format!("{folder}/maven-metadata.xml"))
}

/// The texts of all elements of a name.
pub(crate) fn all(answer: &Answer, element: &str) -> Vec<String> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let parts = answer.text().split(&open).skip(1);
    parts.map(|part| part.split(&close).next().unwrap().to_owned()).collect()
}

#[test]
fn metadata_is_made_from_what_was_published_in_the_order_of_maven() {
    let world = world();
    metadata(&world, "org/example/lamp").expect(404);
    for version in ["1.10", "1.9", "2.0-rc-1", "1.0"] {
        release(&world.admin(), "lamp", version);
    }
    let made = metadata(&world, "org/example/lamp").expect(200);
    assert_eq!(all(&made, "version"), ["1.0", "1.9", "1.10", "2.0-rc-1"]);
    assert_eq!(all(&made, "release"), ["2.0-rc-1"]);
    assert_eq!((all(&made, "groupId"), all(&made, "artifactId")), (vec!["org.example".into()], vec!["lamp".into()]));
    let sha1 = hex(&Sha1::digest(&made.body));
    assert_eq!(made.header("x-checksum-sha1"), Some(sha1.as_str()));
    let sum = world.anon().file("trees", "org/example/lamp/maven-metadata.xml.sha1").expect(200);
    assert_eq!(sum.text(), sha1);
    let theirs = b"<metadata><versioning><versions><version>9</version></versions></versioning></metadata>";
    world.admin().put("trees", "org/example/lamp/maven-metadata.xml", theirs).expect(201);
    world.admin().put("trees", "org/example/lamp/maven-metadata.xml.sha1", &[b'0'; 40]).expect(201);
    assert!(metadata(&world, "org/example/lamp").expect(200).body == made.body, "what deployers say is a hint");
}

#[test]
fn a_version_without_a_pom_is_listed_once_its_deployer_says_so() {
    let world = world();
    let admin = world.admin();
    let (jar, uploaded) = ("org/example/lamp/1.0/lamp-1.0.jar", "org/example/lamp/maven-metadata.xml");
    admin.put("trees", jar, b"jar").expect(201);
    let names = "<version>0.9</version><version>1.0</version>";
    let theirs = format!("<metadata><versioning><versions>{names}</versions></versioning></metadata>");
    admin.put("trees", uploaded, theirs.as_bytes()).expect(201);
    assert_eq!(all(&metadata(&world, "org/example/lamp").expect(200), "version"), ["1.0"]);
    for odd in [
        "no metadata",
        "<metadata>",
        "<metadata><versioning><versions><version>../2</version></versions></versioning></metadata>",
    ] {
        admin.put("trees", uploaded, odd.as_bytes()).expect(201);
    }
    assert_eq!(all(&metadata(&world, "org/example/lamp").expect(200), "version"), ["1.0"]);
    admin.delete("trees", jar).expect(204);
    metadata(&world, "org/example/lamp").expect(404);
    for path in ["archetype-catalog.xml", ".meta/prefixes.txt", "settings.xml", "archetype-catalog.xml.sha1"] {
        admin.put("trees", path, b"x").expect(400);
    }
}

#[test]
fn everything_that_deployers_bring_is_taken_and_comes_back() {
    let world = world();
    let base = "org/example/lamp/1.0/lamp-1.0";
    for ending in [
        ".jar",
        ".pom",
        ".module",
        ".jar.asc",
        "-sources.jar",
        "-javadoc.jar",
        "-build.pom",
        "-bin.tar.gz",
        "-jdk1.5.jar",
        ".jar.sigstore.json",
        ".tar.gz.asc",
        "",
    ] {
        let path = format!("{base}{ending}");
        world.admin().put("trees", &path, ending.as_bytes()).expect(201);
        assert_eq!(world.anon().file("trees", &path).expect(200).text(), ending, "{path}");
        let sum = hex(&Sha1::digest(ending));
        world.admin().put("trees", &format!("{path}.sha1"), sum.as_bytes()).expect(201);
        assert_eq!(world.anon().file("trees", &format!("{path}.sha1")).expect(200).text(), sum);
        assert_eq!(world.anon().file("trees", &format!("{path}.sha512")).expect(200).text().len(), 128);
    }
    for path in ["lamp.jar", "org/example/lamp-1.0.jar", "org/example/lamp/1.0/oil-1.0.jar", "org/example/lamp/1.0/x"] {
        world.admin().put("trees", path, b"x").expect(400);
        world.anon().file("trees", path).expect(404);
    }
}

#[test]
fn what_is_uploaded_as_a_checksum_and_is_none_is_refused_and_every_form_that_tools_write_is_taken() {
    let world = world();
    let admin = world.admin();
    let jar = "org/example/lamp/1.0/lamp-1.0.jar";
    let [sha1, sha256] = [hex(&Sha1::digest("jar")), hex(&Sha256::digest("jar"))];
    // The checksum may come before the file or after it.
    for round in 0..2 {
        for (ending, text) in [("sha1", "0000"), ("sha1", "<html>"), ("md5", ""), ("sha256", &sha1), ("sha512", "x")] {
            let path = format!("{jar}.{ending}");
            let refused = admin.put("trees", &path, text.as_bytes()).expect(400);
            assert_eq!(refused.header("content-type"), Some("application/problem+json"));
            assert_eq!(refused.phrase, "the upload is not a checksum");
            let told = refused.json();
            assert!(
                told["detail"].as_str().unwrap().contains(&format!("`{path}` does not begin with a {ending}")),
                "{told}"
            );
            assert!(told["hint"].as_str().is_some_and(|hint| hint.contains("sha1sum")), "{told}");
        }
        for text in [
            sha1.clone(),
            format!("{sha1}  lamp-1.0.jar\n"),
            format!("SHA1(lamp-1.0.jar)= {sha1}\n"),
            sha1.to_uppercase(),
        ] {
            admin.put("trees", &format!("{jar}.sha1"), text.as_bytes()).expect(201);
        }
        admin.put("trees", &format!("{jar}.sha256"), sha256.as_bytes()).expect(201);
        if round == 0 {
            admin.put("trees", jar, b"jar").expect(201);
        }
    }
    let metadata = "org/example/lamp/maven-metadata.xml";
    admin.put("trees", &format!("{metadata}.sha1"), sha1.as_bytes()).expect(201);
    admin.put("trees", &format!("{metadata}.sha1"), b"<html>").expect(400);
    assert_eq!(world.anon().file("trees", &format!("{jar}.sha1")).expect(200).text(), sha1);
}

#[test]
fn releases_and_builds_of_snapshots_are_immutable() {
    let world = world();
    let admin = world.admin();
    release(&admin, "lamp", "1.0");
    let jar = "org/example/lamp/1.0/lamp-1.0.jar";
    admin.put("trees", jar, b"jar of 1.0").expect(200);
    let refused = admin.put("trees", jar, b"other").expect(409);
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    assert_eq!(refused.json()["status"], 409);
    assert_eq!(refused.phrase, "published with other bytes, and published files never change");
    let refused = admin.put("trees", &format!("{jar}.sha1"), &[b'0'; 40]).expect(400);
    let right = hex(&Sha1::digest("jar of 1.0"));
    assert!(refused.text().contains(&right) && refused.text().contains(&"0".repeat(40)), "{}", refused.text());

    let built = "org/example/lamp/1.1-SNAPSHOT/lamp-1.1-20260101.120000-1.jar";
    admin.put("trees", built, b"one").expect(201);
    admin.put("trees", built, b"two").expect(409);
}

#[test]
fn metadata_of_a_snapshot_names_the_newest_of_each_file() {
    let world = world();
    build(&world.admin(), "20260101.120000", 1);
    build(&world.admin(), "20260102.120000", 2);
    let newest = "org/example/lamp/1.0-SNAPSHOT/lamp-1.0-20260103.120000-3.jar";
    world.admin().put("trees", newest, b"jar 3").expect(201);
    let made = metadata(&world, "org/example/lamp/1.0-SNAPSHOT").expect(200);
    assert_eq!(all(&made, "buildNumber"), ["3"]);
    assert_eq!(
        all(&made, "value"),
        ["1.0-20260103.120000-3", "1.0-20260102.120000-2", "1.0-20260102.120000-2"],
        "{}",
        made.text()
    );
    assert_eq!(all(&metadata(&world, "org/example/lamp").expect(200), "version"), ["1.0-SNAPSHOT"]);
}

#[test]
fn a_repository_takes_the_versions_that_it_is_for() {
    let world = World::start();
    let admin = world.admin();
    for name in ["releases", "snapshots"] {
        let wanted = serde_json::json!({ "name": name, "format": "maven", "kind": "hosted", "versions": name });
        admin.post_json("/api/v1/repositories", &wanted).expect(201);
    }
    let (release, snapshot) = ("org/a/1/a-1.jar", "org/a/1-SNAPSHOT/a-1-20260101.120000-1.jar");
    for path in [release.to_owned(), format!("{release}.sha1"), format!("{release}.asc")] {
        admin.put("snapshots", &path, b"x").expect(400);
    }
    for path in [snapshot, "org/a/1-SNAPSHOT/a-1-SNAPSHOT.jar"] {
        let refused = admin.put("releases", path, b"x").expect(400);
        assert!(refused.json()["detail"].as_str().unwrap().contains("`1-SNAPSHOT`"));
        admin.put("snapshots", path, b"x").expect(201);
    }
    admin.put("releases", release, b"x").expect(201);
}

#[test]
fn nobody_writes_without_being_allowed_to() {
    let world = world();
    let path = "org/example/lamp/1.0/lamp-1.0.jar";
    let refused = world.anon().put("trees", path, b"x").expect(401);
    assert!(refused.header("www-authenticate").unwrap().starts_with("Basic "));
    world.person("reader", &["read"], &[]).put("trees", path, b"x").expect(403);
    world.person("elsewhere", &["read", "write"], &["gems-private"]).put("trees", path, b"x").expect(403);
    world.person("deployer", &["read", "write"], &["trees"]).put("trees", path, b"x").expect(201);
}

#[test]
fn a_refusal_comes_as_a_problem_to_whoever_asks_for_one() {
    let world = world();
    let headers = [("Accept", "text/html, application/problem+json;q=0.5")];
    let refused = world.anon().ask("PUT", "/repository/trees/a/b/1/b-1.jar", &headers, b"x").expect(401);
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    assert_eq!(refused.json()["status"], 401);
    // Maven 3.9 reads one without asking for it.
    let refused = world.anon().ask("PUT", "/repository/trees/a/b/1/b-1.jar", &[], b"x").expect(401);
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    assert_eq!(refused.phrase, "a token is needed");
    // Maven 4.0.0-rc-4 takes a 404 with a problem as its body for a failed transfer.
    let missing = world.anon().ask("GET", "/repository/trees/a/b/1/b-1.jar", &headers, b"").expect(404);
    assert_eq!(missing.header("content-type"), Some("text/plain; charset=utf-8"));
    let missing = world.anon().ask("GET", "/repository/nowhere/a/b/1/b-1.jar", &headers, b"").expect(404);
    assert_eq!(missing.header("content-type"), Some("text/plain; charset=utf-8"));
}

/// Publishes a POM of `org.example.tools` with this content.
fn packaged(person: &Person, artifact: &str, version: &str, inside: &str) {
    let pom = pom("org.example.tools", artifact, version).replace("</project>", &format!("{inside}</project>"));
    let path = format!("org/example/tools/{artifact}/{version}/{artifact}-{version}.pom");
    person.put("trees", &path, pom.as_bytes()).expect(201);
}

#[test]
fn a_group_lists_its_plugins_with_their_prefixes_as_long_as_they_have_a_version() {
    let world = world();
    let admin = world.admin();
    let plugin = "<packaging>maven-plugin</packaging><name>Lamp</name>";
    packaged(&admin, "lamp-maven-plugin", "1.0", plugin);
    packaged(&admin, "lamp-maven-plugin", "1.1", plugin);
    packaged(&admin, "oil", "1.0", "");
    let made = metadata(&world, "org/example/tools").expect(200);
    assert_eq!((all(&made, "prefix"), all(&made, "name")), (vec!["lamp".to_owned()], vec!["Lamp".to_owned()]));
    assert_eq!(all(&made, "artifactId"), ["lamp-maven-plugin"]);
    // The folder of a group may be that of an artifact: one document has both.
    admin.put("trees", "org/example/tools/1.0/tools-1.0.pom", b"<project/>").expect(201);
    let both = metadata(&world, "org/example/tools").expect(200);
    assert_eq!((all(&both, "prefix"), all(&both, "version")), (vec!["lamp".to_owned()], vec!["1.0".to_owned()]));
    admin.delete("trees", "org/example/tools/1.0").expect(204);
    admin.delete("trees", "org/example/tools/lamp-maven-plugin/1.0").expect(204);
    assert_eq!(all(&metadata(&world, "org/example/tools").expect(200), "prefix"), ["lamp"]);
    admin.delete("trees", "org/example/tools/lamp-maven-plugin/1.1").expect(204);
    metadata(&world, "org/example/tools").expect(404);
}

#[test]
fn the_prefix_of_a_plugin_is_that_of_its_package_where_its_pom_says_none() {
    let world = world();
    let admin = world.admin();
    let plugin = "<packaging>maven-plugin</packaging>";
    let said = "<build><plugins><plugin><artifactId>maven-plugin-plugin</artifactId><configuration>\
                <goalPrefix>burn</goalPrefix></configuration></plugin></plugins></build>";
    packaged(&admin, "lamp-maven-plugin", "1.0", plugin);
    packaged(&admin, "oil-maven-plugin", "1.0", &format!("{plugin}{said}"));
    // The metadata of a client that has read the packages. It also lists a version that does not exist.
    let of = |artifact: &str, prefix: &str| {
        format!("<plugin><name>x</name><prefix>{prefix}</prefix><artifactId>{artifact}</artifactId></plugin>")
    };
    let hint = [of("lamp-maven-plugin", "light"), of("oil-maven-plugin", "oil"), of("gone-maven-plugin", "gone")];
    let hint = format!("<metadata><plugins>{}</plugins></metadata>", hint.concat());
    admin.put("trees", "org/example/tools/maven-metadata.xml", hint.as_bytes()).expect(201);
    let prefixes = || all(&metadata(&world, "org/example/tools").expect(200), "prefix");
    assert_eq!(prefixes(), ["light", "burn"]);
    // A deleted version stays deleted, whatever the metadata lists.
    admin.delete("trees", "org/example/tools/lamp-maven-plugin/1.0").expect(204);
    admin.put("trees", "org/example/tools/maven-metadata.xml", hint.as_bytes()).expect(201);
    assert_eq!(prefixes(), ["burn"]);
}

#[test]
fn the_root_lists_archetypes_and_no_prefixes_because_clients_would_refuse_what_comes_later() {
    let world = world();
    let admin = world.admin();
    world.anon().file("trees", "archetype-catalog.xml").expect(404);
    packaged(&admin, "lamp-archetype", "1.0", "<packaging>maven-archetype</packaging>");
    let catalog = world.anon().file("trees", "archetype-catalog.xml").expect(200);
    assert_eq!(
        (all(&catalog, "artifactId"), all(&catalog, "version")),
        (vec!["lamp-archetype".into()], vec!["1.0".into()])
    );
    for path in [".meta/prefixes.txt", ".meta/prefixes.txt.sha1"] {
        world.anon().file("trees", path).expect(404);
    }
    admin.delete("trees", "org/example/tools").expect(204);
    world.anon().file("trees", "archetype-catalog.xml").expect(404);
}
