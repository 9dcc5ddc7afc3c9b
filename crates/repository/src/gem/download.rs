//! One version: its gem, and its gemspec for `gem install`.

use crate::error::{Error, Result};
use crate::gem::Found;
use crate::gem::hosted::Hosted;
use crate::gem::info::make;
use crate::gem::info_lines::facts;
use crate::policy::hidden::Hidden;
use crate::policy::rules::View;
use crate::unreadable::unreadable;
use crate::visible;
use crate::visible::shown;
use format::gem::{quick, spelling};
use std::sync::Arc;
use store::Entry;
use telemetry::{Event, Millis};

/// Maximum number of builds of one version that are compared if the client uses another name of the platform.
const BUILDS: usize = 64;

/// A part of a version.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Gem,
    Gemspec,
    Attestations,
}

/// The gems in question: a full name can be that of versions of several gems.
pub(crate) type Names<'a> = &'a (dyn Fn(&str) -> bool + Sync);
/// All gems.
pub(crate) const ANY: Names<'static> = &|_| true;

/// The published gem of this full name, opened for reading.
pub(crate) async fn gem(
    hosted: Hosted<'_>,
    full_name: &str,
    of: Names<'_>,
    now: Millis,
    event: &mut Event,
) -> Result<Found> {
    let entry = find(hosted, full_name, of, now, event).await?;
    hosted.repository.refuse_purged(hosted.store, &entry.key, event).await?;
    let (file, _) = match hosted.store.open_blob(entry.hashes.sha256, event).await {
        Ok(open) => open,
        Err(error) => return Err(unreadable(hosted.store, &entry, error, event).await),
    };
    Ok(Found::File { name: format!("{full_name}.gem"), file: Arc::new(file), hashes: entry.hashes })
}

/// The gemspec of the published gem of this full name.
pub(crate) async fn gemspec(
    hosted: Hosted<'_>,
    full_name: &str,
    of: Names<'_>,
    now: Millis,
    event: &mut Event,
) -> Result<Found> {
    let entry = find(hosted, full_name, of, now, event).await?;
    let render = move || Ok(quick::render(&facts(&entry)?, entry.first_published().seconds()));
    make(hosted, 1, event, render).await.map(Found::Gemspec)
}

/// The version of this full name, if it is visible.
async fn find(hosted: Hosted<'_>, full_name: &str, of: Names<'_>, now: Millis, event: &mut Event) -> Result<Entry> {
    let Hosted { store, repository, .. } = hosted;
    let view = repository.view(now);
    let found = match repository.entry(store, full_name, event).await? {
        Some(entry) if of(&entry.unit) => entry,
        Some(_) => return Err(Error::NoSuchPackage),
        None => build(hosted, full_name, of, view, event).await?,
    };
    event.subject.package = found.unit.as_str().into();
    let unseen = |why: Option<Hidden>| why.map_or_else(|| Error::Withdrawn(full_name.to_owned()), Error::from);
    if let Some(let_through) = shown(&found, view).map_err(unseen)? {
        event.detail = let_through;
    }
    Ok(found)
}

/// The build whose platform has another name on the client. RubyGems first requests the name that it derives from the
/// platform, and then the other. If the name matches two builds, the answer is none.
async fn build(hosted: Hosted<'_>, full_name: &str, of: Names<'_>, view: View<'_>, event: &mut Event) -> Result<Entry> {
    let mut meant = Vec::new();
    for reading in spelling::readings(full_name).take(spelling::READINGS) {
        let Some(prefix) = reading.prefix().filter(|_| of(reading.name)) else { continue };
        let rows = hosted.repository.beginning(hosted.store, &prefix, BUILDS, event).await?;
        for seen in visible(&rows, view).filter(|seen| seen.entry().unit == reading.name) {
            if reading.is_of(&facts(seen.entry())?.platform) {
                meant.push(seen.entry().clone());
            }
        }
    }
    match <[Entry; 1]>::try_from(meant) {
        Ok([one]) => Ok(one),
        Err(_) => Err(Error::NoSuchPackage),
    }
}
