//! Object storage that gives other bytes, loses objects, or acknowledges uploads that it does not store.

use super::{blobs, forget_copies, shared};
use crate::world::{FIRST, Gem, Lie, ObjectProduct, Relay, World};

const FILE: &str = "gems/lamp-1.0.0.gem";

#[test]
fn bytes_that_differ_or_break_off_are_never_served() {
    let storage = shared(ObjectProduct::S3Proxy);
    let relay = Relay::to(storage.address());
    let mut world = World::start_with_file(&storage.settings("differ", &relay.url()));
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0").payload(&[7; 100_000])).expect(200);
    let published = world.anon().file(FIRST, FILE).expect(200).body;
    world.stop();
    forget_copies(&world);
    world.resume();
    for (lie, names) in [(Lie::OtherBytes, "differ/blobs/"), (Lie::Truncated, "s3://packages/differ")] {
        relay.tells(lie);
        told(&world, names);
        assert!(relay.tells(Lie::None) > 0, "{lie:?}");
    }
    assert_eq!(world.anon().file(FIRST, FILE).expect(200).body, published);
    world.await_log("object storage sent other bytes");
}

#[test]
fn a_published_file_whose_object_is_lost_is_an_error_and_not_absent() {
    let storage = shared(ObjectProduct::S3Proxy);
    let mut world = super::world_on(&storage, "lost");
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.stop();
    forget_copies(&world);
    let [object] = &blobs(&storage, "lost")[..] else { panic!("one package") };
    storage.delete(object);
    world.resume();
    told(&world, "lost/blobs/");
    let ready = world.anon().get("/health/ready").expect(200);
    assert!(ready.text().contains("degraded: published files without bytes: 1"), "{}", ready.text());
    world.anon().file(FIRST, "info/lamp").expect(200);
    world.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
}

#[test]
fn an_upload_that_is_acknowledged_with_an_error_in_its_body_is_not_published() {
    let storage = shared(ObjectProduct::S3Proxy);
    let relay = Relay::to(storage.address());
    let world = World::start_with_file(&storage.settings("error-body", &relay.url()));
    relay.tells(Lie::ErrorBody);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(503);
    world.anon().file(FIRST, FILE).expect(404);
    assert!(relay.tells(Lie::None) > 0);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    assert_eq!(blobs(&storage, "error-body").len(), 1);
}

/// The answer tells a stranger that the storage is at fault, and its event names the storage or the object.
#[track_caller]
fn told(world: &World, names: &str) {
    let answer = world.anon().file(FIRST, FILE).expect(503);
    assert!(answer.text().contains("object storage") && answer.text().contains("hint: "), "{}", answer.text());
    assert!(!answer.text().contains(names), "{}", answer.text());
    let event = world.event(answer.header("daylight-event").unwrap());
    assert!(event.to_string().contains(names), "{event}");
}
