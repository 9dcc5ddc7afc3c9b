//! `daylight rebuild`: makes the truth database again from the blobs and the segments of the journal.

use super::context::Context;
use super::failure::plain;
use super::folder_job;
use super::orphan_blobs;
use store::{DamagedIndex, Rebuilt};
use telemetry::Op;

/// Make the database of a data folder again from its other files
///
/// For a data folder whose database (truth.sqlite) is lost or damaged: it is made from the blobs and the segments of the journal. The old
/// database is kept beside the new one. Damaged saved indexes are removed, and the server makes them again. No server may be using the folder.
#[derive(Debug, clap::Args)]
pub(super) struct Rebuild;

impl Rebuild {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let ((rebuilt, damaged), took) = folder_job::run(Op::Rebuild, context, |data, progress| {
            let rebuilt = store::rebuild(data, progress)?;
            Ok((rebuilt, store::remove_damaged_indexes(data, &repository::can_read_derived)?))
        })?;
        let Rebuilt { last, orphans, replaced } = rebuilt;
        let last = last.0;
        let replaced = replaced.map(|path| path.display().to_string());
        if context.flags.json {
            let unnamed = orphan_blobs::json(&orphans);
            let removed: Vec<_> = damaged.iter().map(|index| index.path.display().to_string()).collect();
            let all = serde_json::json!({
                "last": last, "replaced": replaced, "removed_indexes": removed, "unnamed": unnamed, "seconds": took.as_secs_f64(),
            });
            writeln!(context.out, "{all:#}")?;
        } else {
            writeln!(context.out, "rebuilt the database up to change {last} in {took:.1?}")?;
            if let Some(replaced) = replaced {
                writeln!(context.out, "the old database is now `{}`", plain(&replaced))?;
            }
            for DamagedIndex { path, why } in &damaged {
                let path = path.display().to_string();
                writeln!(
                    context.out,
                    "removed the saved index `{}` ({}); the server makes it again",
                    plain(&path),
                    plain(why)
                )?;
            }
            orphan_blobs::write(&orphans, context)?;
            writeln!(context.out, "`daylight check --verify` checks that every package is there")?;
        }
        Ok(())
    }
}
