//! What the collector deletes in object storage, and that no late deletion meets bytes that were published again.

use super::*;
use crate::truth::suite::entry;
use crate::{State, Withdrawal};

impl World {
    async fn purge(&self, number: u32) {
        let why = Withdrawal::Purged { why: "a secret".into() };
        let entry = entry("rack", number, State::Live).withdrawn(why, self.clock.now());
        self.change(Change::Entry { repository: R, entry }).await.unwrap();
    }

    async fn collect(&self) -> u64 {
        self.store.collect(&mut job()).await.unwrap().collected
    }
}

#[tokio::test]
async fn the_object_goes_after_the_row_that_ends_its_generation_and_the_next_one_has_another_name() {
    let world = World::new().await;
    let digest = world.publish(1).await.unwrap();
    world.purge(1).await;
    assert_eq!(world.collect().await, 1);
    let generation = world.store.last().0;
    assert!(!world.has_object(&digest, 0).await && !world.is_on_disk(&digest));
    assert!(matches!(world.read(digest).await, Err(Error::BlobMissing(_))));
    assert_eq!(world.publish(1).await.unwrap(), digest);
    assert!(world.has_object(&digest, generation).await && !world.has_object(&digest, 0).await);
    // The deletion that somebody sent long ago.
    world.there.inner.delete(&world.key(&digest, 0)).await.unwrap();
    world.lose(&digest);
    assert_eq!(world.read(digest).await.unwrap(), "rack-1");
}

#[tokio::test]
async fn a_blob_that_is_only_in_object_storage_is_collected_too() {
    let world = World::new().await;
    let (gone, live) = (world.publish(1).await.unwrap(), world.publish(2).await.unwrap());
    [gone, live].iter().for_each(|digest| world.lose(digest));
    world.purge(1).await;
    assert_eq!(world.collect().await, 1);
    assert!(!world.has_object(&gone, 0).await && world.has_object(&live, 0).await);
}

#[tokio::test]
async fn an_object_whose_deletion_failed_goes_in_the_next_round() {
    let world = World::new().await;
    let digest = world.publish(1).await.unwrap();
    world.purge(1).await;
    world.there.fail_deletes(true);
    assert_eq!(world.collect().await, 1);
    assert!(world.has_object(&digest, 0).await && !world.is_on_disk(&digest));
    world.there.fail_deletes(false);
    let before = world.store.last();
    assert_eq!(world.collect().await, 0);
    assert!(!world.has_object(&digest, 0).await);
    assert_eq!(world.store.last(), before, "it needs no other row");
}

#[tokio::test]
async fn an_object_of_an_upload_that_was_refused_goes_with_a_row_and_foreign_keys_stay() {
    let world = World::new().await;
    let orphan = Hashes::of(b"orphan").sha256;
    let foreign = Key::from("test/blobs/ab/ab/readme");
    for key in [world.key(&orphan, 0), foreign.clone()] {
        world.there.inner.put(&key, "orphan".into()).await.unwrap();
    }
    assert_eq!(world.collect().await, 1);
    assert!(!world.has_object(&orphan, 0).await);
    assert!(world.there.inner.head(&foreign).await.is_ok());
    let row = world.store.journal(crate::Seq(world.store.last().0 - 1), 1, &mut job()).await.unwrap().remove(0);
    assert!(matches!(row.change, Change::Collected { blobs } if blobs == [orphan]));
}

/// Two servers with one truth: the other one collects after this one has seen the object, and before its transaction.
#[tokio::test]
async fn a_transaction_whose_object_was_collected_meanwhile_sends_the_bytes_again() {
    let world = World::new().await;
    let digest = world.publish(1).await.unwrap();
    world.purge(1).await;
    let other = super::super::shared::beside(world.folder.path());
    let other = open_with(other.path(), &world.clock, Some(world.objects.clone())).unwrap();
    world.there.hold_look(&world.key(&digest, 0));
    let (bytes, change) = publication("rack", 1);
    let collected = async {
        world.there.look_arrived().await;
        assert_eq!(other.collect(&mut job()).await.unwrap().collected, 1);
        world.there.release_look();
    };
    let (published, ()) = tokio::join!(world.upload(bytes, change), collected);
    assert_eq!(published.unwrap(), digest);
    world.lose(&digest);
    assert_eq!(world.read(digest).await.unwrap(), "rack-1");
    other.close();
}

#[tokio::test]
async fn a_round_over_few_blobs_lists_them_with_one_call_and_over_many_with_one_for_each_first_byte() {
    let world = World::new().await;
    let (gone, live) = (world.publish(1).await.unwrap(), world.publish(2).await.unwrap());
    world.purge(1).await;
    let lists = || world.there.asked("LIST test/blobs").len();
    // The thread compares the disk with object storage once after the start.
    while lists() < 256 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.collect().await, 1);
    assert_eq!(lists(), 256 + 1);
    assert!(!world.has_object(&gone, 0).await && world.has_object(&live, 0).await);
    // What nobody named makes them many.
    for number in 0..=(2 * 16_384) {
        world
            .there
            .inner
            .put(&world.key(&Hashes::of(format!("{number}").as_bytes()).sha256, 9), "".into())
            .await
            .unwrap();
    }
    world.collect().await;
    assert_eq!(lists(), 256 + 1 + 1 + 256);
}
