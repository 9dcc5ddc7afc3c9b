//! The credentials for object storage: in a file that is replaced while the server runs.

use super::shared;
use crate::world::{FIRST, Gem, ObjectProduct, World, write};

#[test]
fn keys_in_a_file_are_replaced_while_the_server_runs() {
    let storage = shared(ObjectProduct::S3Proxy);
    let folder = tempfile::tempdir().unwrap();
    let (keys, good) = (folder.path().join("keys"), std::fs::read_to_string(storage.keys()).unwrap());
    write(&keys, &good);
    let settings = storage.settings("keys", &storage.url());
    let settings = settings.replace(storage.keys().to_str().unwrap(), keys.to_str().unwrap());
    let world = World::start_with_file(&settings);
    let push = |version: &str| world.admin().push(FIRST, &Gem::new("lamp", version));
    push("1.0.0").expect(200);
    write(&keys, "lamp:wrong\n");
    let refused = push("1.1.0").expect(503);
    assert!(refused.text().contains("hint: "), "{}", refused.text());
    assert!(!refused.text().contains("wrong"), "the key is a secret");
    write(&keys, &good);
    push("1.1.0").expect(200);
}
