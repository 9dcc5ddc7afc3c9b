//! Object storage that is away, and comes back.

use super::{blobs, shared, world_on};
use crate::world::{FIRST, Gem, Lie, ObjectProduct, ObjectServer, Relay, World, await_true};

#[test]
fn while_object_storage_is_away_copies_are_served_and_nothing_is_published() {
    // Each of the two waits for the limits of a call.
    std::thread::scope(|scope| {
        scope.spawn(while_it_is_killed);
        while_it_is_suspended();
    });
}

fn while_it_is_killed() {
    let mut storage = ObjectServer::start(ObjectProduct::S3Proxy);
    let world = world_on(&storage, "away");
    let admin = world.admin();
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    storage.kill();
    let refused = admin.push(FIRST, &Gem::new("lamp", "1.1.0")).expect(503);
    assert!(refused.header("retry-after").is_some() && refused.text().contains("hint: "), "{}", refused.text());
    assert!(!refused.text().contains("s3:") && !refused.text().contains("127.0.0.1"), "{}", refused.text());
    let event = world.event(refused.header("daylight-event").unwrap());
    assert!(event.to_string().contains("s3://packages/away"), "{event}");
    world.anon().file(FIRST, "gems/lamp-1.0.0.gem").expect(200);
    world.anon().file(FIRST, "info/lamp").expect(200);
    world.anon().get("/health/ready").expect(200);
    // A change that has no bytes needs no object storage.
    admin.yank(FIRST, "lamp", "1.0.0").expect(200);
    storage.resume();
    await_true("publishing goes on by itself", || admin.push(FIRST, &Gem::new("lamp", "1.1.0")).status == 200);
    assert_eq!(blobs(&storage, "away").len(), 2);
}

fn while_it_is_suspended() {
    let storage = ObjectServer::start(ObjectProduct::S3Proxy);
    let world = world_on(&storage, "silent");
    let admin = world.admin();
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    storage.suspend();
    let refused = admin.push(FIRST, &Gem::new("lamp", "1.1.0")).expect(503);
    assert!(!refused.text().contains("s3:"), "{}", refused.text());
    world.await_log("did not answer within");
    world.anon().file(FIRST, "gems/lamp-1.0.0.gem").expect(200);
    storage.run_on();
    await_true("publishing goes on by itself", || admin.push(FIRST, &Gem::new("lamp", "1.1.0")).status == 200);
}

#[test]
fn a_push_outlasts_a_short_failure_of_object_storage() {
    let storage = shared(ObjectProduct::S3Proxy);
    let relay = Relay::to(storage.address());
    let world = World::start_with_file(&storage.settings("short", &relay.url()));
    let admin = world.admin();
    relay.tells(Lie::Refused(500, ""));
    std::thread::scope(|scope| {
        let push = scope.spawn(|| admin.push(FIRST, &Gem::new("lamp", "1.0.0")));
        await_true("an upload fails", || relay.changed() > 0);
        relay.tells(Lie::None);
        push.join().unwrap().expect(200);
    });
}

#[test]
fn storage_that_is_full_or_busy_is_told_and_asked_again() {
    let storage = shared(ObjectProduct::S3Proxy);
    let relay = Relay::to(storage.address());
    let world = World::start_with_file(&storage.settings("busy", &relay.url()));
    let admin = world.admin();
    relay.tells(Lie::Refused(403, ""));
    let refused = admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(503);
    assert!(refused.text().contains("hint: "), "{}", refused.text());
    world.await_log("403");
    // It asks for more time than a client would wait.
    relay.tells(Lie::Refused(503, "Retry-After: 3600\r\n"));
    let refused = admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(503);
    assert!(!refused.text().contains("127.0.0.1"), "{}", refused.text());
    // The log has this cause, too, although the outage began with another one.
    world.await_log("requested a pause");
    assert_eq!(relay.tells(Lie::None), 1, "it was asked once");
    assert!(blobs(&storage, "busy").is_empty());
}
