//! `daylight import`: what another server keeps, brought into a repository of a running one.

mod plan;
mod source;
mod upload;

use super::api::Server;
use super::failure::{Failure, plain};
use super::progress::Bar;
use super::{Context, crew};
use std::path::PathBuf;
use store::Progress;
use telemetry::Tick;
use upload::{Outcome, Upload};

/// Bring in what another server keeps
#[derive(Debug, clap::Args)]
pub(super) struct Import {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    server: Server,
    /// One JSON object instead of text
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Upload all gems of a folder: .gem files, the data of a geminabox, or of a Gemstash
    ///
    /// Which of them it is, is seen. What is there already with the same bytes is not uploaded again, so an import that
    /// was interrupted goes on where it was when it is started again.
    Gems {
        /// The folder
        dir: PathBuf,
        /// The repository that they come into
        #[arg(long, value_name = "REPO")]
        into: String,
        /// Uploads at once
        #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
        jobs: u8,
        /// Bring back what was yanked, too (a Gemstash keeps it)
        #[arg(long)]
        with_yanked: bool,
    },
}

impl Import {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let Verb::Gems { dir, into, jobs, with_yanked } = self.verb;
        let (began, jobs) = (Tick::now(), usize::from(jobs));
        let site = self.server.site(&into, context)?;
        let source = source::find(&dir, with_yanked)?;
        writeln!(context.err, "`{}` is {}: {} gems", dir.display(), source.kind, source.files.len())?;
        if source.yanked > 0 {
            writeln!(context.err, "{} were yanked there and stay away (`--with-yanked` brings them)", source.yanked)?;
        }
        let bar = Bar::new();
        let total = source.files.len() as u64;
        let show = |of| move |bar: &Bar, done| bar.show(Progress { done, total, of });
        let (reading, sending) = (show("reading"), show("gems"));
        let read = crew::each(jobs, source.files, || Ok(()), |(), file| Ok(plan::read(file)), |n| reading(&bar, n))?;
        let (gems, mut outcomes) = plan::plan(read);
        let mut done = outcomes.len() as u64;
        let (tell, told) = std::sync::mpsc::channel();
        let work = |upload: &mut Upload, gem| upload.gem(gem, &|| tell.send(()).unwrap_or_default());
        let all = crew::each(
            jobs,
            gems,
            || Upload::new(&site),
            work,
            |_| {
                done += told.try_iter().count() as u64;
                sending(&bar, done);
            },
        );
        drop(bar);
        outcomes.extend(all?.into_iter().flatten());
        report(outcomes, &source.kind.to_string(), source.yanked, began, self.json, context)
    }
}

/// Says what became of the files. Those that were refused are named, last.
fn report(
    outcomes: Vec<Outcome>,
    kind: &str,
    yanked: u64,
    began: Tick,
    json: bool,
    context: &mut Context<'_>,
) -> Result<(), anyhow::Error> {
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let uploaded = count(|outcome| matches!(outcome, Outcome::Uploaded));
    let there = count(|outcome| matches!(outcome, Outcome::There));
    let mut refused: Vec<_> = outcomes.iter().filter_map(Outcome::refusal).collect();
    refused.sort();
    let seconds = Tick::now().since(began) as f64 / 1e9;
    if json {
        let refused = refused
            .iter()
            .map(|(file, reason)| serde_json::json!({ "file": file.display().to_string(), "reason": reason }));
        let all = serde_json::json!({
            "source": kind, "uploaded": uploaded, "there": there, "yanked": yanked,
            "refused": refused.collect::<Vec<_>>(), "seconds": seconds,
        });
        writeln!(context.out, "{all:#}")?;
    } else {
        for (file, reason) in &refused {
            writeln!(context.out, "refused: {}: {}", file.display(), plain(reason).replace('\n', "\n  "))?;
        }
        writeln!(context.out, "uploaded {uploaded} gems, {there} were there already, in {seconds:.1} s")?;
    }
    match refused.len() {
        0 => Ok(()),
        many => {
            let hint = "the others are in; the same command again uploads only what is still missing";
            Err(Failure::new(format!("{many} files were refused"), Some(hint.to_owned())).into())
        }
    }
}
