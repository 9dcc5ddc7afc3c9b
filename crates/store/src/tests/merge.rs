//! Merging of small segments: every row stays in a segment at every point at which a merge can stop.

use crate::disk::Disk as _;
use crate::disk::fault::{Loss, SimDisk};
use crate::disk::space::Space;
use crate::journal::segments::{self, SEGMENT_ROWS, gaps};
use crate::truth::suite::{made, setting};
use crate::{JournalReads as _, Layout, Model, Seq};
use serde_json::json;
use std::sync::Arc;
use telemetry::Log;

struct Segments {
    _folder: tempfile::TempDir,
    disk: SimDisk,
    space: Space,
    layout: Layout,
}

/// A truth with this many rows.
fn truth(rows: usize) -> Model {
    let mut truth = Model::default();
    made(&mut truth, (1..=rows).map(|number| setting(&number.to_string(), json!(number))).collect());
    truth
}

fn space(disk: &SimDisk, layout: &Layout) -> Space {
    Space::new(Arc::new(disk.clone()), layout.data().to_owned(), 0, Log::silent())
}

impl Segments {
    /// Segments of the first rows of a truth, each ending at one of these rows.
    fn new(truth: &mut Model, ends: impl IntoIterator<Item = u64>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (layout, disk) = (Layout::new(folder.path()), SimDisk::new(folder.path()));
        let space = space(&disk, &layout);
        space.make_folder(&layout.segments()).unwrap();
        let mut after = Seq(0);
        for end in ends.into_iter().map(Seq) {
            segments::ship(truth, &space, &layout, after, end).unwrap();
            after = end;
        }
        Self { _folder: folder, disk, space, layout }
    }

    fn merge(&self) -> Result<usize, crate::Error> {
        segments::merge(&self.disk, &self.space, &self.layout)
    }

    fn names(&self) -> Vec<String> {
        self.disk.list(&self.layout.segments()).unwrap()
    }

    /// The rows of all segments.
    fn text(&self) -> String {
        let segments = segments::list(&self.disk, &self.layout).unwrap();
        assert_eq!(gaps(&segments), []);
        segments.iter().map(|segment| segment.read(&self.disk, &self.layout).unwrap()).collect()
    }
}

fn text(truth: &mut Model) -> String {
    truth.journal_text(Seq(0), usize::MAX, usize::MAX).unwrap().iter().map(|(_, row)| format!("{row}\n")).collect()
}

#[test]
fn many_small_segments_become_a_compressed_one_with_the_same_rows() {
    let mut truth = truth(300);
    let many = Segments::new(&mut truth, 1..=300);
    assert_eq!(many.merge().unwrap(), 44 * SEGMENT_ROWS / 256);
    assert_eq!((many.names().len(), many.text()), (45, text(&mut truth)));
    let size = |name: &str| many.disk.size(&many.layout.segments().join(name)).unwrap().unwrap();
    assert!(size(&many.names()[0]) < 256 * 40, "{}", size(&many.names()[0]));
    assert_eq!(many.merge().unwrap(), 0, "the others wait for more");
    assert_eq!(many.names().len(), 45);
}

#[test]
fn segments_with_a_gap_between_them_are_not_merged() {
    let mut truth = truth(4096);
    let apart = Segments::new(&mut truth, [2048, 2049, 4096]);
    let gap = apart.names().remove(1);
    apart.disk.unlink(&apart.layout.segments().join(gap)).unwrap();
    assert_eq!((apart.merge().unwrap(), apart.names().len()), (0, 2));
}

#[test]
fn a_crash_anywhere_in_a_merge_loses_no_row_and_the_next_merge_removes_what_it_left() {
    let mut truth = truth(SEGMENT_ROWS);
    let whole = text(&mut truth);
    for n in 0.. {
        let mut two = Segments::new(&mut truth, [2048, SEGMENT_ROWS as u64]);
        two.disk.crash_at(n);
        let ended = two.merge().is_ok();
        two.disk.restart(if n % 2 == 0 { Loss::Process } else { Loss::Machine(n as u64) });
        two.space = space(&two.disk, &two.layout);
        assert!(two.text() == whole, "after {n}");
        two.merge().unwrap();
        let names = two.names().into_iter().filter(|name| name != segments::TEMPORARY).collect::<Vec<_>>();
        assert!(two.text() == whole && names.len() == 1, "after {n}: {names:?}");
        if ended {
            break;
        }
    }
}

#[test]
fn a_damaged_segment_is_not_merged() {
    let mut truth = truth(SEGMENT_ROWS);
    let two = Segments::new(&mut truth, [2048, SEGMENT_ROWS as u64]);
    two.disk.damage(&two.layout.segments().join(&two.names()[1]), b"{}\n").unwrap();
    assert!(two.merge().unwrap_err().to_string().contains("hash"));
    assert_eq!(two.names().len(), 2);
}
