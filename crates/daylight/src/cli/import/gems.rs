//! `daylight import gems`.

mod plan;
mod source;
mod upload;

use super::Way;
use super::outcome::Brought;
use crate::cli::progress::Bar;
use crate::cli::site::Site;
use crate::cli::{Context, crew};
use store::Progress;
use upload::Upload;

pub(super) fn bring(
    way: &Way,
    with_yanked: bool,
    site: &Site,
    context: &mut Context<'_>,
) -> Result<Brought, anyhow::Error> {
    let jobs = usize::from(way.jobs);
    let source = source::find(&way.dir, with_yanked)?;
    writeln!(context.err, "`{}` is {}: {} gems", way.dir.display(), source.kind, source.files.len())?;
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
        || Upload::new(site),
        work,
        |_| {
            done += told.try_iter().count() as u64;
            sending(&bar, done);
        },
    );
    drop(bar);
    outcomes.extend(all?.into_iter().flatten());
    Ok(Brought {
        source: source.kind.to_string(),
        things: "gems",
        outcomes,
        left: ("yanked", source.yanked),
        outside: source.outside,
    })
}
