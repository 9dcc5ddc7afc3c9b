//! A segment that cannot be read, as a part: answers name it, and are not exact.

use super::names::SegmentName;
use crate::column::Column;
use crate::part::{Coded, Part, Span, Unreadable};
use std::path::PathBuf;

/// A segment that cannot be read. Its name tells how many rows it had, and when.
#[derive(Debug)]
pub(super) struct Damaged {
    pub(super) name: SegmentName,
    pub(super) path: PathBuf,
    pub(super) cause: String,
}

impl Damaged {
    fn unreadable(&self) -> Unreadable {
        Unreadable { what: self.path.display().to_string(), cause: self.cause.clone() }
    }
}

impl Part for Damaged {
    fn span(&self) -> Span {
        let SegmentName { from, to, rows, .. } = self.name;
        // Nobody knows how many events the rows stand for. So no answer that has to do with it is exact.
        Span { rows, events: 0, from, to }
    }

    fn may_have(&self, _: Column, _: &str) -> bool {
        true
    }

    fn range(&self, _: Column) -> Option<(i64, i64)> {
        None
    }

    fn texts(&self, _: Column) -> Result<Coded, Unreadable> {
        Err(self.unreadable())
    }

    fn numbers(&self, _: Column) -> Result<Vec<i64>, Unreadable> {
        Err(self.unreadable())
    }

    fn bytes(&self, _: Column) -> u64 {
        0
    }
}
