//! The parts of a tag that follow an event, and the parts that are always those of today; the changes that a hub tells of,
//! and the others.

use super::{LAMP, built, lamp, numbers, tagged};
use crate::world::KojiHub;
use serde_json::json;

fn changed(hub: &KojiHub, since: u64, tag: u64) -> bool {
    hub.call("tagChangedSinceEvent", json!([since, [tag]]), json!({})).unwrap().as_bool().unwrap()
}

#[test]
fn a_tag_at_an_event_has_what_was_tagged_at_it_or_before() {
    let hub = KojiHub::start();
    let tag = hub.tag("maven-release");
    let (lamp, oil) = (lamp(&hub), built(&hub, "org.example-oil", "1.0", "org/example/oil/1.0"));
    let first = hub.tag_build(tag, lamp);
    let second = hub.tag_build(tag, oil);
    let third = hub.untag_build(tag, lamp);
    assert_eq!(tagged(&hub, tag, Some(first)), [lamp]);
    assert_eq!(tagged(&hub, tag, Some(second)), [oil, lamp], "the last one that was tagged comes first");
    assert_eq!(tagged(&hub, tag, Some(third)), [oil]);
    assert_eq!(tagged(&hub, tag, None), [oil]);
    assert_eq!(tagged(&hub, tag, Some(third + 1000)), [oil], "an event to come is like now");
    let early = hub.call("listTagged", json!([tag]), json!({ "event": 1 }));
    assert_eq!(early.unwrap_err().0, 1000, "the tag did not exist");
}

#[test]
fn a_change_that_commits_late_is_before_what_was_seen() {
    let hub = KojiHub::start();
    let tag = hub.tag("maven-release");
    let (lamp, oil) = (lamp(&hub), built(&hub, "org.example-oil", "1.0", "org/example/oil/1.0"));
    hub.tag_build(tag, built(&hub, "org.example-wick", "1.0", "org/example/wick/1.0"));
    // Its package is in the list of the tag by now, so that only the tagging itself is late.
    let late = hub.tag_late(tag, lamp);
    let seen = hub.tag_build(tag, oil);
    assert!(late < seen && hub.last_event() == seen);
    assert_eq!(tagged(&hub, tag, Some(seen)).len(), 2);
    hub.commit(late);
    assert_eq!(tagged(&hub, tag, Some(seen)).len(), 3, "the past is another one now");
    assert!(!changed(&hub, seen, tag), "after the last event nothing happened");
    assert!(changed(&hub, late - 1, tag));
    let late = hub.untag_late(tag, oil);
    let seen = hub.untag_build(tag, lamp);
    hub.commit(late);
    assert_eq!(tagged(&hub, tag, Some(seen)).len(), 1);
}

#[test]
fn a_deleted_build_leaves_the_past_too() {
    let hub = KojiHub::start();
    let (tag, lamp) = (hub.tag("maven-release"), lamp(&hub));
    let event = hub.tag_build(tag, lamp);
    hub.delete_build(lamp);
    assert_eq!(tagged(&hub, tag, Some(event)), [0_u64; 0]);
    let latest = hub.call("getLatestMavenArchives", json!([tag]), json!({ "event": event })).unwrap();
    assert_eq!(numbers(&latest, "state"), [2, 2], "this list still has its files");
    let build = hub.call("getBuild", json!([lamp]), json!({})).unwrap();
    assert_eq!(build["state"], 2);
    let archives = hub.call("listArchives", json!([]), json!({ "buildID": lamp, "type": "maven" })).unwrap();
    assert_eq!(archives.as_array().unwrap().len(), 2);
    let history = hub.call("queryHistory", json!([]), json!({ "tables": ["tag_listing"], "tag": tag })).unwrap();
    assert_eq!(history["tag_listing"][0]["build.state"], 2);
    assert_eq!(history["tag_listing"][0]["active"], json!(null));
}

#[test]
fn a_blocked_package_hides_its_builds_without_untagging_them() {
    let hub = KojiHub::start();
    let (tag, lamp) = (hub.tag("maven-release"), lamp(&hub));
    let before = hub.tag_build(tag, lamp);
    let blocked = hub.block(tag, "org.example-lamp");
    assert_eq!(tagged(&hub, tag, None), [0_u64; 0]);
    assert_eq!(tagged(&hub, tag, Some(before)), [lamp]);
    assert!(changed(&hub, before, tag));
    let tables = json!(["tag_listing", "tag_packages"]);
    let history = hub.call("queryHistory", json!([]), json!({ "tables": tables, "tag": tag, "afterEvent": before }));
    let history = history.unwrap();
    assert_eq!(history["tag_listing"], json!([]));
    assert_eq!(history["tag_packages"].as_array().unwrap().len(), 2, "a row ended, and one began: {history}");
    let tags = hub.call("listTags", json!([]), json!({ "build": lamp })).unwrap();
    assert_eq!(numbers(&tags, "id"), [tag]);
    hub.unblock(tag, "org.example-lamp");
    assert_eq!(tagged(&hub, tag, None), [lamp]);
    assert_eq!(tagged(&hub, tag, Some(blocked)), [0_u64; 0]);
}

#[test]
fn a_build_on_another_volume_is_a_change_without_history() {
    let hub = KojiHub::start();
    let (tag, lamp) = (hub.tag("maven-release"), lamp(&hub));
    let before = hub.tag_build(tag, lamp);
    hub.move_build(lamp, "attic");
    assert!(changed(&hub, before, tag));
    let history =
        hub.call("queryHistory", json!([]), json!({ "tag": tag, "afterEvent": before, "tables": ["tag_listing"] }));
    assert_eq!(history.unwrap()["tag_listing"], json!([]));
    let then = hub.call("listTagged", json!([tag]), json!({ "event": before })).unwrap();
    assert_eq!(then[0]["volume_name"], "attic", "the volume is today's, whatever the event");
}

#[test]
fn no_event_tells_of_an_added_file_or_of_another_name() {
    let hub = KojiHub::start();
    let (tag, lamp) = (hub.tag("maven-release"), lamp(&hub));
    let event = hub.tag_build(tag, lamp);
    hub.add_file(lamp, &format!("{LAMP}/lamp-1.0-sources.jar"), b"sources");
    hub.rename_tag(tag, "maven-shipped");
    assert_eq!(hub.last_event(), event);
    assert!(!changed(&hub, event, tag));
    let named = json!({ "type": "maven", "event": event, "extra": false });
    let answer = hub.call("listTaggedArchives", json!([tag]), named).unwrap();
    assert_eq!(answer[0].as_array().unwrap().len(), 3);
    assert_eq!(answer[1][0]["tag_name"], "maven-shipped");
}

#[test]
fn a_child_has_the_builds_of_its_parents_and_none_of_their_changes() {
    let hub = KojiHub::start();
    let (child, parent, above) = (hub.tag("maven-child"), hub.tag("maven-parent"), hub.tag("maven-above"));
    let (lamp, oil) = (lamp(&hub), built(&hub, "org.example-oil", "1.0", "org/example/oil/1.0"));
    hub.inherit(parent, above, 0);
    let inherits = hub.inherit(child, parent, 10);
    hub.tag_build(parent, lamp);
    let last = hub.tag_build(above, oil);
    let all = |event: u64| {
        let named = json!({ "type": "maven", "inherit": true, "event": event });
        numbers(&hub.call("listTagged", json!([child]), named).unwrap(), "build_id")
    };
    assert_eq!(all(last), [lamp, oil]);
    assert_eq!(tagged(&hub, child, None), [0_u64; 0]);
    assert!(!changed(&hub, inherits, child), "its own rows did not change");
    let parents = hub.call("getFullInheritance", json!([child]), json!({})).unwrap();
    assert_eq!(numbers(&parents, "parent_id"), [parent, above]);
    assert_eq!(numbers(&parents, "currdepth"), [1, 2]);
    // A package that is blocked in the child is hidden wherever it is inherited from.
    let blocked = hub.block(child, "org.example-oil");
    assert_eq!(all(blocked), [lamp]);
    let ended = hub.disinherit(child, parent);
    assert_eq!(all(ended), [0_u64; 0]);
    assert_eq!(all(last), [lamp, oil]);
}

#[test]
fn a_deleted_tag_is_a_fault_only_for_those_that_say_so() {
    let hub = KojiHub::start();
    let (tag, lamp) = (hub.tag("maven-release"), lamp(&hub));
    let event = hub.tag_build(tag, lamp);
    hub.delete_tag(tag);
    let list = |named| hub.call("listTagged", json!([tag]), named);
    assert_eq!(list(json!({ "strict": true })).unwrap_err().0, 1000);
    assert_eq!(list(json!({ "strict": false })).unwrap(), json!([]), "which looks like an empty tag");
    assert_eq!(tagged(&hub, tag, Some(event)), [lamp]);
    assert_eq!(hub.call("getTag", json!([tag]), json!({})).unwrap(), json!(null));
    assert_eq!(hub.call("listTags", json!([]), json!({ "pattern": "maven-*" })).unwrap(), json!([]));
}
