//! Many concurrent deploys to one hosted Maven repository, and deletions from it: nothing is lost, and lists are right.

use crate::maven_hosted::{all, metadata, release, world};
use std::thread;

#[test]
fn deployers_who_come_at_once_lose_nothing() {
    const DEPLOYERS: u32 = 16;
    let world = world();
    let admin = world.admin();
    thread::scope(|scope| {
        for number in 1..=DEPLOYERS {
            let admin = &admin;
            scope.spawn(move || {
                release(admin, "lamp", &format!("1.{number}"));
                let base = format!("org/example/oil/1.0-SNAPSHOT/oil-1.0-20260101.1200{number:02}-{number}");
                admin.put("trees", &format!("{base}.jar"), format!("jar {number}").as_bytes()).expect(201);
                admin.put("trees", &format!("{base}.pom"), b"pom").expect(201);
                admin.put("trees", "org/example/lamp/maven-metadata.xml", b"<metadata/>").expect(201);
            });
        }
    });
    let listed = all(&metadata(&world, "org/example/lamp").expect(200), "version");
    assert_eq!(listed, (1..=DEPLOYERS).map(|number| format!("1.{number}")).collect::<Vec<_>>());
    let builds = metadata(&world, "org/example/oil/1.0-SNAPSHOT").expect(200);
    assert_eq!(all(&builds, "buildNumber"), [DEPLOYERS.to_string()]);
    for number in 1..=DEPLOYERS {
        let jar = format!("org/example/lamp/1.{number}/lamp-1.{number}.jar");
        assert_eq!(world.anon().file("trees", &jar).expect(200).text(), format!("jar of 1.{number}"));
    }
}

#[test]
fn those_who_publish_and_delete_at_once_leave_lists_that_are_true() {
    const PEOPLE: usize = 8;
    const VERSIONS: usize = 4;
    let world = world();
    let admin = world.admin();
    let folder = |version: usize| format!("org/example/tools/lamp-maven-plugin/{version}");
    let pom = |version: usize| format!("{}/lamp-maven-plugin-{version}.pom", folder(version));
    for round in 0..3 {
        thread::scope(|scope| {
            for at in 0..PEOPLE {
                let admin = &admin;
                scope.spawn(move || {
                    for step in 0..12 {
                        let version = (at + step) % VERSIONS;
                        if (at + step + round) % 3 == 0 {
                            let deleted = admin.delete("trees", &folder(version)).status;
                            assert!(matches!(deleted, 204 | 404), "{deleted}");
                        } else {
                            let body =
                                b"<project><packaging>maven-plugin</packaging><artifactId>lamp</artifactId></project>";
                            let published = admin.put("trees", &pom(version), body).status;
                            assert!(matches!(published, 200 | 201), "{published}");
                        }
                    }
                });
            }
        });
        if round == 2 {
            admin.delete("trees", "org");
        }
        let there = |version: &usize| world.anon().file("trees", &pom(*version)).status == 200;
        let there: Vec<String> = (0..VERSIONS).filter(there).map(|version| version.to_string()).collect();
        let listed = |folder: &str, element: &str| match metadata(&world, folder) {
            made if made.status == 404 => Vec::new(),
            made => all(&made.expect(200), element),
        };
        assert_eq!(listed("org/example/tools/lamp-maven-plugin", "version"), there);
        let plugins = if there.is_empty() { vec![] } else { vec!["lamp-maven-plugin".to_owned()] };
        assert_eq!(listed("org/example/tools", "artifactId"), plugins);
    }
}
