//! Exports raw files: each at its path, and nothing beside it.

use crate::cli::export::place::{ExportJob, Placed};
use crate::cli::export::tree::{self, Beside};
use std::collections::BTreeSet;

/// Writes the files into a folder.
pub(super) fn export(job: &ExportJob<'_>) -> anyhow::Result<Vec<Placed>> {
    tree::export(job, &Beside { documents: |_| BTreeSet::new(), has_sums: |_| false })
}
