//! Answers from a map in memory, with a server of files that counts its requests.

pub(crate) mod trial;

use crate::as_of::Past;
use crate::content::{Freshness, How};
use crate::error::Error;
use crate::error::unlisted::Unlisted;
use crate::maven::koji::change::{Change, Gone};
use crate::maven::koji::words::name;
use format::koji::model::{BuildId, EventId, Nvr, TagId};
use store::{Hashes, Seq};
use telemetry::{Millis, Reason};
use trial::{Build, DAY, NOW, Trial, bytes, cooldown, event_of, fetch, reason};

const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";
const POM: &str = "org/example/lamp/1.0/lamp-1.0.pom";
const FILES: &[(&str, &[u8])] = &[(JAR, b"light"), (POM, b"<project/>")];
const LAMP: Build<'_> = Build { id: 7, nvr: "lamp", event: 10, files: FILES };
const PLACE: &str = "/top/packages/lamp/1.0/1/maven/org/example/lamp/1.0/lamp-1.0.jar";

#[tokio::test]
async fn a_body_without_an_end_is_not_received_beyond_the_size_of_the_file() {
    let trial = Trial::begin().await;
    trial.tag(LAMP, NOW, 1);
    trial.files.is_endless.store(true, std::sync::atomic::Ordering::Relaxed);
    for _ in 0..2 {
        assert_eq!(reason(trial.fetch(JAR).await.0), Reason::UpstreamInvalid);
    }
    trial.files.is_endless.store(false, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(trial.text(JAR).await.unwrap(), "light");
}

fn past(event: u64) -> Past {
    let until = Millis(event_of(event).at_ms);
    Past { through: Seq(0), until, exceptions_by: until, koji: Some(EventId(event)) }
}

fn untagged(event: u64) -> Change {
    let (build, tag, by) = (BuildId(7), TagId(1), Some("bob".to_owned()));
    Change::Gone { build, tag, why: Gone::Untagged, event: Some(event_of(event)), by }
}

#[tokio::test]
async fn a_file_of_a_build_costs_one_call_and_its_checksums_none() {
    let trial = Trial::begin().await;
    trial.tag(LAMP, NOW, 1);
    let md5 = trial.text(&format!("{JAR}.md5")).await.unwrap();
    assert_eq!((md5, trial.asked().len()), (Hashes::of(b"light").md5.unwrap(), 0), "the hub has it");
    for _ in 0..2 {
        assert_eq!(trial.text(JAR).await.unwrap(), "light");
    }
    assert_eq!(trial.text(&format!("{JAR}.sha1")).await.unwrap(), Hashes::of(b"light").sha1);
    assert_eq!(trial.text(&format!("{JAR}.sha512")).await.unwrap(), Hashes::of(b"light").sha512.unwrap());
    assert_eq!(trial.asked(), [PLACE]);
}

#[tokio::test]
async fn a_checksum_of_another_algorithm_than_that_of_the_hub_is_computed_from_the_bytes() {
    let trial = Trial::begin().await;
    trial.tag(LAMP, NOW, 1);
    assert_eq!(trial.text(&format!("{JAR}.sha256")).await.unwrap(), Hashes::of(b"light").sha256.to_string());
    assert_eq!(trial.asked(), [PLACE]);
}

#[tokio::test]
async fn an_unknown_path_is_missing_without_a_call_and_the_explanation_says_why() {
    let trial = Trial::begin().await;
    trial.tag(LAMP, NOW, 1);
    for (path, why) in [
        ("org/example/oil/1.0/oil-1.0.jar", "no build in the tags has the folder `org/example/oil/1.0`"),
        ("org/example/lamp/1.0/lamp-1.0-sources.jar", "the build `lamp-1.0-1` in `release` has the folder"),
        ("org/example/oil/maven-metadata.xml", "no build in the tags has the folder"),
        ("org/example/oil/1.0/oil-1.0.jar.sha1", "no build in the tags has the folder `org/example/oil/1.0`"),
        (".meta/prefixes.txt", "no build in the tags"),
        ("archetype-catalog.xml", "no build in the tags"),
    ] {
        let (found, trace) = trial.fetch(path).await;
        let Err(Error::Unlisted(Unlisted { stale: None, until: Some(_), .. })) = found else {
            panic!("{path}: {found:?}")
        };
        assert!(trace.told.as_deref().unwrap_or_default().contains(why), "{path}: {:?}", trace.told);
    }
    trial.apply(&[untagged(12)], NOW, 2);
    let (found, trace) = trial.fetch(JAR).await;
    assert!(matches!(found, Err(Error::Unlisted(_))));
    let told = trace.told.unwrap();
    assert!(told.contains("was untagged from `release` at event 12 on ") && told.contains(" by bob"), "{told}");
    let told = trial.fetch("org/example/lamp/maven-metadata.xml").await.1.told.unwrap();
    assert!(told.contains("folders below `org/example/lamp`, and none of these builds is in the tags now"), "{told}");
    let before = Past { koji: None, ..past(0) };
    let told = fetch(&trial.as_of(before), JAR).await.1.told.unwrap();
    assert!(told.contains("that moment is before the first look at the hub, at "), "{told}");
    assert_eq!(trial.asked(), [""; 0]);
}

#[tokio::test]
async fn bytes_that_do_not_match_the_hub_are_refused_unless_the_settings_take_them() {
    let trial = Trial::begin().await;
    trial.tag(LAMP, NOW, 1);
    for wrong in [&b"lifht"[..], b"lights"] {
        trial.files.at.lock().unwrap().insert(PLACE.to_owned(), wrong.to_vec());
        assert_eq!(reason(trial.fetch(JAR).await.0), Reason::UpstreamInvalid);
    }
    for policy in ["warn", "ignore"] {
        let set = |record: &mut crate::record::RepositoryRecord| {
            record.remote.as_mut().unwrap().checksums = Some(policy.to_owned());
        };
        let trial = Trial::with(set).await;
        trial.tag(LAMP, NOW, 1);
        trial.files.at.lock().unwrap().insert(PLACE.to_owned(), b"lifht".to_vec());
        for _ in 0..2 {
            assert_eq!(trial.text(JAR).await.unwrap(), "lifht", "{policy}");
        }
        let sum = trial.text(&format!("{JAR}.md5")).await.unwrap();
        assert_eq!(
            (sum, trial.asked().len()),
            (Hashes::of(b"lifht").md5.unwrap(), 1),
            "{policy}: of the bytes that are answered"
        );
    }
}

#[tokio::test]
async fn the_list_of_versions_has_those_with_a_pom_in_the_order_of_maven_and_the_date_of_the_newest_tagging() {
    let trial = Trial::begin().await;
    trial.tag(LAMP, NOW, 1);
    let ten: &[(&str, &[u8])] = &[("org/example/lamp/1.10/lamp-1.10.pom", b"<project/>")];
    let nine: &[(&str, &[u8])] = &[("org/example/lamp/1.9/lamp-1.9.pom", b"<project/>")];
    let no_pom: &[(&str, &[u8])] = &[("org/example/lamp/2.0/lamp-2.0.jar", b"jar")];
    trial.tag(Build { id: 8, nvr: "lamp-ten", event: 20, files: ten }, NOW, 2);
    trial.tag(Build { id: 9, nvr: "lamp-nine", event: 15, files: nine }, NOW, 3);
    trial.tag(Build { id: 10, nvr: "lamp-two", event: 30, files: no_pom }, NOW, 4);
    let text = trial.text("org/example/lamp/maven-metadata.xml").await.unwrap();
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}"));
    assert!(at("<version>1.0</version>") < at("<version>1.9</version>"));
    assert!(at("<version>1.9</version>") < at("<version>1.10</version>"));
    assert!(!text.contains("2.0") && text.contains("<lastUpdated>19700121000000</lastUpdated>"), "{text}");
    let sum = trial.text("org/example/lamp/maven-metadata.xml.sha1").await.unwrap();
    assert_eq!((sum, trial.asked().len()), (Hashes::of(text.as_bytes()).sha1, 0));
}

#[tokio::test]
async fn plugins_of_a_group_come_from_the_poms_that_were_fetched() {
    let trial = Trial::begin().await;
    let pom = b"<project><artifactId>lamp-maven-plugin</artifactId><packaging>maven-plugin</packaging></project>";
    let path = "org/example/lamp-maven-plugin/1.0/lamp-maven-plugin-1.0.pom";
    trial.tag(Build { files: &[(path, pom)], ..LAMP }, NOW, 1);
    let group = "org/example/maven-metadata.xml";
    assert!(matches!(trial.fetch(group).await.0, Err(Error::Unlisted(_))));
    trial.text(path).await.unwrap();
    let text = trial.text(group).await.unwrap();
    assert!(text.contains("<prefix>lamp</prefix>") && text.contains("lamp-maven-plugin"), "{text}");
    trial.apply(&[untagged(12)], NOW, 2);
    assert!(matches!(trial.fetch(group).await.0, Err(Error::Unlisted(_))), "though it is in the cache");
    assert_eq!(trial.asked().len(), 1);
}

#[tokio::test]
async fn cached_bytes_are_the_answer_only_while_the_map_has_them() {
    let trial = Trial::begin().await;
    trial.tag(LAMP, NOW, 1);
    assert_eq!(trial.text(JAR).await.unwrap(), "light");
    let other: &[(&str, &[u8])] = &[(JAR, b"bright"), (POM, b"<project/>")];
    trial.tag(Build { id: 8, nvr: "lamp-again", event: 20, files: other }, NOW, 2);
    assert_eq!(trial.text(JAR).await.unwrap(), "bright");
    let gone =
        Change::Gone { build: BuildId(8), tag: TagId(1), why: Gone::Untagged, event: Some(event_of(21)), by: None };
    trial.apply(&[gone], NOW, 3);
    assert_eq!(trial.text(JAR).await.unwrap(), "light");
    trial.apply(&[untagged(22)], NOW, 4);
    assert!(matches!(trial.fetch(JAR).await.0, Err(Error::Unlisted(_))));
}

#[tokio::test]
async fn a_file_that_its_place_lacks_is_no_404() {
    let trial = Trial::begin().await;
    trial.tag(LAMP, NOW, 1);
    trial.files.at.lock().unwrap().clear();
    assert_eq!(reason(trial.fetch(JAR).await.0), Reason::KojiFileMissing);
    let flight = trial.remote.flight("org/any/1/any-1.jar", crate::upstream::flight::FlightLifetime::ToItsEnd);
    assert!(matches!(flight, Err(Error::NoSuchFile(_))), "no path is asked for that has no place");
}

#[tokio::test]
async fn while_the_hub_fails_files_still_come_and_lists_and_absences_say_so() {
    let trial = Trial::begin().await;
    trial.tag(LAMP, NOW, 1);
    trial.fail(Reason::UpstreamFailed);
    assert_eq!(trial.text(JAR).await.unwrap(), "light");
    let list = trial.fetch("org/example/lamp/maven-metadata.xml").await.0.unwrap();
    assert_eq!(list.freshness, Some(Freshness { how: How::Stale(Reason::UpstreamFailed), age_s: 30 }));
    let missing = trial.fetch("org/example/oil/1.0/oil-1.0.jar").await.0.unwrap_err();
    assert_eq!((missing.stale(), missing.fresh_until()), (Some(Reason::UpstreamFailed), Some(Millis(NOW))));
}

#[tokio::test]
async fn a_cooldown_counts_from_the_tagging_for_builds_of_the_first_look_and_from_first_sight_for_later_ones() {
    let trial = Trial::with(|record| cooldown(record, 30)).await;
    trial.tag(LAMP, NOW - DAY, 1);
    assert_eq!(trial.text(JAR).await.unwrap(), "light", "tagged 90 days ago");
    let later: &[(&str, &[u8])] = &[("org/example/oil/1.0/oil-1.0.pom", b"<project/>")];
    trial.tag(Build { id: 8, nvr: "oil", event: 11, files: later }, NOW, 2);
    let hidden = |found| matches!(found, Err(Error::Hidden(_)));
    assert!(hidden(trial.fetch("org/example/oil/1.0/oil-1.0.pom").await.0));
    assert!(hidden(trial.fetch("org/example/oil/1.0/oil-1.0.pom.md5").await.0));
    let list = trial.text("org/example/oil/maven-metadata.xml").await.unwrap();
    assert!(!list.contains("<version>"), "{list}");
}

#[tokio::test]
async fn an_event_of_koji_is_a_moment_and_a_deleted_build_has_no_files_unless_they_are_here() {
    let trial = Trial::begin().await;
    trial.tag(LAMP, NOW, 1);
    let before = trial.as_of(past(9));
    let (found, trace) = fetch(&before, JAR).await;
    assert!(matches!(found, Err(Error::Unlisted(Unlisted { until: None, .. }))));
    assert!(trace.told.unwrap().contains("at that moment no build had the folder"));
    assert_eq!(bytes(fetch(&trial.as_of(past(10)), JAR).await.0.unwrap()), b"light");
    let gone =
        Change::Gone { build: BuildId(7), tag: TagId(1), why: Gone::Deleted, event: Some(event_of(20)), by: None };
    trial.apply(&[gone], NOW, 2);
    let then = trial.as_of(past(15));
    assert_eq!(bytes(fetch(&then, JAR).await.0.unwrap()), b"light", "it was fetched before");
    assert!(matches!(fetch(&then, POM).await.0, Err(Error::Unkept(_))));
    assert!(matches!(fetch(&trial.as_of(past(20)), JAR).await.0, Err(Error::Unlisted(_))));
}

#[test]
fn a_build_is_named_as_people_name_it() {
    let nvr = Nvr { name: "org.example-lamp".into(), version: "1.0".into(), release: "2".into() };
    assert_eq!(name(&nvr), "org.example-lamp-1.0-2");
}
