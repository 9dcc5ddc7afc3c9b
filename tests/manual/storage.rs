//! The stage of the page about object storage: a server whose packages are in S3Proxy, with the settings of the page.

use super::stage::Stage;
use crate::world::{ObjectProduct, ObjectServer, World};
use std::fs;

pub(super) fn stage() -> Stage {
    let storage = ObjectServer::start(ObjectProduct::S3Proxy);
    Stage::on(World::start()).before("curl -fsS http://127.0.0.1:8080/health/ready", move |stage| begin(stage, storage))
}

/// Starts the server again, on an empty folder, with the settings of the page.
fn begin(stage: &mut Stage, storage: ObjectServer) {
    stage.world.stop();
    fs::remove_dir_all(stage.world.data()).unwrap();
    let page = fs::read_to_string(super::page::root().join("docs/object-storage.md")).unwrap();
    let (_, toml) = page.split_once("```toml\n").unwrap();
    let toml = toml.split("```").next().unwrap().replace("https://s3.example", &storage.url());
    stage.world.configure(&toml.replace("/etc/daylight/objects", storage.keys().to_str().unwrap()));
    stage.resume();
    stage.hold(storage);
}
