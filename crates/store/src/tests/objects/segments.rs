//! The segments in object storage, and which folder may write there.

use super::*;
use crate::Seq;
use crate::truth::suite::setting;
use futures_util::TryStreamExt as _;
use object_store::ObjectStore as _;
use std::collections::BTreeSet;

impl World {
    async fn segments(&self) -> BTreeSet<String> {
        let listed: Vec<_> = self.there.inner.list(Some(&self.objects.segments())).try_collect().await.unwrap();
        listed.iter().filter_map(|meta| meta.location.filename().map(str::to_owned)).collect()
    }
}

#[tokio::test]
async fn all_rows_are_in_segments_in_object_storage_when_the_store_has_closed() {
    let world = World::new().await;
    for number in 1..=3 {
        world.publish(number).await.unwrap();
    }
    world.store.close();
    let mut rows = Vec::new();
    for name in world.segments().await {
        let bytes = world.there.inner.get(&world.objects.segment(&name)).await.unwrap().bytes().await.unwrap();
        rows.extend(crate::segment(&name, &bytes).unwrap().unwrap().into_iter().map(|row| row.seq));
    }
    assert_eq!(rows, (1..=4).map(Seq).collect::<Vec<_>>());
}

#[tokio::test]
async fn small_segments_go_once_a_merged_one_has_their_rows() {
    let mut world = World::new().await;
    for round in 0..5 {
        let changes = (0..1000).map(|number| setting(&format!("{round}-{number}"), 1.into())).collect();
        world.store.commit(Batch { at: world.clock.now(), ..batch(vec![], changes) }, &mut job()).await.unwrap();
        world.store.ship_now(&mut job()).await.unwrap();
    }
    world.reopen(world.objects.clone());
    world.store.close();
    let names = world.segments().await;
    assert!(names.iter().any(|name| name.ends_with(".gz")) && names.len() < 6, "{names:?}");
    let all = crate::journal::segments::list(&crate::disk::RealDisk, world.store.layout()).unwrap();
    assert_eq!(names, all.iter().map(|segment| segment.name()).collect());
}

#[tokio::test]
async fn a_folder_with_another_journal_writes_nothing_to_the_place() {
    let world = World::new().await;
    world.publish(1).await.unwrap();
    world.store.close();
    let names = world.segments().await;
    // An earlier state, and another history of the same length.
    for more in [0, 1] {
        let folder = tempfile::tempdir().unwrap();
        let store = open_with(folder.path(), &world.clock, None).unwrap();
        for number in 0..=more {
            let name = format!("other-{number}");
            let change = batch(vec![], vec![repository(0, &name, &[], false)]);
            store.commit(Batch { at: world.clock.now(), ..change }, &mut job()).await.unwrap();
        }
        store.close();
        let store = open_with(folder.path(), &world.clock, Some(world.objects.clone())).unwrap();
        let other = World {
            folder,
            clock: world.clock.clone(),
            objects: world.objects.clone(),
            there: world.there.clone(),
            store,
        };
        let refused = error_of(other.publish(7).await.unwrap_err());
        assert!(matches!(refused, Error::ObjectsAhead { .. }) && refused.hint().is_some(), "{refused}");
        assert!(matches!(other.store.collect(&mut job()).await, Err(Error::ObjectsAhead { .. })));
        other.store.close();
        assert_eq!(world.segments().await, names);
    }
}

#[tokio::test]
async fn a_store_starts_while_object_storage_is_away_and_catches_up() {
    let mut world = World::new().await;
    let digest = world.publish(1).await.unwrap();
    world.there.set(Fault::Fails);
    world.reopen(world.objects.clone());
    assert_eq!(world.read(digest).await.unwrap(), "rack-1");
    assert!(world.publish(2).await.is_err());
    world.there.set(Fault::None);
    world.publish(2).await.unwrap();
    world.store.close();
    assert!(world.segments().await.iter().any(|name| name.contains("-00000000000000000003-")));
}

#[tokio::test]
async fn a_lost_folder_without_a_database_comes_back_from_its_segments_and_objects() {
    let world = World::new().await;
    let digest = world.publish(1).await.unwrap();
    world.store.close();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert!(crate::fetch_segments(&data, &world.objects, &mut |_| ()).unwrap() > 0);
    assert_eq!(crate::rebuild(&data, &mut |_| ()).unwrap().last, Seq(2));
    assert_eq!(crate::fetch_segments(&data, &world.objects, &mut |_| ()).unwrap(), 0);
    let store = open_with(&data, &world.clock, Some(world.objects.clone())).unwrap();
    assert_eq!(store.read_blob(digest, &mut job()).await.unwrap(), "rack-1");
    let again =
        World { folder, clock: world.clock.clone(), objects: world.objects.clone(), there: world.there.clone(), store };
    again.publish(2).await.unwrap();
    again.store.close();
    // An earlier state gets what it lacks, and another history nothing.
    assert!(crate::fetch_segments(world.folder.path(), &world.objects, &mut |_| ()).unwrap() > 0);
    assert_eq!(crate::rebuild(world.folder.path(), &mut |_| ()).unwrap().last, Seq(3));
}

#[tokio::test]
async fn a_check_looks_for_each_blob_in_object_storage_and_a_backup_tells_which_are_only_there() {
    let world = World::new().await;
    let all = [world.publish(1).await.unwrap(), world.publish(2).await.unwrap(), world.publish(3).await.unwrap()];
    world.lose(&all[0]);
    let check = |verify| world.store.check(verify, &mut |_| ()).unwrap();
    let clean = check(true);
    assert_eq!((clean.problems, clean.objects), (vec![], 3));
    world.there.inner.put(&world.key(&all[1], 0), "Rack-2".into()).await.unwrap();
    world.there.inner.delete(&world.key(&all[2], 0)).await.unwrap();
    let damaged = crate::Problem::ObjectDamaged { digest: all[1], found: Hashes::of(b"Rack-2").sha256.to_string() };
    assert_eq!(check(false).problems, [crate::Problem::ObjectMissing(all[2])]);
    let mut found = check(true).problems;
    found.sort_by_key(|problem| *problem != damaged);
    assert_eq!(found, [damaged, crate::Problem::ObjectMissing(all[2])]);
    world.store.close();
    let unchecked = crate::check(world.folder.path(), true, &mut |_| ()).unwrap();
    assert_eq!((unchecked.problems, unchecked.unchecked), (vec![], 1));
    let target = tempfile::tempdir().unwrap();
    let done = crate::backup(world.folder.path(), target.path(), false, &mut |_| ()).unwrap();
    let elsewhere = Some(crate::Elsewhere { url: world.objects.url.clone(), blobs: 1 });
    assert_eq!((done.missing, done.elsewhere), (vec![], elsewhere.clone()));
    let restored = tempfile::tempdir().unwrap();
    let done = crate::restore(target.path(), restored.path(), &mut |_| ()).unwrap();
    assert_eq!((done.missing, done.elsewhere), (vec![], elsewhere));
    assert!(matches!(open_with(restored.path(), &world.clock, None), Err(Error::ObjectsUnset { .. })));
    let store = open_with(restored.path(), &world.clock, Some(world.objects.clone())).unwrap();
    assert_eq!(store.read_blob(all[0], &mut job()).await.unwrap(), "rack-1");
}
