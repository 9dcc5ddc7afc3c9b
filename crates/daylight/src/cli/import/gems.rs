//! `daylight import gems`.

mod dates;
mod gemstash;
mod plan;
mod source;
mod upload;

use super::flags::ImportFlags;
use super::report::{ImportReport, LeftOut};
use crate::cli::context::Context;
use crate::cli::import::origin::Claims;
use crate::cli::parallel;
use crate::cli::progress::Bar;
use crate::cli::repository_client::RepositoryClient;
use store::Progress;
use upload::GemUploader;

pub(super) fn import(
    flags: &ImportFlags,
    with_yanked: bool,
    repository: &RepositoryClient,
    context: &mut Context<'_>,
) -> anyhow::Result<ImportReport> {
    let jobs = usize::from(flags.jobs);
    let source = source::find(&flags.dir, with_yanked)?;
    writeln!(context.err, "`{}` is {}: {} gems", flags.dir.display(), source.kind, source.files.len())?;
    if source.yanked > 0 {
        writeln!(context.err, "{} yanked gems are left out (`--with-yanked` uploads them)", source.yanked)?;
    }
    let bar = Bar::new();
    let total = source.files.len() as u64;
    let show = |of| move |bar: &Bar, done| bar.show(Progress { done, total, of });
    let (reading, sending) = (show("reading"), show("gems"));
    let read = parallel::map(jobs, source.files, || Ok(()), |(), file| Ok(plan::read(file)), |n| reading(&bar, n))?;
    let (mut gems, mut outcomes) = plan::plan(read);
    let claims = Claims::new();
    if let Some(problem) = dates::find(source.kind, &source.folder, &mut gems) {
        writeln!(context.err, "{problem}; the dates of the files are used")?;
    }
    let mut done = outcomes.len() as u64;
    let (sender, files) = std::sync::mpsc::channel();
    let work = |uploader: &mut GemUploader<'_>, gem| uploader.gem(gem, &|| sender.send(()).unwrap_or_default());
    let all = parallel::map(
        jobs,
        gems,
        || GemUploader::new(repository, &claims),
        work,
        |_| {
            done += files.try_iter().count() as u64;
            sending(&bar, done);
        },
    );
    drop(bar);
    outcomes.extend(all?.into_iter().flatten());
    let left_out = LeftOut { key: "yanked", files: source.yanked, links_outside: source.links_outside };
    Ok(ImportReport {
        source: source.kind.to_string(),
        noun: "gems",
        outcomes,
        left_out,
        names: None,
        closing: Vec::new(),
        hint: None,
    })
}
