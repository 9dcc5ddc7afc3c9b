//! What happens to the servers of a history while its clients work.

use super::record::Record;
use crate::crash::random;
use crate::world::{Cut, Nodes};
use std::time::{Duration, Instant};

/// How long a fault lasts at most, if it ends. Longer than a node may believe in what it knows without asking the database.
const LONG: Duration = Duration::from_millis(1_500);

/// What happens, to a node that chance chooses or to a server that all nodes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Nothing,
    NodeKilled,
    NodePaused,
    /// A node is killed, and starts again on an empty folder.
    FolderLost,
    DatabaseKilled,
    DatabasePaused,
    StoragePaused,
    /// The node and the database do not hear each other, or one does not hear the other.
    Cut(Cut),
    /// Some 13 seconds: SeaweedFS starts slowly after that.
    StorageKilled,
}

impl Fault {
    /// Each in turn. The last one only where there is time for it.
    pub(super) fn of(number: usize, has_time: bool) -> Self {
        let all = [
            Self::NodePaused,
            Self::NodeKilled,
            Self::Cut(Cut::Both),
            Self::DatabaseKilled,
            Self::Cut(Cut::Back),
            Self::FolderLost,
            Self::DatabasePaused,
            Self::Cut(Cut::There),
            Self::StoragePaused,
            Self::Nothing,
            Self::StorageKilled,
        ];
        all[number % (all.len() - usize::from(!has_time))]
    }
}

/// Lets it happen when some changes have been acknowledged, and mends it.
pub(super) fn strike(nodes: &mut Nodes, fault: Fault, record: &Record, is_over: &dyn Fn() -> bool) {
    let victim = random(nodes.count() as u64) as usize;
    let wait = |progress: &dyn Fn() -> usize, steps: u64| {
        let (wanted, end) = (progress() + random(steps) as usize, Instant::now() + LONG);
        while progress() < wanted && Instant::now() < end && !is_over() {
            std::thread::park_timeout(Duration::from_millis(1));
        }
    };
    wait(&|| record.acknowledged(), 20);
    let last = || wait(&|| record.acknowledged() + record.answered(), 1_000);
    match fault {
        Fault::Nothing => {}
        Fault::NodeKilled => {
            nodes.node(victim).world.kill();
            last();
            nodes.node(victim).world.resume();
        }
        Fault::NodePaused => {
            nodes.node(victim).suspend();
            last();
            nodes.node(victim).run_on();
        }
        Fault::FolderLost => {
            let world = &mut nodes.node(victim).world;
            world.kill();
            std::fs::remove_dir_all(world.data()).unwrap();
            world.resume();
        }
        Fault::DatabaseKilled => {
            nodes.postgres.kill();
            last();
            nodes.postgres.resume();
        }
        Fault::DatabasePaused => {
            nodes.postgres.suspend();
            last();
            nodes.postgres.run_on();
        }
        Fault::StoragePaused => {
            nodes.storage.suspend();
            last();
            nodes.storage.run_on();
        }
        Fault::Cut(cut) => {
            nodes.node(victim).wire.cut(cut);
            last();
            nodes.node(victim).wire.cut(Cut::Nothing);
        }
        Fault::StorageKilled => {
            nodes.own_storage().kill();
            last();
            nodes.own_storage().resume();
        }
    }
}
