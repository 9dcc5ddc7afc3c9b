//! The disk of object storage is full.

use super::{blobs, world_on};
use crate::world::{FIRST, Gem, ObjectProduct, ObjectServer, await_true};

const DISK: u64 = 200 << 20;

#[test]
fn while_the_disk_of_object_storage_is_full_packages_are_served_and_nothing_is_published() {
    for product in [ObjectProduct::S3Proxy, ObjectProduct::SeaweedFs] {
        let mut storage = ObjectServer::start_on_small_disk(product, DISK);
        let mut world = world_on(&storage, "full");
        let admin = world.admin();
        let push = |version| admin.push(FIRST, &Gem::new("lamp", version).payload(&[7; 1 << 20]));
        push("1.0.0").expect(200);
        storage.disk().fill();
        let refused = push("1.1.0").expect(503);
        assert!(refused.text().contains("hint: ") && refused.header("retry-after").is_some(), "{}", refused.text());
        world.anon().file(FIRST, "gems/lamp-1.0.0.gem").expect(200);
        world.anon().file(FIRST, "gems/lamp-1.1.0.gem").expect(404);
        world.anon().get("/health/ready").expect(200);
        assert_eq!(blobs(&storage, "full").len(), 1);
        // A change that has no bytes needs no space there.
        admin.yank(FIRST, "lamp", "1.0.0").expect(200);
        storage.disk().empty();
        if product == ObjectProduct::SeaweedFs {
            // It looks for space once a minute, and when it starts.
            storage.kill();
            storage.resume();
        }
        await_true("publishing goes on by itself", || push("1.1.0").status == 200);
        world.anon().file(FIRST, "gems/lamp-1.1.0.gem").expect(200);
        world.stop();
        let said = world.offline(&["check", "--verify"]).output().unwrap();
        assert!(said.status.success(), "{said:?}");
    }
}
