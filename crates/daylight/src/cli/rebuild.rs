//! `daylight rebuild`: makes the truth database again from the blobs and the segments of the journal.

use super::context::Context;
use super::failure::plain;
use super::folder_job;
use super::orphan_blobs;
use store::Rebuilt;
use telemetry::Op;

/// Make the truth database again from what else is in the data folder
///
/// For a folder whose truth database is lost or damaged; the old one is kept beside the new one.
/// No server may be using the folder.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Rebuild;

impl Rebuild {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let (rebuilt, took) =
            folder_job::run(Op::Rebuild, context, |data, progress| Ok(store::rebuild(data, progress)?))?;
        let Rebuilt { last, orphans, replaced } = rebuilt;
        let last = last.0;
        let replaced = replaced.map(|path| path.display().to_string());
        if context.flags.json {
            let unnamed = orphan_blobs::json(&orphans);
            let all = serde_json::json!({"last": last, "replaced": replaced, "unnamed": unnamed, "seconds": took.as_secs_f64()});
            writeln!(context.out, "{all:#}")?;
        } else {
            writeln!(context.out, "rebuilt the truth database up to change {last} in {took:.1?}")?;
            if let Some(replaced) = replaced {
                writeln!(context.out, "the one that was there before is now `{}`", plain(&replaced))?;
            }
            orphan_blobs::write(&orphans, context)?;
            writeln!(context.out, "`daylight check --verify` tells whether each package that it names is there")?;
        }
        Ok(())
    }
}
