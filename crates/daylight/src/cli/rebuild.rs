//! `daylight rebuild`: makes the truth database again from the blobs and the segments of the journal.

use super::context::Context;
use super::folder::Folder;
use super::orphan_blobs;
use super::progress::Bar;
use std::time::Duration;
use store::Rebuilt;
use telemetry::{Clock, Event, Op};

/// Make the truth database again from what else is in the data folder
///
/// For a folder whose truth database is lost or damaged; the old one is kept beside the new one.
/// No server may be using the folder.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Rebuild {
    #[command(flatten)]
    folder: Folder,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Rebuild {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let (settings, _) = self.folder.load(context)?;
        let data = &settings.store.data;
        let mut event = Event::job("rebuild", Clock::default().now());
        let bar = Bar::new();
        let rebuilt = event.time(Op::Rebuild, || store::rebuild(data, &mut |progress| bar.show(progress)));
        drop(bar);
        let Rebuilt { last, orphans } = rebuilt?;
        let (last, took) = (last.0, Duration::from_nanos(event.tally(Op::Rebuild).nanos));
        if self.json {
            let unnamed = orphan_blobs::json(&orphans);
            let all = serde_json::json!({"last": last, "unnamed": unnamed, "seconds": took.as_secs_f64()});
            writeln!(context.out, "{all:#}")?;
        } else {
            writeln!(
                context.out,
                "rebuilt the truth database up to change {last} in {took:.1?}; one that was there before is kept beside it"
            )?;
            orphan_blobs::write(&orphans, context)?;
            writeln!(context.out, "`daylight check --verify` tells whether each package that it names is there")?;
        }
        Ok(())
    }
}
