//! What one, two, three and five nodes cost PostgreSQL, as counts: statements and bytes, at rest, for each change, and for reads.

use super::{VARIABLES, settings_of_all};
use crate::objects::shared;
use crate::world::{FIRST, Gem, Nodes, ObjectProduct, Postgres, await_true, eventually};
use std::time::Instant;

/// Changes that are made one after the other.
const CHANGES: u64 = 10;
/// Beats that are waited for at rest.
const BEATS: u64 = 2;

/// What PostgreSQL has done so far, and what nodes and it have sent to each other.
#[derive(Debug, Clone, Copy)]
struct Counted {
    appends: u64,
    reads: u64,
    beats: u64,
    others: u64,
    /// Rows of the journal, and how many of them reads gave.
    rows: u64,
    given: u64,
    /// Bytes of the write-ahead log.
    log: u64,
    /// Bytes to the database, and from it.
    wire: (u64, u64),
    at: Instant,
}

impl Counted {
    fn of(nodes: &Nodes) -> Self {
        let sum = |(what, text): (&str, &str)| {
            format!(
                "(SELECT coalesce(sum({what}), 0) FROM pg_stat_statements WHERE userid = 'node'::regrole AND {text})"
            )
        };
        let sums = [
            ("calls", "query ~ 'daylight.append'"),
            ("calls", "query ~ 'octet_length'"),
            ("calls", "query ~ 'daylight.beat'"),
            ("calls", "true"),
            ("rows", "query ~ 'octet_length'"),
        ];
        let sums = sums.map(sum).join(", ");
        let told = nodes
            .postgres
            .sql(&format!("SELECT {sums}, (SELECT seq FROM daylight.counter), pg_current_wal_insert_lsn() - '0/0'"));
        let figures: Vec<u64> = told.split('|').map(|figure| figure.parse().unwrap()).collect();
        let &[appends, reads, beats, all, given, rows, log] = figures.as_slice() else { panic!("{told}") };
        Self {
            appends,
            reads,
            beats,
            others: all - appends - reads - beats,
            rows,
            given,
            log,
            wire: nodes.wire_bytes(),
            at: Instant::now(),
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            appends: self.appends - before.appends,
            reads: self.reads - before.reads,
            beats: self.beats - before.beats,
            others: self.others - before.others,
            rows: self.rows - before.rows,
            given: self.given - before.given,
            log: self.log - before.log,
            wire: (self.wire.0 - before.wire.0, self.wire.1 - before.wire.1),
            at: before.at,
        }
    }

    /// Prints what it was for each of so many.
    fn tell(&self, what: &str, many: f64) {
        let each = |count: u64| count as f64 / many;
        println!(
            "{what}: {:.2} appends, {:.2} reads, {:.2} beats, {:.2} others; bytes: {:.0} to the database, {:.0} from it, {:.0} of its log",
            each(self.appends),
            each(self.reads),
            each(self.beats),
            each(self.others),
            each(self.wire.0),
            each(self.wire.1),
            each(self.log),
        );
    }
}

/// What happens meanwhile.
fn counted(nodes: &mut Nodes, meanwhile: impl FnOnce(&mut Nodes)) -> Counted {
    let before = Counted::of(nodes);
    meanwhile(nodes);
    Counted::of(nodes).since(before)
}

#[test]
fn a_change_costs_one_statement_and_one_read_and_some_beats_by_each_other_node_and_a_read_costs_none() {
    let postgres = Postgres::start_counting();
    let storage = shared(ObjectProduct::SeaweedFs);
    let (cluster, store) = (settings_of_all(&postgres), storage.settings("costs", &storage.url()));
    let mut nodes = Nodes::start(5, (postgres, &cluster), (storage, &store), VARIABLES);
    let mut started = nodes.count();
    for running in [5, 3, 2, 1_usize] {
        (running..started).for_each(|number| nodes.node(number).world.stop());
        started = running;
        (0..running).for_each(|number| nodes.await_whole(number));
        let mut versions = 0..;
        let changes = eventually(|| {
            let changes = counted(&mut nodes, |nodes| {
                for number in versions.by_ref().take(CHANGES as usize) {
                    let gem = Gem::new(&format!("lamp-{running}"), &format!("{number}.0"));
                    nodes.admin(0).push(FIRST, &gem).expect(200);
                }
                (0..running).for_each(|number| nodes.await_whole(number));
            });
            let others = running as u64 - 1;
            assert_eq!((changes.appends, changes.given), (CHANGES, changes.rows * others), "{changes:?}");
            let reads = CHANGES * others;
            // A change that comes while another one is read is read with it, or by itself. A beat may tell of one that is just being read,
            // and does so more often while the machine is busy: then there is one more read, which finds nothing.
            if changes.reads <= reads + reads / 4 + 1 { Ok(changes) } else { Err(format!("{changes:?}")) }
        });
        changes.tell(&format!("{running} nodes, each change"), CHANGES as f64);

        // The last change may still cause a read that finds nothing.
        let at_rest = eventually(|| {
            let at_rest = counted(&mut nodes, |nodes| {
                let before = Counted::of(nodes).beats;
                await_true("nodes beat", || Counted::of(nodes).beats >= before + BEATS * running as u64);
            });
            assert_eq!((at_rest.appends, at_rest.given), (0, 0), "{at_rest:?}");
            if at_rest.reads == 0 { Ok(at_rest) } else { Err(format!("{at_rest:?}")) }
        });
        at_rest.tell(&format!("{running} nodes, at rest, each second"), at_rest.at.elapsed().as_secs_f64());

        let reads = counted(&mut nodes, |nodes| {
            for path in [format!("info/lamp-{running}"), "versions".to_owned(), format!("gems/lamp-{running}-1.0.gem")]
            {
                for number in (0..running).cycle().take(20) {
                    nodes.admin(number).file(FIRST, &path).expect(200);
                }
            }
        });
        assert_eq!((reads.appends, reads.reads), (0, 0), "{reads:?}");
    }
}
