//! What happens to the servers of a history while its clients work.

use super::chance::Chance;
use super::record::Record;
use crate::world::{Cut, Nodes, Standby};
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
    /// The same of the node and the object storage.
    StorageCut(Cut),
    /// The clock of the node's machine is set, and then set right.
    ClockSet,
    /// A node starts while the clock of its machine is wrong, which is then set right.
    StartedOffTime,
    /// The database is killed, and a standby takes its place that lacks what the clients have changed.
    FailedOver,
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
            Self::ClockSet,
            Self::StorageCut(Cut::Both),
            Self::StartedOffTime,
            Self::StorageCut(Cut::Back),
            Self::Nothing,
            Self::FailedOver,
            Self::StorageKilled,
        ];
        all[number % (all.len() - usize::from(!has_time))]
    }

    /// Makes it ready, before the clients begin.
    pub(super) fn prepare(self, nodes: &Nodes) -> Prepared {
        Prepared { fault: self, standby: (self == Self::FailedOver).then(|| nodes.postgres.standby()) }
    }
}

/// A fault that can happen now.
pub(super) struct Prepared {
    fault: Fault,
    standby: Option<Standby>,
}

/// Lets it happen when some changes have been acknowledged, and mends it.
pub(super) fn strike(
    nodes: &mut Nodes,
    Prepared { fault, standby }: Prepared,
    record: &Record,
    chance: &mut Chance,
    is_over: &dyn Fn() -> bool,
) {
    let victim = chance.below(nodes.count());
    // Most faults are short, and some last until a node no longer believes in what it knows.
    let most = [100, 500, 1_000, 1_000, 1_000, 100_000][chance.below(6)];
    let (first, last) = (chance.below(20), chance.below(most));
    // From some seconds, of which the database knows, to hours, before or after the right time.
    let off_s = [6, 60, 600, 7_200].map(|most| (1 + chance.below(most)) as i64)[chance.below(4)];
    let off_s = if chance.below(2) == 0 { off_s } else { -off_s };
    let wait = |progress: &dyn Fn() -> usize, steps: usize| {
        let (wanted, end) = (progress() + steps, Instant::now() + LONG);
        while progress() < wanted && Instant::now() < end && !is_over() {
            std::thread::park_timeout(Duration::from_millis(1));
        }
    };
    wait(&|| record.acknowledged(), first);
    let last = || wait(&|| record.acknowledged() + record.answered(), last);
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
        Fault::FailedOver => standby.into_iter().for_each(|standby| nodes.postgres.fail_over(standby)),
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
        Fault::StorageCut(cut) => {
            nodes.node(victim).storage_wire.cut(cut);
            last();
            nodes.node(victim).storage_wire.cut(Cut::Nothing);
        }
        Fault::ClockSet => {
            nodes.node(victim).world.set_machine_clock(off_s);
            last();
            nodes.node(victim).world.set_machine_clock(0);
        }
        Fault::StartedOffTime => {
            let world = &mut nodes.node(victim).world;
            world.kill();
            world.set_machine_clock(off_s);
            world.resume();
            last();
            nodes.node(victim).world.set_machine_clock(0);
        }
        Fault::StorageKilled => {
            nodes.own_storage().kill();
            last();
            nodes.own_storage().resume();
        }
    }
}
