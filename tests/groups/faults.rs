//! A group with a member that misbehaves: known files are answered, and an unknown state never counts as missing.

use super::{JAR, Scene, group};
use crate::maven_hosted::all;
use crate::misbehaving::{WAYS, Way};
use crate::pages::events;
use crate::world::{Answer, Person, Says, Upstream, World};
use serde_json::{Value, json};
use std::io;
use std::thread;

const LAMP: &str = "example/lamp/maven-metadata.xml";
const OIL: &str = "example/oil/maven-metadata.xml";
const WICK: &str = "example/wick/maven-metadata.xml";
const ARTIFACT: &str = "example/oil/1.0/oil-1.0.jar";
const OTHER: &str = "example/wick/1.0/wick-1.0.jar";

/// Metadata of an artifact of `example` with one version.
fn metadata(artifact: &str, version: &str) -> String {
    format!(
        "<metadata><groupId>example</groupId><artifactId>{artifact}</artifactId><versioning><versions>\
         <version>{version}</version></versions></versioning></metadata>"
    )
}

/// A group of two members. The first misbehaves, and the second is independent of it.
struct Trial {
    anon: Person,
    name: String,
    ill: Upstream,
    well: Upstream,
}

impl Trial {
    fn new(world: &World, number: usize) -> Self {
        let trial =
            Self { anon: world.anon(), name: format!("all-{number}"), ill: Upstream::start(), well: Upstream::start() };
        let members = [("ill", &trial.ill), ("well", &trial.well)].map(|(name, upstream)| {
            let name = format!("{name}-{number}");
            let remote = json!({ "urls": [upstream.url()], "fresh_s": 0, "missing_s": 0 });
            world.make(&json!({ "name": name, "format": "maven", "kind": "remote", "remote": remote }));
            name
        });
        group(world, &trial.name, &members.each_ref().map(String::as_str));
        trial
    }

    /// The answer to a client, or the error if its connection breaks.
    fn get(&self, path: &str) -> io::Result<Answer> {
        self.anon.on(&mut self.anon.connect()?, "GET", &format!("/repository/{}/{path}", self.name), &[], b"")
    }

    fn see(&self, (way, misbehave): Way) {
        let there = |path: &str| format!("/{path}");
        let ill = |path: &str| misbehave(&self.ill, &there(path));
        let proven = way == "404" || way == "410";
        // Not even a status that is a success: the answer looks like a file.
        let given = way == "broken XML";
        let is_unknown = |status: u16| (502..=504).contains(&status) || way == "403" && status == 403;
        self.ill.file(&there(LAMP), metadata("lamp", "1.0"));
        self.well.file(&there(LAMP), metadata("lamp", "2.0"));
        assert_eq!(all(&self.get(LAMP).unwrap().expect(200), "version"), ["1.0", "2.0"], "{way}");

        // A file that no other member has is not proven to be missing.
        ill(ARTIFACT);
        match self.get(ARTIFACT) {
            Err(_) => assert!(way.contains("large"), "{way}: the connection breaks in the middle only"),
            Ok(answer) if proven => assert_eq!(answer.status, 404, "{way}"),
            Ok(answer) if given => assert_eq!(answer.status, 200, "{way}"),
            Ok(answer) => assert!(is_unknown(answer.status), "{way}: {answer:?}"),
        }
        // The last metadata of the member still counts.
        ill(LAMP);
        let known = self.get(LAMP).unwrap().expect(200);
        let versions: &[&str] = if proven { &["2.0"] } else { &["1.0", "2.0"] };
        assert_eq!(all(&known, "version"), versions, "{way}");
        assert_eq!(known.header("daylight-stale").is_none(), proven, "{way}");
        // Without earlier metadata, the answer is marked as incomplete.
        ill(WICK);
        self.well.file(&there(WICK), metadata("wick", "2.0"));
        let too_little = self.get(WICK).unwrap().expect(200);
        assert_eq!(all(&too_little, "version"), ["2.0"], "{way}");
        let stale = too_little.header("daylight-stale").unwrap_or_default();
        assert!(proven && stale.is_empty() || stale.starts_with("upstream_"), "{way}: {stale}");
        // After its recovery it is used at once, except for a pause that it requested, and except after a hang, which
        // leaves its circuit open for a while.
        self.ill.plug();
        self.ill.file(&there(WICK), metadata("wick", "1.0"));
        let again = self.get(WICK).unwrap().expect(200);
        if !way.contains("Retry-After") && way != "says nothing at all" {
            assert_eq!(all(&again, "version"), ["1.0", "2.0"], "{way}");
            assert_eq!(again.header("daylight-stale"), None, "{way}");
        }

        // It fails again. A file of the other member is answered, unless it had begun to arrive.
        ill(OTHER);
        self.well.file(&there(OTHER), "wick");
        match self.get(OTHER) {
            Err(_) => assert!(way.contains("large"), "{way}"),
            Ok(answer) => assert!(given || answer.expect(200).text() == "wick", "{way}"),
        }
        let checksum = self.get(&format!("{LAMP}.sha1")).unwrap().expect(200);
        assert_eq!(checksum.header("daylight-stale").is_none(), proven, "{way}");
        // If no member has metadata, the answer is unknown.
        ill(OIL);
        for path in [OIL, &format!("{OIL}.sha1")] {
            let status = self.get(path).unwrap().status;
            assert!(proven && status == 404 || is_unknown(status), "{way}: {status}");
        }
    }
}

#[test]
fn in_whatever_way_a_member_misbehaves_what_is_known_is_answered_and_nothing_is_called_missing() {
    let world = World::start_with(&[
        ("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "1"),
        ("DAYLIGHT_UPSTREAM_IDLE_TIMEOUT_S", "1"),
        ("DAYLIGHT_UPSTREAM_SLOW_TIMEOUT_S", "2"),
    ]);
    let trials: Vec<_> = (0..WAYS.len()).map(|number| Trial::new(&world, number)).collect();
    thread::scope(|scope| {
        for (trial, way) in trials.iter().zip(WAYS) {
            scope.spawn(move || trial.see(way));
        }
    });
}

#[test]
fn whoever_says_nothing_at_all_is_not_waited_for_by_those_who_have_an_answer() {
    let mut scene = Scene::new();
    scene.near.says(&format!("/{LAMP}"), Says::bytes(metadata("lamp", "1.0")).silent());
    scene.far.file(&format!("/{LAMP}"), metadata("lamp", "2.0"));
    let answer = scene.get(LAMP).expect(200);
    assert_eq!(
        (all(&answer, "version"), answer.header("daylight-stale")),
        (vec!["2.0".into()], Some("upstream_timeout"))
    );
    // It is not requested again each time: its late answer is used as soon as it arrives.
    scene.near.release(&format!("/{LAMP}"));
    assert_eq!(all(&scene.get(LAMP).expect(200), "version"), ["1.0", "2.0"]);
    assert_eq!(scene.near.count(&format!("/{LAMP}")), 1);
    scene.world.stop();
    let events = events(&scene.world);
    let event = events.iter().find(|event| event["id"] == answer.header("daylight-event").unwrap()).unwrap();
    let said: Vec<(&str, &str)> = event["members"].as_array().unwrap().iter().map(record).collect();
    assert_eq!(said, [("ours", "not_found"), ("near", "timeout"), ("far", "hit")]);
}

/// The outcome and the reason of a member in the event.
fn record(member: &Value) -> (&str, &str) {
    (member["member"].as_str().unwrap(), member["said"].as_str().unwrap())
}

#[test]
fn at_a_start_with_a_member_down_what_it_gave_is_there_and_what_it_may_have_is_not_called_missing() {
    let mut scene = Scene::new();
    scene.near.file(&format!("/{JAR}"), "near");
    scene.near.file(&format!("/{LAMP}"), metadata("lamp", "1.0"));
    scene.far.file(&format!("/{LAMP}"), metadata("lamp", "2.0"));
    scene.get(JAR).expect(200);
    let before = scene.get(LAMP).expect(200);
    scene.world.stop();
    scene.near.unplug();
    scene.world.resume();
    assert_eq!(scene.get(JAR).expect(200).text(), "near");
    assert_eq!(scene.get(LAMP).expect(200).body, before.body);
    scene.get(OIL).expect(502);
    scene.get(&format!("{OIL}.sha1")).expect(502);
    scene.get(OTHER).expect(502);
    scene.near.plug();
    scene.near.file(&format!("/{OTHER}"), "near");
    assert_eq!(scene.get(OTHER).expect(200).text(), "near");
}
