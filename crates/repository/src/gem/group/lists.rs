//! `/names` and the older index of a group, made from its `/versions`. An update reads only the lines that were added
//! since, also after a start.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::group::GroupGems;
use crate::gem::group::versions::ReadLog;
use crate::gem::indexes::last_modified::end_of_second;
use crate::gem::indexes::names::NameList;
use crate::gem::indexes::specs::{GemParts, Packed, SpecFiles, packed};
use crate::gem::indexes::view_log::ViewLog;
use crate::gem::spec_parts::parts_of_versions;
use crate::gem::upstream::specs::identity;
use crate::gem::views::{ViewAnswer, ViewPart};
use crate::index::document::Index;
use crate::index::incremental_index::IndexSource;
use crate::index::rope::chunks::{Chunks, UNITS};
use crate::index::rope::log_end::LogEnd;
use format::gem;
use format::gem::specs;
use format::gem::upstream::Versions;
use std::collections::{BTreeMap, BTreeSet};
use store::{Lane, Seq};
use telemetry::{Event, Op};

/// The part of a log after a known position.
struct News {
    gems: Gems,
    /// The end of the log, and the last change that it includes.
    end: LogEnd,
    through: Seq,
}

/// Gems with their visible versions.
enum Gems {
    All(Versions),
    These(BTreeMap<String, Vec<String>>),
}

impl News {
    fn since(read: Option<&LogEnd>, log: &ViewLog, index: &Index) -> Self {
        let gems = match read.and_then(|read| read.news(index)) {
            None => Gems::All(log.said().clone()),
            Some(lines) => {
                let names: BTreeSet<&[u8]> = lines.split(|byte| *byte == b'\n').filter_map(name).collect();
                let names = names.into_iter().filter_map(|name| std::str::from_utf8(name).ok());
                Gems::These(names.map(|name| (name.to_owned(), log.tokens(name))).collect())
            }
        };
        Self { gems, end: LogEnd::of(index), through: log.through() }
    }
}

fn name(line: &[u8]) -> Option<&[u8]> {
    line.split(|byte| *byte == b' ').next().filter(|name| !name.is_empty())
}

impl GroupGems<'_> {
    /// `/names`.
    pub(crate) async fn names(self, event: &mut Event) -> Result<Index, Error> {
        self.look_at_all(event).await?;
        let index = match self.is_logged() {
            true => self.logged_names(event).await?,
            false => self.rendered_names(event).await?,
        };
        Ok(self.dated(index))
    }

    async fn logged_names(self, event: &mut Event) -> Result<Index, Error> {
        // A task that has the turn of a list takes that of the log, never the other way round.
        let mut turn = event.waited(Op::TurnWait, self.local.indexes.names.clone().lock_owned()).await;
        turn = self.local.context.read_index(turn, event).await?;
        let read = turn.source().and_then(NameList::read_of).cloned();
        let news = |log: &ViewLog, index: &Index| News::since(read.as_ref(), log, index);
        let ReadLog { index: log, stamp, found: News { gems, end, through } } = self.log(event, news).await?;
        if let Gems::All(_) = gems {
            turn.replace(NameList::new(through));
        }
        let change = move |list: &mut NameList| {
            match gems {
                Gems::All(said) => list.append(&offered(&said))?,
                Gems::These(gems) => {
                    let offered = gems.into_iter().map(|(name, tokens)| (name, !tokens.is_empty()));
                    list.change(offered.collect(), through)?;
                }
            }
            list.is_read_of(end);
            list.whole().cloned().map_or_else(|| list.index(), Ok)
        };
        let index;
        (turn, index) = self.local.context.change_index(turn, event, change).await?;
        let index = self.local.context.settle_index(turn, stamp, index);
        Ok(Index { fresh_until: log.fresh_until, ..index })
    }

    /// The same, rendered as a whole: as of a moment, or for an explanation.
    async fn rendered_names(self, event: &mut Event) -> Result<Index, Error> {
        let make = async |event: &mut Event| {
            let (says, until) = self.says_then(event).await?;
            let render = move |(): &mut ()| {
                let names = says.iter().filter(|(_, says)| !says.tokens.is_empty());
                let lines: Vec<String> = names.map(|(name, _)| gem::names::line(name)).collect();
                Index::of([gem::names::opening(lines.len()), &lines.concat()].concat().into_bytes())
            };
            let index = self.local.context.workers.run(Lane::Index, Op::IndexRender, event, render).await?;
            Ok((ViewAnswer::from(Found::Index(Index { fresh_until: until, ..index })), until))
        };
        match self.local.once(ViewPart::Names, self.now(), event, make).await?.found()? {
            Found::Index(index) => Ok(index),
            _ => Err(Error::GivenUp),
        }
    }

    /// One of the three files of the older index.
    pub(crate) async fn specs(self, file: specs::File, event: &mut Event) -> Result<Found, Error> {
        self.look_at_all(event).await?;
        let found = match self.is_logged() {
            true => self.logged_specs(file, event).await,
            false => self.rendered_specs(file, event).await,
        };
        Ok(match found? {
            Found::Packed(file) => Found::Packed(Packed { freshness: self.freshness().0, ..file }),
            other => other,
        })
    }

    async fn logged_specs(self, file: specs::File, event: &mut Event) -> Result<Found, Error> {
        let mut turn = event.waited(Op::TurnWait, self.local.indexes.specs.clone().lock_owned()).await;
        turn = self.local.context.read_index(turn, event).await?;
        let read = turn.source().and_then(SpecFiles::read_of).cloned();
        let news = |log: &ViewLog, index: &Index| News::since(read.as_ref(), log, index);
        let ReadLog { stamp, found: News { gems, end, through }, .. } = self.log(event, news).await?;
        let (indexes, now) = (self.local.indexes, self.now());
        let date = indexes.sent_dates.next(now);
        if let Gems::All(_) = gems {
            turn.replace(SpecFiles::new(through, date));
        }
        let change = move |made: &mut SpecFiles| {
            match gems {
                Gems::All(said) => {
                    for names in offered(&said).chunks(UNITS) {
                        let tokens = |name: &str| said.said(name).map(|said| said.tokens).unwrap_or_default();
                        made.append(
                            names.iter().map(|name| (name.clone(), parts(name, &tokens(name)))).collect(),
                            None,
                        )?;
                    }
                    made.append(Vec::new(), None)?;
                }
                Gems::These(gems) => {
                    let parts = gems.into_iter().map(|(name, tokens)| (parts(&name, &tokens), name));
                    made.change(parts.map(|(parts, name)| (name, parts)).collect(), through, date)?;
                }
            }
            made.is_read_of(end);
            made.files()
        };
        let files;
        (turn, files) = self.local.context.change_index(turn, event, change).await?;
        let sent = indexes.sent_dates.file(&files[file as usize], now);
        self.local.context.settle_index(turn, stamp, files);
        Ok(Found::Packed(sent))
    }

    /// The same, rendered as a whole: as of a moment, or for an explanation.
    async fn rendered_specs(self, file: specs::File, event: &mut Event) -> Result<Found, Error> {
        let now = self.now();
        let make = async |event: &mut Event| {
            let (says, until) = self.says_then(event).await?;
            let made = end_of_second(self.now());
            let pack = move |(): &mut ()| {
                let mut chunks = Chunks::new();
                let mut units = says.iter().map(|(name, says)| (name.clone(), parts(name, &says.tokens))).peekable();
                while units.peek().is_some() {
                    chunks.append(units.by_ref().take(UNITS).collect())?;
                }
                packed(&chunks, file, made)
            };
            let file = self.local.context.workers.run(Lane::Index, Op::IndexRender, event, pack).await??;
            Ok((ViewAnswer::from(Found::Packed(file)), until))
        };
        self.local.once(ViewPart::Specs(file), now, event, make).await?.found_at(now)
    }
}

/// The names that have a published version, in order.
fn offered(said: &Versions) -> Vec<String> {
    let mut names = Vec::new();
    said.read_each(usize::MAX, |name, tokens, _, _| {
        if !tokens.is_empty() {
            names.push(name.to_owned());
        }
    });
    names.sort_unstable();
    names
}

/// The parts of one gem. Versions that no client of the older index can read are left out.
fn parts(name: &str, tokens: &[String]) -> GemParts {
    parts_of_versions(name, tokens.iter().filter_map(|token| identity(token)).collect())
}
