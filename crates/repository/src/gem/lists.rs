//! `/names` and the older index of an upstream or of a group, made from lines of `/versions`. An update reads only the
//! lines that were added since, also after a start.

use crate::error::Result;
use crate::gem::group::GroupGems;
use crate::gem::group::versions::ReadLog;
use crate::gem::indexes::GemIndexes;
use crate::gem::indexes::names::NameList;
use crate::gem::indexes::specs::{Packed, SpecFiles};
use crate::gem::indexes::view_log::ViewLog;
use crate::gem::spec_parts::parts_of_tokens;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::index::Known;
use crate::index::document::Index;
use crate::index::incremental_index::{IndexSource, SharedIndex};
use crate::index::rope::chunks::UNITS;
use crate::index::rope::log_end::LogEnd;
use format::gem::specs;
use format::gem::upstream::Versions;
use std::collections::{BTreeMap, BTreeSet};
use store::Seq;
use telemetry::{Event, Millis, Op};

/// The changes of the lines since a list was made from them.
pub(crate) struct News {
    gems: Gems,
    /// The last change that the lines include.
    through: Seq,
    /// The end of the log of a group.
    end: Option<LogEnd>,
}

/// Gems with their versions.
enum Gems {
    All(Versions),
    These(BTreeMap<String, Vec<String>>),
}

impl News {
    /// The lines of an upstream after this change.
    fn of_upstream(known: &Known, after: Option<Seq>) -> Self {
        let lines = known.listing.log();
        let gems = match after.and_then(|after| known.changed_since(after)) {
            None => Gems::All(lines.clone()),
            Some(names) => Gems::These(names.into_iter().map(|name| tokens_of(lines, name)).collect()),
        };
        Self { gems, through: known.last, end: None }
    }

    /// The lines of the log of a group after this position.
    fn of_log(log: &ViewLog, index: &Index, after: Option<&LogEnd>) -> Self {
        let gems = match after.and_then(|after| after.news(index)) {
            None => Gems::All(log.said().clone()),
            Some(lines) => {
                let names: BTreeSet<&[u8]> = lines.split(|byte| *byte == b'\n').filter_map(name).collect();
                let names = names.into_iter().filter_map(|name| std::str::from_utf8(name).ok());
                Gems::These(names.map(|name| tokens_of(log.said(), name.to_owned())).collect())
            }
        };
        Self { gems, through: log.through(), end: Some(LogEnd::of(index)) }
    }
}

fn name(line: &[u8]) -> Option<&[u8]> {
    line.split(|byte| *byte == b' ').next().filter(|name| !name.is_empty())
}

fn tokens_of(lines: &Versions, name: String) -> (String, Vec<String>) {
    let tokens = lines.said(&name).map(|said| said.tokens).unwrap_or_default();
    (name, tokens)
}

/// The names in the lines, in order. `all`: also those without versions.
fn names(lines: &Versions, all: bool) -> Vec<String> {
    let mut names = Vec::new();
    lines.read_each(usize::MAX, |name, tokens, _, _| {
        if all || !tokens.is_empty() {
            names.push(name.to_owned());
        }
    });
    names.sort_unstable();
    names
}

/// A list that is made from lines of `/versions`.
trait LineList: IndexSource {
    /// An empty list as of this change, with this date.
    fn empty(through: Seq, date: Millis) -> Self;

    /// The last change, and the position in the log of a group, up to which lines were read; `None`: the list is not
    /// finished.
    fn read_through(&self) -> Option<(Seq, Option<LogEnd>)>;

    /// Adds the news.
    fn update(&mut self, news: News, date: Millis) -> Result<Self::Whole>;
}

impl LineList for NameList {
    fn empty(through: Seq, _: Millis) -> Self {
        Self::new(through)
    }

    fn read_through(&self) -> Option<(Seq, Option<LogEnd>)> {
        Some((self.through(), self.read_of().cloned()))
    }

    fn update(&mut self, News { gems, through, end }: News, _: Millis) -> Result<Index> {
        match gems {
            Gems::All(lines) => self.append(&names(&lines, false))?,
            Gems::These(gems) => {
                self.change(gems.into_iter().map(|(name, tokens)| (name, !tokens.is_empty())).collect(), through)?;
            }
        }
        end.into_iter().for_each(|end| self.is_read_of(end));
        self.whole().cloned().map_or_else(|| self.index(), Ok)
    }
}

impl LineList for SpecFiles {
    fn empty(through: Seq, date: Millis) -> Self {
        Self::new(through, date)
    }

    fn read_through(&self) -> Option<(Seq, Option<LogEnd>)> {
        self.unfinished().is_none().then(|| (self.through(), self.read_of().cloned()))
    }

    fn update(&mut self, News { gems, through, end }: News, date: Millis) -> Result<[Packed; 3]> {
        let parts = |(name, tokens): (String, Vec<String>)| {
            let parts = parts_of_tokens(&name, &tokens);
            (name, parts)
        };
        match gems {
            Gems::All(lines) => {
                // The chunks of an upstream's files count its gems without versions.
                for names in names(&lines, end.is_none()).chunks(UNITS) {
                    self.append(names.iter().map(|name| parts(tokens_of(&lines, name.clone()))).collect(), None)?;
                }
                self.append(Vec::new(), None)?;
            }
            Gems::These(gems) => self.change(gems.into_iter().map(parts).collect(), through, date)?,
        }
        end.into_iter().for_each(|end| self.is_read_of(end));
        self.files()
    }
}

/// The lines that lists are made from.
#[derive(Clone, Copy)]
pub(crate) enum Lines<'a> {
    /// Of an upstream.
    Upstream(RemoteGems<'a>),
    /// The log of a group.
    Log(GroupGems<'a>),
}

impl Lines<'_> {
    /// `/names`.
    pub(crate) async fn names(self, event: &mut Event) -> Result<Index> {
        let (index, fresh_until) = self.list(|indexes| &indexes.names, |_, names, _| names.clone(), event).await?;
        Ok(Index { fresh_until, ..index })
    }

    /// One of the three files of the older index.
    pub(crate) async fn specs(self, file: specs::File, event: &mut Event) -> Result<Packed> {
        let send = |indexes: &GemIndexes, files: &[Packed; 3], now| indexes.sent_dates.file(&files[file as usize], now);
        Ok(self.list(|indexes| &indexes.specs, send, event).await?.0)
    }

    /// Brings a list up to date. Returns what `send` makes of it during the turn, and when the log of a group changes.
    async fn list<T: LineList, R>(
        self,
        list: impl Fn(&GemIndexes) -> &SharedIndex<T>,
        send: impl Fn(&GemIndexes, &T::Whole, Millis) -> R,
        event: &mut Event,
    ) -> Result<(R, Option<Millis>)> {
        let (Self::Upstream(RemoteGems { local, .. }) | Self::Log(GroupGems { local, .. })) = self;
        let (indexes, context) = (local.indexes, local.context);
        // A task that has the turn of a list takes that of the log, never the other way round.
        let mut turn = event.waited(Op::TurnWait, list(indexes).clone().lock_owned()).await;
        let now = local.services.clock.now();
        if let Self::Upstream(_) = self
            && let Some(whole) = turn.current(local.store, now)
        {
            return Ok((send(indexes, &whole, now), None));
        }
        let (date, stamp) = (indexes.sent_dates.next(now), local.stamp());
        turn = context.read_index(turn, event).await?;
        let read = turn.source().and_then(T::read_through);
        let (news, stamp, fresh_until) = match self {
            Self::Upstream(remote) => {
                let after = read.map(|(through, _)| through);
                (remote.known(|known| News::of_upstream(known, after))?, stamp, None)
            }
            Self::Log(group) => {
                let after = read.and_then(|(_, end)| end);
                let news = |log: &ViewLog, index: &Index| News::of_log(log, index, after.as_ref());
                let ReadLog { index, stamp, found } = group.log(event, news).await?;
                (found, stamp, index.fresh_until)
            }
        };
        if let Gems::All(_) = news.gems {
            turn.replace(T::empty(news.through, date));
        }
        let whole;
        (turn, whole) = context.change_index(turn, event, move |list: &mut T| list.update(news, date)).await?;
        let sent = send(indexes, &whole, now);
        context.settle_index(turn, stamp, whole);
        Ok((sent, fresh_until))
    }
}
