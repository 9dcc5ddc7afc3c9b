//! `daylight rebuild`: makes the truth database again from the blobs and the segments of the journal.

use super::context::Context;
use super::failure::{Failure, plain};
use super::folder_job;
use super::orphan_blobs;
use super::stored_objects::StoredObjects;
use store::{DamagedIndex, Rebuilt};
use telemetry::Op;

/// Make the database of a data folder again from its other files
///
/// For a data folder whose database (truth.sqlite) is lost or damaged: it is made from the blobs and the segments of the journal. The old
/// database is kept beside the new one. Where `store.objects` is set, the segments that the folder lacks are fetched first, so that an empty
/// folder becomes the lost one. Damaged saved indexes are removed, and the server makes them again. No server may be using the folder.
#[derive(Debug, clap::Args)]
pub(super) struct Rebuild;

impl Rebuild {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let ((rebuilt, damaged), took) = folder_job::run(Op::Rebuild, context, |settings, progress| {
            let data = &settings.store.data;
            if settings.cluster.database.0.is_some() {
                let hint = "move the data folder away, and start the server with an empty one";
                let text = "`cluster.database` has all changes, and the server makes its copy of them by itself";
                return Err(Failure::new(text, Some(hint.to_owned())).into());
            }
            if let Some(objects) = StoredObjects::of(settings)?.get() {
                store::fetch_segments(data, objects, progress)?;
            }
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
