//! A remote Maven repository whose content is the builds that a Koji hub has in some tags. It knows all their files, so
//! it asks the hub nothing while a build runs.
//!
//! In reading order: [`hub`] asks questions, and [`answer_body`] receives the answers; [`look`] decides which questions,
//! and turns the answers into [`change`]s; [`take`] applies these: [`rows`] writes them to the journal, [`map`] keeps them
//! in memory and finds the build of a path. After a start [`load`] reads them back. [`state`] is all of this for one
//! repository. [`job`] makes looks when they are due by [`schedule`]; [`answer`] answers requests. [`confirmed`],
//! [`counted`], [`figures`] and [`check`] are for operators.

pub(crate) mod answer;
pub(crate) mod answer_body;
pub(crate) mod change;
pub(crate) mod check;
pub(crate) mod confirmed;
pub(crate) mod counted;
pub(crate) mod figures;
pub(crate) mod follow;
pub(crate) mod hub;
pub(crate) mod job;
pub(crate) mod load;
pub(crate) mod look;
pub(crate) mod map;
pub(crate) mod moments;
pub(crate) mod presence;
pub(crate) mod rows;
pub(crate) mod schedule;
pub(crate) mod state;
pub(crate) mod take;
pub(crate) mod take_in;
pub(crate) mod words;

use crate::error::Result;
use crate::repository::Repository;
use crate::upstream::Remote;
use answer::lists;
pub(crate) use answer::lists::{artifacts, level, rows, versions, why_hidden};
pub(crate) use answer::shown::KojiVersion;
use map::KojiView;
use std::collections::BTreeSet;
use store::CachedFile;
use telemetry::Event;

/// The names of all artifacts, as `G:A`.
pub(crate) fn names(repository: &Repository) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if let Some(known) = repository.shared.koji().known(repository.origin) {
        known.map.artifacts(KojiView::of(repository), "", &mut |folder, _| {
            let (group, artifact) = folder.rsplit_once('/').unwrap_or(("", folder));
            names.insert(format!("{}:{artifact}", group.replace('/', ".")));
            true
        });
    }
    names
}

/// The files of a folder, each with its cached copy if there is one.
pub(crate) async fn files(
    remote: &Remote,
    folder: &str,
    event: &mut Event,
) -> Result<Vec<(String, Option<CachedFile>)>> {
    let asked = lists::asked(remote, event).await?;
    let files = lists::files(&asked, folder, event).await?;
    Ok(files.into_iter().map(|(path, _, cached)| (path, cached)).collect())
}
