//! What a first build costs the upstream: the requests of two machines that build at once, counted per artifact.

use super::{METADATA, Scene, bytes};
use crate::world::{Connection, Says, hex, metadata};
use serde_json::json;
use sha1::{Digest, Sha1};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

/// A POM and a jar for each of 30.
const ARTIFACTS: usize = 60;
/// Maven downloads so many files at a time.
const WIDE: usize = 5;

/// What a Maven release asks for beside an artifact.
#[derive(Debug, Clone, Copy)]
enum Client {
    /// 3.8: the `.sha1` of each file, after the file.
    Three8,
    /// 3.9 and later: the `.sha1` only where the answer has no digest.
    Three9,
}

fn artifacts() -> Vec<(String, Vec<u8>)> {
    let of = |number: usize| {
        let (name, ending, len) = (number / 2, ["pom", "jar"][number % 2], 300 << (number / 6));
        let mut whole = bytes(len);
        whole[0] = u8::try_from(number).unwrap();
        (format!("org/example/lamp-{name}/1.0/lamp-{name}-1.0.{ending}"), whole)
    };
    (0..ARTIFACTS).map(of).collect()
}

/// An upstream with these files, with a digest in each header or a `.sha1` beside each file.
fn scene(in_headers: bool) -> Scene {
    let scene = Scene::new();
    for (path, whole) in artifacts() {
        let sha1 = hex(&Sha1::digest(&whole));
        let says = Says::file(whole);
        scene.upstream.says(&format!("/{path}"), if in_headers { says.header("X-Checksum-SHA1", &sha1) } else { says });
        scene.upstream.file(&format!("/{path}.sha1"), sha1);
    }
    // The prefix of a plugin, and what Maven 3.10 and 4 ask for: this upstream has no list of prefixes.
    scene.upstream.file(&format!("/{METADATA}"), metadata(&["1.0"]));
    scene.upstream.file(&format!("/{METADATA}.sha1"), hex(&Sha1::digest(metadata(&["1.0"]))));
    let members = json!(["maven-releases", "central"]);
    let group = json!({"name": "builds", "format": "maven", "kind": "group", "private": false, "members": members});
    scene.world.admin().post_json("/api/v1/repositories", &group).expect(201);
    scene
}

/// A machine with each client builds at the same time, with an empty local repository. Each file must come whole.
fn builds(address: SocketAddr, repository: &str) {
    let artifacts = artifacts();
    let build = |client: Client| {
        let mut connection = Connection::open(address).unwrap();
        let mut get =
            |path: &str| connection.call("GET", &format!("/repository/{repository}/{path}"), &[], b"").unwrap();
        get(".meta/prefixes.txt").expect(404);
        get(METADATA).expect(200);
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..WIDE {
                scope.spawn(|| {
                    let mut connection = Connection::open(address).unwrap();
                    while let Some((path, whole)) = artifacts.get(next.fetch_add(1, SeqCst)) {
                        let path = format!("/repository/{repository}/{path}");
                        let came = connection.call("GET", &path, &[], b"").unwrap().expect(200);
                        assert!(came.body == *whole, "{path}");
                        let told = came.header("x-checksum-sha1").is_some();
                        if matches!(client, Client::Three8) || !told {
                            let sum = connection.call("GET", &format!("{path}.sha1"), &[], b"").unwrap().expect(200);
                            assert_eq!(sum.text(), hex(&Sha1::digest(whole)), "{path}");
                        }
                    }
                });
            }
        });
    };
    thread::scope(|scope| {
        scope.spawn(|| build(Client::Three8));
        scope.spawn(|| build(Client::Three9));
    });
}

/// The requests of a cold build to the upstream in hundredths of the number of artifacts: at most so many, and none
/// for any later build.
#[track_caller]
fn costs_at_most(in_headers: bool, hundredths: usize) {
    for repository in ["central", "builds"] {
        let mut scene = scene(in_headers);
        builds(scene.world.address(), repository);
        let asked: Vec<String> = scene.upstream.asked().into_iter().map(|asked| asked.path).collect();
        assert!(asked.len() * 100 <= ARTIFACTS * hundredths, "{repository}: {}: {asked:?}", asked.len());
        let sums = asked.iter().filter(|path| path.ends_with(".sha1") && !path.contains("metadata")).count();
        assert_eq!(sums, if in_headers { 0 } else { ARTIFACTS }, "{repository}: {asked:?}");
        scene.world.restart();
        builds(scene.world.address(), repository);
        assert_eq!(scene.upstream.total(), asked.len(), "{repository}: a later build asked");
    }
}

#[test]
fn a_cold_build_asks_an_upstream_that_sends_digests_once_for_each_artifact() {
    costs_at_most(true, 105);
}

#[test]
fn a_cold_build_asks_an_upstream_without_digests_for_each_artifact_and_its_checksum_file_once() {
    costs_at_most(false, 205);
}
