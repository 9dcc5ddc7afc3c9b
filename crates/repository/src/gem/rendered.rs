//! Renders the large indexes as a whole, for views that differ from the shared indexes: as of a moment, through a
//! policy, or for an explanation.

use crate::content::soonest;
use crate::error::Result;
use crate::gem::Found;
use crate::gem::group::says::hosted_says;
use crate::gem::hosted::Hosted;
use crate::gem::indexes::last_modified::end_of_second;
use crate::gem::indexes::specs::{GemParts, Packed, packed};
use crate::gem::indexes::view_log::ToSay;
use crate::gem::info::make;
use crate::gem::info_lines::facts;
use crate::gem::source::GemSource;
use crate::gem::spec_parts::{parts_of, parts_of_tokens};
use crate::gem::views::{ViewAnswer, ViewPart, WholeIndex};
use crate::index::document::Index;
use crate::index::rope::chunks::{Chunks, UNITS};
use crate::policy::rules::View;
use crate::repository::Repository;
use crate::visible::{gone, next_change, visible};
use format::gem::{self, Identity, Package};
use store::{Entry, Lane};
use telemetry::{Event, Millis, Op};

/// Number of gems that one step of a reader thread reads.
const PAGE: usize = 1_000;

/// A gem in a view.
#[derive(Clone, Copy)]
enum SeenGem<'g> {
    /// The rows of a hosted repository. Each document reads only the facts that it needs.
    Rows(&'g [Entry], &'g Repository, View<'g>),
    Said(&'g ToSay),
}

impl SeenGem<'_> {
    /// Its line in `/versions`; `None`: it has no line.
    fn line(self, name: &str) -> Result<Option<String>> {
        match self {
            Self::Rows(rows, repository, view) => {
                let says = hosted_says(rows, repository, view)?;
                Ok((!says.tokens.is_empty() || gone(rows, view)).then(|| says.line(name)))
            }
            Self::Said(says) => Ok(Some(says.line(name))),
        }
    }

    fn has_versions(self) -> bool {
        match self {
            Self::Rows(rows, _, view) => visible(rows, view).next().is_some(),
            Self::Said(says) => !says.tokens.is_empty(),
        }
    }

    /// Its parts of the older index.
    fn parts(self, name: &str) -> Result<GemParts> {
        let identity = |row: &Entry| {
            let Package { number, platform, .. } = facts(row)?;
            Ok(Identity { number, platform })
        };
        match self {
            Self::Rows(rows, _, view) => parts_of(name, rows, view, identity),
            Self::Said(says) => Ok(parts_of_tokens(name, &says.tokens)),
        }
    }
}

impl GemSource<'_> {
    /// An index of this view.
    pub(crate) async fn rendered(self, index: WholeIndex, event: &mut Event) -> Result<Found> {
        let now = self.now();
        let make = async |event: &mut Event| self.render(index, now, event).await.map(ViewAnswer::from);
        self.local().once(ViewPart::Whole(index), now, event, make).await?.found_at(now)
    }

    async fn render(self, index: WholeIndex, now: Millis, event: &mut Event) -> Result<Found> {
        let local = self.local();
        let (index, until) = match index {
            WholeIndex::Versions => {
                let (lines, until) = self.each(|name: &str, gem: SeenGem<'_>| gem.line(name), now, event).await?;
                let created = self.created(now)?.seconds();
                let (gems, render) = (lines.len(), move || Ok(gem::versions::render(created, lines)));
                (make(local, gems, event, render).await?, until)
            }
            WholeIndex::Names => {
                let name = |name: &str, gem: SeenGem<'_>| Ok(gem.has_versions().then(|| gem::names::line(name)));
                let (names, until) = self.each(name, now, event).await?;
                let render = move || Ok([gem::names::opening(names.len()), &names.concat()].concat().into_bytes());
                (make(local, PAGE, event, render).await?, until)
            }
            WholeIndex::Specs(file) => {
                let parts = |name: &str, gem: SeenGem<'_>| Ok(Some((name.to_owned(), gem.parts(name)?)));
                let (parts, until) = self.each(parts, now, event).await?;
                // Policy and purges change the visible versions without a change of the rows.
                let modified = end_of_second(local.store.now());
                let pack = move |(): &mut ()| {
                    let (mut chunks, mut units) = (Chunks::new(), parts.into_iter().peekable());
                    while units.peek().is_some() {
                        chunks.append(units.by_ref().take(UNITS).collect())?;
                    }
                    packed(&chunks, file, modified)
                };
                let file = local.context.workers.run(Lane::Index, Op::IndexRender, event, pack).await??;
                return Ok(Found::Packed(Packed { fresh_until: until, ..file }));
            }
        };
        Ok(Found::Index(Index { fresh_until: until, ..index }))
    }

    /// The date in the header of `/versions`.
    fn created(self, now: Millis) -> Result<Millis> {
        match self {
            Self::Hosted(hosted) => Ok(hosted.repository.record.created),
            // All listed versions existed at that date; clients that follow the index rely on it.
            Self::Remote(remote) => {
                let end = remote.end()?;
                Ok(remote.known(|known| known.listing.seen_by(end))?.unwrap_or_default())
            }
            Self::Group(group) => Ok(group.local.repository.as_of.map_or(now, |past| past.until)),
        }
    }

    /// The results of `say` for each gem, in the order of their names, and when the view shows other versions.
    async fn each<T: Send + 'static>(
        self,
        say: impl Fn(&str, SeenGem<'_>) -> Result<Option<T>> + Clone + Send + 'static,
        now: Millis,
        event: &mut Event,
    ) -> Result<(Vec<T>, Option<Millis>)> {
        let (states, until) = match self {
            Self::Hosted(hosted) => return each_of_rows(hosted, say, now, event).await,
            Self::Remote(remote) => Box::pin(remote.states(event)).await?,
            Self::Group(group) => Box::pin(group.states(event)).await?,
        };
        let say = move |(): &mut ()| {
            let said = states.iter().filter_map(|(name, says)| say(name, SeenGem::Said(says)).transpose());
            said.collect::<Result<Vec<T>>>()
        };
        let said = self.local().context.workers.run(Lane::Index, Op::IndexRender, event, say).await??;
        Ok((said, until))
    }
}

async fn each_of_rows<T: Send + 'static>(
    hosted: Hosted<'_>,
    say: impl Fn(&str, SeenGem<'_>) -> Result<Option<T>> + Clone + Send + 'static,
    now: Millis,
    event: &mut Event,
) -> Result<(Vec<T>, Option<Millis>)> {
    let (mut said, mut until, mut after) = (Vec::new(), None::<Millis>, Some(String::new()));
    while let Some(from) = after {
        let (say, repository) = (say.clone(), hosted.repository.clone());
        let read = move |name: &str, rows: Vec<Entry>| {
            let view = repository.view(now);
            let one = match rows.is_empty() {
                true => Ok(None),
                false => say(name, SeenGem::Rows(&rows, &repository, view)),
            };
            (next_change(&rows, view), one)
        };
        let (some, last) = hosted.repository.units(hosted.store, &from, PAGE, read, event).await?;
        for (turns, one) in some {
            until = soonest(until, turns);
            said.extend(one?);
        }
        after = last;
    }
    Ok((said, until))
}
