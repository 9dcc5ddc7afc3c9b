//! Answers for programs: gems and versions as JSON or YAML, from the visible versions.

use crate::actor::Actor;
use crate::error::Error;
use crate::gem::Found;
use crate::gem::hosted::Hosted;
use crate::gem::info::make;
use crate::gem::info_lines::facts;
use crate::gem::owners::Owners;
use crate::gem::program::{Describe, What};
use crate::gem::views::ViewPart;
use crate::gem::{names, search};
use crate::index::document::Index;
use crate::policy::rules::View;
use crate::visible;
use crate::visible::all_hidden;
use crate::visible::next_change;
use crate::workers::aside;
use format::gem::{document, json};
use serde_json::{Value, json};
use store::{Entry, Lane, Span};
use telemetry::{Event, Millis, Op};

/// Number of gems on a page of search results.
pub(crate) const PAGE: usize = 30;
/// Number of items in a list of the newest.
const NEWEST: usize = 50;
/// The newest gems are found among this number of newest versions.
const LOOKED_AT: usize = 200;
/// Maximum number of gems in the list of one owner.
const OWN_MAX: usize = 300;
/// Maximum number of completions.
pub(crate) const COMPLETIONS: usize = 10;
/// Number of units whose facts one step reads.
const UNITS: usize = 5_000;

/// Answers `ask` of the caller `by`.
pub(crate) async fn describe(
    hosted: Hosted<'_>,
    ask: &Describe,
    by: Actor<'_>,
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    if !hosted.by_rows() || !ask.what.is_of_versions() {
        return tell(hosted, ask, by, now, event).await;
    }
    let made = async |event: &mut Event| {
        let found = tell(hosted, ask, by, now, event).await?;
        let until = found.fresh_until();
        Ok((found.into(), until))
    };
    hosted.once(ViewPart::Told(ask.clone()), now, event, made).await?.found()
}

async fn tell(
    hosted: Hosted<'_>,
    ask: &Describe,
    by: Actor<'_>,
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    let Describe { what, base, form } = ask.clone();
    let (store, repository) = (hosted.store, hosted.repository.clone());
    let all = |published: &mut Vec<json::Published>, base: &str| {
        published.iter().map(|one| json::gem(one, base)).collect::<Value>()
    };
    let mut fresh_until = None;
    let (rows, render): (usize, Box<dyn FnOnce() -> Result<Value, Error> + Send>) = match what {
        What::Owners(name) => {
            let known = store.facts(repository.id, &name, event).await?;
            let rows = repository.unit(store, &name, event).await?;
            if known.seq == store::Seq(0) || all_hidden(&rows, repository.view(now)) {
                return Err(Error::NoSuchGem);
            }
            fresh_until = next_change(&rows, repository.view(now));
            (1, Box::new(move || Ok(Owners::read(&name, known.facts)?.shown())))
        }
        What::Gem(_) | What::Versions(_) | What::Latest(_) | What::Version(..) => {
            let name = what.gem().unwrap_or_default();
            let entries = repository.unit(store, name, event).await?;
            fresh_until = next_change(&entries, repository.view(now));
            (entries.len(), Box::new(move || one(&what, published(&entries, repository.view(now))?, &base)))
        }
        What::Complete(beginning) => {
            let names = names_of(hosted, now, event).await?;
            let rows = names.pieces.len() * crate::gem::versions::PAGE;
            (rows, Box::new(move || Ok(search::beginning(&names.pieces, &beginning, COMPLETIONS).into())))
        }
        What::Search(words, page) => {
            let names = names_of(hosted, now, event).await?;
            let rows = names.pieces.len() * crate::gem::versions::PAGE;
            let find = move || Ok(search::containing(&names.pieces, &words, (page - 1) * PAGE, PAGE));
            let found = aside(&hosted.context.workers, Lane::Index, Op::IndexRender, rows, event, find).await?;
            gems(hosted, found, base, now, event).await?
        }
        What::Own => {
            let own = own_names(hosted, by, event).await?;
            gems(hosted, own, base, now, event).await?
        }
        What::Newest => {
            let new = newest(hosted, event).await?;
            (new.len(), Box::new(move || Ok(all(&mut published(&new, repository.view(now))?, &base))))
        }
        What::Updated | What::Between(..) => {
            let span = span(&what);
            let entries = store.published(repository.id, span, event).await?;
            (entries.len(), Box::new(move || Ok(all(&mut published(&entries, repository.view(now))?, &base))))
        }
    };
    event.more_mut().sized(rows);
    let made = make(hosted, rows, event, move || Ok(document::render(&render()?, form))).await?;
    Ok(Found::Document(Index { fresh_until, ..made }, form))
}

/// The names of the gems that the caller owns.
pub(crate) async fn own_names(hosted: Hosted<'_>, by: Actor<'_>, event: &mut Event) -> Result<Vec<String>, Error> {
    let (mut own, mut after) = (Vec::new(), String::new());
    while own.len() < OWN_MAX {
        let known = hosted.store.units_with_facts(hosted.repository.id, "", &after, UNITS, event).await?;
        let Some((last, _)) = known.last() else { break };
        after.clone_from(last);
        for (name, facts) in known {
            if Owners::read(&name, facts)?.role(by.owner).is_some() {
                own.push(name);
            }
        }
    }
    own.truncate(OWN_MAX);
    Ok(own)
}

/// The first versions of the newest gems.
pub(crate) async fn newest(hosted: Hosted<'_>, event: &mut Event) -> Result<Vec<Entry>, Error> {
    let (store, id) = (hosted.store, hosted.repository.id);
    let span = Span { from: Millis(0), until: Millis(i64::MAX), skip: 0, limit: LOOKED_AT };
    let mut new = Vec::new();
    for entry in store.published(id, span, event).await? {
        let unit = store.unit(id, &entry.unit, Lane::Index, event).await?;
        if unit.entries.first().is_some_and(|first| first.key == entry.key) {
            new.push(entry);
        }
        if new.len() == NEWEST {
            break;
        }
    }
    Ok(new)
}

/// The range of newest versions that the question needs.
pub(crate) fn span(what: &What) -> Span {
    match *what {
        What::Between(from, until, page) => Span { from, until, skip: (page - 1) * PAGE, limit: PAGE },
        _ => Span { from: Millis(0), until: Millis(i64::MAX), skip: 0, limit: NEWEST },
    }
}

/// The visible ones of `rows`.
pub(crate) fn published(rows: &[Entry], view: View<'_>) -> Result<Vec<json::Published>, Error> {
    let one = |entry: &Entry| {
        let (sha256, at) = (entry.hashes.sha256.to_string(), entry.first_published().to_string());
        Ok(json::Published { package: facts(entry)?, sha256, at })
    };
    visible(rows, view).map(|seen| one(seen.entry())).collect()
}

/// The answer about one gem.
pub(crate) fn one(what: &What, mut versions: Vec<json::Published>, base: &str) -> Result<Value, Error> {
    let latest = json::latest(&versions).ok_or(Error::NoSuchGem)?;
    match what {
        What::Versions(_) => {
            json::sort(&mut versions);
            Ok(versions.iter().map(json::version).collect())
        }
        What::Latest(_) => Ok(json!({ "version": latest.package.number.as_str() })),
        What::Version(_, number, platform) => {
            let is = |one: &&json::Published| {
                let platform = platform.as_ref().is_none_or(|platform| *platform == one.package.platform);
                platform && one.package.number.as_str() == number
            };
            json::sort(&mut versions);
            // Of several builds, the one for any Ruby, which clients that name no platform want.
            let mut builds: Vec<_> = versions.iter().filter(is).collect();
            builds.sort_by_key(|one| one.package.platform != "ruby");
            builds.first().map(|one| json::gem_with_version(one, base)).ok_or(Error::NoSuchGemVersion)
        }
        _ => Ok(json::gem(latest, base)),
    }
}

type Rendered = (usize, Box<dyn FnOnce() -> Result<Value, Error> + Send>);

/// These gems, each described by its newest version.
async fn gems(
    hosted: Hosted<'_>,
    names: Vec<String>,
    base: String,
    now: Millis,
    event: &mut Event,
) -> Result<Rendered, Error> {
    let mut units = Vec::with_capacity(names.len());
    for name in names {
        units.push(hosted.store.unit(hosted.repository.id, &name, Lane::Index, event).await?.entries);
    }
    let (rows, repository) = (units.iter().map(Vec::len).sum(), hosted.repository.clone());
    let render = move || {
        let mut told = Vec::new();
        for unit in units {
            told.extend(json::latest(&published(&unit, repository.view(now))?).map(|one| json::gem(one, &base)));
        }
        Ok(Value::Array(told))
    };
    Ok((rows, Box::new(render)))
}

/// The names of `/names`. They are in memory, and change when a name appears or disappears.
async fn names_of(hosted: Hosted<'_>, now: Millis, event: &mut Event) -> Result<Index, Error> {
    match names::names(hosted, now, event).await? {
        Found::Index(index) => Ok(index),
        _ => Err(Error::GivenUp),
    }
}
