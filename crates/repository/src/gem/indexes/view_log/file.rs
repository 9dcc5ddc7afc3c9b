//! A view's log in the data folder, so that clients can continue with it after a restart.

use crate::gem::indexes::view_log::{MadeOf, ViewLog};
use crate::index::document::Index;
use crate::index::incremental_index::IndexSource;
use crate::index::rope::form::{self, Mark};
use crate::index::rope::log::Log;
use bytes::Bytes;
use format::gem::upstream::Versions;
use serde::{Deserialize, Serialize};
use store::{RepositoryId, Seq};
use telemetry::Millis;

/// The header of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    mark: Mark,
    of: MadeOf,
    begun: usize,
    at: Millis,
    due: Vec<(Millis, Box<str>)>,
    basis: Vec<(Box<str>, String)>,
    pieces: Vec<usize>,
    /// The last change of each member that the log includes.
    #[serde(default)]
    through: Vec<(RepositoryId, Seq)>,
}

impl IndexSource for ViewLog {
    const FILE: &'static str = "view";
    const MUCH: u64 = 1 << 20;
    type Whole = Index;

    fn through(&self) -> Seq {
        self.through.values().copied().max().unwrap_or(Seq(0))
    }

    fn weight(&self) -> u64 {
        let due: usize = self.due.iter().map(|(_, name)| name.len() + size_of::<(Millis, Box<str>)>()).sum();
        let basis: usize =
            self.basis.iter().map(|(name, md5)| name.len() + md5.len() + size_of::<(Box<str>, String)>()).sum();
        self.log.weight() + (self.said.weight() + due + basis) as u64
    }

    fn unwritten(&mut self) -> &mut u64 {
        &mut self.unwritten
    }

    fn write(&self, mark: Mark) -> Option<Vec<Bytes>> {
        let (pieces, body) = self.log.parts();
        let (of, due) = (self.of.clone()?, self.due.iter().cloned().collect());
        let basis = self.basis.iter().map(|(name, md5)| (name.clone(), md5.clone())).collect();
        let through = self.through.iter().map(|(member, seq)| (*member, *seq)).collect();
        form::write(&Head { mark, of, begun: self.begun, at: self.at, due, basis, pieces, through }, body)
    }

    fn read(bytes: Bytes) -> Option<(Self, Mark)> {
        let (Head { mark, of, begun, at, due, basis, pieces, through }, body) = form::read(bytes)?;
        let (log, mut said) = (Log::read(&pieces, body)?, Versions::new());
        log.pieces().try_for_each(|piece| said.push(piece)).ok()?;
        let (due, basis) = (due.into_iter().collect(), basis.into_iter().collect());
        let (of, through) = (Some(of), through.into_iter().collect());
        let unreadable = said.unreadable();
        Some((Self { log, said, begun, unreadable, through, of, at, due, basis, ..Self::default() }, mark))
    }
}
