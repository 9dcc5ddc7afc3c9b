//! Answers for programs: gems and versions as JSON or YAML, from the visible versions.

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::gem::Found;
use crate::gem::group::members::KnownMembers;
use crate::gem::hosted::Hosted;
use crate::gem::info::make;
use crate::gem::owners::Owners;
use crate::gem::program::{Describe, What};
use crate::gem::rows::{Depth, GemRows, published};
use crate::gem::source::GemSource;
use crate::gem::views::{ViewAnswer, ViewPart};
use crate::gem::{rows, search, versions};
use crate::group::is_hosted;
use crate::index::document::Index;
use crate::visible::{all_hidden, next_change};
use crate::workers::aside;
use format::gem::call::Form;
use format::gem::{document, json};
use serde_json::{Value, json};
use store::{Entry, Lane, Span};
use telemetry::{Event, Millis, Op};

/// Number of gems on a page of search results.
const PAGE: usize = 30;
/// Number of items in a list of the newest.
const NEWEST: usize = 50;
/// The newest gems are found among this number of newest versions.
const LOOKED_AT: usize = 200;
/// Maximum number of gems in the list of one owner.
const OWN_MAX: usize = 300;
/// Maximum number of completions.
const COMPLETIONS: usize = 10;
/// Number of units whose facts one step reads.
const UNITS: usize = 5_000;

impl GemSource<'_> {
    /// Answers `ask` of the caller `by`.
    pub(crate) async fn describe(self, ask: &Describe, by: Actor<'_>, event: &mut Event) -> Result<Found> {
        let (local, what) = (self.local(), &ask.what);
        let is_of_now = !what.is_of_versions() && !matches!(self, Self::Remote(_));
        if local.repository.as_of.is_some() && is_of_now {
            let text = "owners and search results are only available as of now, not as of an earlier moment";
            return Err(Error::Unsupported(text.into()));
        }
        match (self, what) {
            (_, What::Search(words, page)) => self.search(words.clone(), *page, ask, event).await,
            (_, What::Complete(beginning)) => self.complete(beginning.clone(), ask, event).await,
            (Self::Group(group), _) => match what.gem() {
                Some(name) => Box::pin(group.describe_gem(name, ask, by, event)).await,
                None => Box::pin(group.of_hosted(ask, by, event)).await,
            },
            (_, What::Gem(name) | What::Versions(name) | What::Latest(name) | What::Version(name, ..)) => {
                let make = async |event: &mut Event| {
                    about_gem(local, self.rows(name, Depth::Whole, event).await?, ask, event).await
                };
                match self {
                    Self::Hosted(hosted) if hosted.by_rows() => {
                        let make = async |event: &mut Event| make(event).await.map(ViewAnswer::from);
                        hosted.once(ViewPart::Told(ask.clone()), self.now(), event, make).await?.found()
                    }
                    _ => make(event).await,
                }
            }
            (Self::Remote(remote), What::Owners(_) | What::Own) => {
                Err(remote.unsupported("know who owns a gem: ask its upstream"))
            }
            (Self::Remote(remote), _) => Err(remote.unsupported("list new gems: ask the upstream")),
            (Self::Hosted(_), What::Owners(name)) => owners(local, name, ask.form, self.now(), event).await,
            (Self::Hosted(_), What::Own) => {
                let own = own_names(local, by, event).await?;
                self.gems(own, ask, None, event).await
            }
            (Self::Hosted(_), _) => {
                let new = newest(local, what, span(what), event).await?;
                let (rows, repository, now, base) = (new.len(), local.repository.clone(), self.now(), ask.base.clone());
                let render = move || {
                    let new = published(&new, repository.view(now))?;
                    Ok(new.iter().map(|one| json::gem(one, &base)).collect())
                };
                document(local, rows, ask.form, None, event, render).await
            }
        }
    }

    /// A page of the gems whose names contain these words, each described by its newest version. Names come from `/names`,
    /// which is in memory. No upstream is called for a match.
    async fn search(self, words: Vec<String>, page: usize, ask: &Describe, event: &mut Event) -> Result<Found> {
        let names = self.names(event).await?;
        let (workers, rows) = (&self.local().context.workers, names.pieces.len() * versions::PAGE);
        let find = move || Ok(search::containing(&names.pieces, &words, (page - 1) * PAGE, PAGE));
        let found = aside(workers, Lane::Index, Op::IndexRender, rows, event, find).await?;
        self.gems(found, ask, names.fresh_until, event).await
    }

    /// The names with a prefix, from the same list.
    async fn complete(self, beginning: String, ask: &Describe, event: &mut Event) -> Result<Found> {
        let names = self.names(event).await?;
        let rows = names.pieces.len() * versions::PAGE;
        let complete = move || Ok(search::beginning(&names.pieces, &beginning, COMPLETIONS).into());
        document(self.local(), rows, ask.form, names.fresh_until, event, complete).await
    }

    /// These gems, each described by its newest version.
    pub(crate) async fn gems(
        self,
        names: Vec<String>,
        ask: &Describe,
        fresh_until: Option<Millis>,
        event: &mut Event,
    ) -> Result<Found> {
        let mut gems = Vec::with_capacity(names.len());
        match self {
            Self::Group(group) => {
                let members = Box::pin(KnownMembers::of_names(group, names.iter().map(String::as_str), event)).await?;
                for name in &names {
                    let owners = members.owners(name);
                    gems.push(Box::pin(group.rows(name, &owners, Depth::Brief, event)).await?);
                }
            }
            _ => {
                for name in &names {
                    gems.push(self.rows(name, Depth::Brief, event).await?);
                }
            }
        }
        let (count, base) = (gems.iter().flatten().map(GemRows::count).sum(), ask.base.clone());
        let render = move || {
            let mut told = Vec::with_capacity(gems.len());
            for gem in &gems {
                told.extend(json::latest(&rows::versions(gem)?).map(|latest| json::gem(latest, &base)));
            }
            Ok(Value::Array(told))
        };
        document(self.local(), count, ask.form, fresh_until, event, render).await
    }
}

/// The answer about one gem with these versions.
pub(crate) async fn about_gem(
    local: Hosted<'_>,
    gem: Vec<GemRows>,
    ask: &Describe,
    event: &mut Event,
) -> Result<Found> {
    let fresh_until = gem.iter().filter_map(GemRows::until).min();
    let (count, what, base) = (gem.iter().map(GemRows::count).sum(), ask.what.clone(), ask.base.clone());
    let render = move || one(&what, rows::versions(&gem)?, &base);
    document(local, count, ask.form, fresh_until, event, render).await
}

/// Renders an answer from so many rows.
pub(crate) async fn document(
    local: Hosted<'_>,
    rows: usize,
    form: Form,
    fresh_until: Option<Millis>,
    event: &mut Event,
    render: impl FnOnce() -> Result<Value> + Send + 'static,
) -> Result<Found> {
    if is_hosted(local.repository) {
        event.more_mut().sized(rows);
    }
    let made = make(local, rows, event, move || Ok(document::render(&render()?, form))).await?;
    Ok(Found::Document(Index { fresh_until, ..made }, form))
}

async fn owners(hosted: Hosted<'_>, name: &str, form: Form, now: Millis, event: &mut Event) -> Result<Found> {
    let (store, repository) = (hosted.store, hosted.repository);
    let known = store.facts(repository.id, name, event).await?;
    let rows = repository.unit(store, name, event).await?;
    if known.seq == store::Seq(0) || all_hidden(&rows, repository.view(now)) {
        return Err(Error::NoSuchGem);
    }
    let (name, fresh_until) = (name.to_owned(), next_change(&rows, repository.view(now)));
    document(hosted, 1, form, fresh_until, event, move || Ok(Owners::read(&name, known.facts)?.shown())).await
}

/// The names of the gems that the caller owns.
pub(crate) async fn own_names(hosted: Hosted<'_>, by: Actor<'_>, event: &mut Event) -> Result<Vec<String>> {
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

/// The newest versions in a span, or the first versions of the newest gems.
pub(crate) async fn newest(hosted: Hosted<'_>, what: &What, span: Span, event: &mut Event) -> Result<Vec<Entry>> {
    let (store, id) = (hosted.store, hosted.repository.id);
    if *what != What::Newest {
        return Ok(store.published(id, span, event).await?);
    }
    let span = Span { limit: LOOKED_AT, ..span };
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

/// The value about one gem.
fn one(what: &What, mut versions: Vec<json::Published>, base: &str) -> Result<Value> {
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
