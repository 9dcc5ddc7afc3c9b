//! Packages whose bytes object storage keeps: SeaweedFS and S3Proxy, real ones. The machine may be lost, and the storage may be away or lie.

mod credentials;
mod full;
mod lies;
mod outage;

use crate::rebuild::{everything, fill};
use crate::world::{ObjectProduct, ObjectServer, World, program};
use std::fs;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Hides the port from answers.
const SAME_URL: &[(&str, &str)] = &[("DAYLIGHT_SERVER_PUBLIC_URL", "https://gems.example")];

/// The settings of a server whose object storage is away: nobody listens there.
pub(crate) const NOWHERE: &str = "[store]\nobjects = \"s3://packages/nowhere\"\nendpoint = \"http://127.0.0.1:9\"\nregion = \"us-east-1\"\ncredentials = \"env:OBJECTS_KEYS\"\n";
/// The variable with the keys in these settings.
pub(crate) const NOWHERE_KEYS: (&str, &str) = ("OBJECTS_KEYS", "key:secret");

/// A server that all tests of a run share, each with a prefix of its own.
pub(crate) fn shared(product: ObjectProduct) -> Arc<ObjectServer> {
    static SHARED: [Mutex<Weak<ObjectServer>>; 2] = [const { Mutex::new(Weak::new()) }; 2];
    let mut known = SHARED[product as usize].lock().unwrap_or_else(PoisonError::into_inner);
    let server = known.upgrade().unwrap_or_else(|| Arc::new(ObjectServer::start(product)));
    *known = Arc::downgrade(&server);
    server
}

/// A server of packages on an empty folder, whose objects are in `storage` below this prefix.
fn world_on(storage: &ObjectServer, prefix: &str) -> World {
    World::start_with_file_and(&storage.settings(prefix, &storage.url()), SAME_URL)
}

/// Deletes the copies of all packages on the disk of a stopped server.
fn forget_copies(world: &World) {
    let blobs = world.files().into_iter().filter(|path| path.iter().any(|part| part == "blobs"));
    assert!(blobs.map(|blob| fs::remove_file(blob).unwrap()).count() > 0);
}

/// The objects with the bytes of packages.
fn blobs(storage: &ObjectServer, prefix: &str) -> Vec<String> {
    storage.objects(prefix).into_iter().filter(|key| key.contains("/blobs/")).collect()
}

#[test]
fn seaweedfs_keeps_packages_whose_copies_on_the_disk_are_lost() {
    copies_may_be_lost(&shared(ObjectProduct::SeaweedFs), "kept/seaweed");
}

#[test]
fn s3proxy_keeps_packages_whose_copies_on_the_disk_are_lost() {
    copies_may_be_lost(&shared(ObjectProduct::S3Proxy), "kept/s3proxy");
}

fn copies_may_be_lost(storage: &ObjectServer, prefix: &str) {
    let mut world = world_on(storage, prefix);
    fill(&world);
    let before = everything(&world);
    world.stop();
    let kept = blobs(storage, prefix);
    assert!(kept.len() > 10 && kept.iter().all(|key| key.ends_with(".0")), "{kept:?}");
    let segments = storage.objects(prefix).into_iter().filter(|key| key.contains("/segments/")).count();
    assert!(segments > 0, "the journal is there, too");
    forget_copies(&world);
    world.resume();
    assert_eq!(everything(&world), before);
    world.stop();
    assert!(world.run("check").status.success());
}

#[test]
fn a_lost_folder_is_made_again_from_object_storage() {
    let storage = shared(ObjectProduct::S3Proxy);
    let mut world = world_on(&storage, "folder");
    fill(&world);
    let before = everything(&world);
    world.stop();
    fs::remove_dir_all(world.data()).unwrap();
    let file = world.data().with_file_name("daylight.toml");
    let rebuilt = program(&["rebuild", "--data"]).arg(world.data()).env("DAYLIGHT_CONFIG", file).output().unwrap();
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    world.resume();
    assert_eq!(everything(&world), before);
}
