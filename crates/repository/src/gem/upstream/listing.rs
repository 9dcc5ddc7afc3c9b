//! The result of an upstream's `/versions` lines: the versions of each gem, their first sights, and the MD5 of the
//! gem's `/info`.

#[cfg(test)]
mod tests;

use crate::policy::package_version::Since;
use bytes::Bytes;
use format::gem::info::moment;
use format::gem::upstream::{Refusal, Said, Versions};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use telemetry::Millis;

/// The text before the date in the first line.
const CREATED: &str = "created_at: ";
/// Maximum number of versions whose dates are stored. For others the date of the first file counts.
const DATES_MAX: usize = 200_000;

/// The publication dates of a gem's versions.
pub(crate) type Dates = Vec<(Box<str>, Millis)>;

/// The result of the lines. A clone shares their text.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    log: Versions,
    /// The groups of lines that arrived together.
    seen: Vec<Seen>,
    /// The length of the first file, the end of its oldest part, and when that part was written.
    first: usize,
    oldest: usize,
    written: Option<Millis>,
    /// The publication dates of versions in the first file, from the `/info` files that clients requested. A version without a
    /// date there has the one that was known before.
    dates: HashMap<String, Dates>,
    dated: usize,
    /// How many of the dates are not saved, and a mark that identifies the set of dates.
    new: usize,
    mark: u64,
}

/// The source of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// The upstream's own file contains them, byte for byte.
    Relayed,
    /// They have the same meaning as the upstream's file.
    Made,
    /// They correct an MD5 of the upstream's file.
    Correcting,
}

/// Lines that arrived together.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// Where they begin.
    from: usize,
    /// When they were first seen.
    at: Millis,
    /// Whether they are the upstream's own. If not, one of them may stand for several changes.
    relayed: bool,
}

/// The listed versions of one gem, borrowed from the lines.
#[derive(Debug)]
pub(crate) struct Offer<'a> {
    pub(crate) name: &'a str,
    /// Its versions, in the order in which they were listed.
    pub(crate) versions: Vec<(&'a str, Moments)>,
    pub(crate) md5: &'a str,
}

/// The known facts about the age of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moments {
    /// The date that its age counts from.
    pub(crate) since: Millis,
    /// When it was first seen here.
    pub(crate) seen: Millis,
    /// Whether it was listed at the first look. Then it may be older than `since`.
    pub(crate) from_start: bool,
    pub(crate) dated: Dated,
    /// Whether `/info` was read for the date of a version that was listed at the first look.
    pub(crate) asked: bool,
}

/// The source of the date that an age counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dated {
    /// The first sight here: the upstream gives no date that is believed.
    No,
    /// The date of the upstream's first file, which listed the version by then.
    By,
    /// The date of the version.
    On,
}

impl Moments {
    /// The date for policies, once `/info` was read.
    pub(crate) fn age(self) -> Since {
        match self.dated {
            Dated::On => Since::Moment(self.since),
            Dated::By => Since::By(self.since),
            Dated::No => Since::FirstSeen(self.since),
        }
    }

    /// The date for the policies of lists. `/info` may prove that a version of the first look is old, and lists do not
    /// wait for it: they name the version until `/info` was read.
    pub(crate) fn age_in_lists(self) -> Since {
        if self.from_start && !self.asked { Since::Always } else { self.age() }
    }
}

/// The listed versions of one gem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its versions in the order in which they were listed.
    pub(crate) versions: Vec<ListedVersion>,
    /// The MD5 of its `/info`, hexadecimal.
    pub(crate) md5: String,
}

impl Listed {
    /// Whether it lists this version.
    pub(crate) fn has(&self, token: &str) -> bool {
        self.versions.iter().any(|version| version.token == token)
    }
}

/// One version that is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedVersion {
    /// The form of `/versions`: `1.0`, `1.0-java`.
    pub(crate) token: String,
    pub(crate) since: Millis,
    pub(crate) seen: Millis,
    pub(crate) from_start: bool,
    pub(crate) dated: Dated,
    pub(crate) asked: bool,
}

impl ListedVersion {
    /// The known facts about its age.
    pub(crate) fn moments(&self) -> Moments {
        let Self { since, seen, from_start, dated, asked, .. } = *self;
        Moments { since, seen, from_start, dated, asked }
    }

    /// The date for policies.
    pub(crate) fn age(&self) -> Since {
        self.moments().age()
    }
}

impl Default for Listing {
    fn default() -> Self {
        let (log, seen, dates) = (Versions::new(), Vec::new(), HashMap::new());
        Self { log, seen, first: 0, oldest: 0, written: None, dates, dated: 0, new: 0, mark: 0 }
    }
}

impl Listing {
    /// The lines.
    pub(crate) fn log(&self) -> &Versions {
        &self.log
    }

    /// The size in memory without the text, which the log shares, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        (self.log.weight() + self.seen.capacity() * size_of::<Seen>()) as u64
    }

    /// Adds lines that were first seen at `at`. `first`: they belong to the first file.
    pub(crate) fn add(&mut self, lines: Bytes, at: Millis, of: Lines, first: bool) -> Result<(), Refusal> {
        let from = self.log.text().len();
        self.seen.push(Seen { from, at, relayed: of == Lines::Relayed });
        self.log.push(lines.clone())?;
        if first && let Ok(lines) = std::str::from_utf8(&lines) {
            self.first = self.log.text().len();
            if let Some(end) = end_of_sums(lines, self.log.first_repeated().saturating_sub(from)) {
                self.oldest = from + end;
            }
            let date = lines.lines().next().and_then(|line| line.strip_prefix(CREATED)).and_then(moment);
            let date = date.map(|seconds| Millis(seconds.saturating_mul(1000)));
            self.written = self.written.or_else(|| date.filter(|date| *date <= at));
        }
        Ok(())
    }

    /// The listed versions of a gem; `None`: its name was never listed.
    pub(crate) fn gem(&self, name: &str) -> Option<Listed> {
        self.gem_by(name, usize::MAX)
    }

    /// When a name was first listed. `Some(None)`: in the first file, so the date is unknown.
    pub(crate) fn began(&self, name: &str, end: usize) -> Option<Option<Millis>> {
        let first = self.log.offsets_of(name, end).pop()?;
        Some((first >= self.first).then(|| self.moments(None, "", first).seen))
    }

    /// The same for the lines before `end`.
    pub(crate) fn gem_by(&self, name: &str, end: usize) -> Option<Listed> {
        let (said, at) = self.log.said_at(name, end)?;
        Some(self.listed(name, said, &at))
    }

    /// The length of the lines at the end of a moment; `None`: nothing had been seen by then.
    pub(crate) fn end(&self, moment: Millis) -> Option<usize> {
        let by_then = self.seen.partition_point(|seen| seen.at <= moment);
        (by_then > 0).then(|| self.seen.get(by_then).map_or_else(|| self.log.text().len(), |seen| seen.from))
    }

    /// The number of bytes that were first seen after a moment, apart from the first file.
    pub(crate) fn grown_since(&self, moment: Millis) -> usize {
        self.log.text().len() - self.end(moment).unwrap_or_default().max(self.first)
    }

    /// The moment of the first look.
    pub(crate) fn since(&self) -> Option<Millis> {
        self.seen.first().map(|seen| seen.at)
    }

    /// When a version disappeared that was listed in the lines before `end`.
    pub(crate) fn gone(&self, name: &str, token: &str, end: usize) -> Option<Millis> {
        self.log.withdrawn(name, token, end).map(|at| self.moments(None, token, at).seen)
    }

    /// Stores the publication dates of a gem's versions in the first file.
    pub(crate) fn date(&mut self, name: &str, dates: Dates) {
        let before = self.dates.get(name).map_or(0, Vec::len);
        if !dates.is_empty() && self.dated - before + dates.len() <= DATES_MAX {
            self.dated = self.dated - before + dates.len();
            self.new += dates.len();
            self.mark = self.mark.wrapping_add(mark(name, &dates));
            if let Some(before) = self.dates.insert(name.to_owned(), dates) {
                self.mark = self.mark.wrapping_sub(mark(name, &before));
            }
        }
    }

    /// Restores saved dates.
    pub(crate) fn set_dates(&mut self, gems: impl IntoIterator<Item = (String, Dates)>) {
        gems.into_iter().for_each(|(name, dates)| self.date(&name, dates));
        self.new = 0;
    }

    /// The number of dates that are not saved, and the number of all dates.
    pub(crate) fn new_dates(&self) -> (usize, usize) {
        (self.new, self.dated)
    }

    /// All dates, to be saved.
    pub(crate) fn take_new_dates(&mut self) -> Vec<(String, Dates)> {
        self.new = 0;
        self.dates.iter().map(|(name, dates)| (name.clone(), dates.clone())).collect()
    }

    /// All dates.
    pub(crate) fn into_dates(self) -> HashMap<String, Dates> {
        self.dates
    }

    /// A mark that identifies the set of dates.
    pub(crate) fn dates_mark(&self) -> u64 {
        self.mark
    }

    /// All names that were ever listed, in byte order, each with the result of `read`.
    pub(crate) fn all<T>(&self, read: impl Fn(&str, &Listed) -> T) -> Vec<(String, T)> {
        self.all_by(usize::MAX, read)
    }

    /// The same for the lines before `end`.
    pub(crate) fn all_by<T>(&self, end: usize, read: impl Fn(&str, &Listed) -> T) -> Vec<(String, T)> {
        let mut all: Vec<(String, T)> = Vec::new();
        self.read_each(end, |offer| {
            let version = |(token, moments): &(&str, Moments)| ListedVersion::of(token, *moments);
            let versions = offer.versions.iter().map(version).collect();
            let listed = Listed { versions, md5: offer.md5.to_owned() };
            all.push((offer.name.to_owned(), read(offer.name, &listed)));
        });
        all.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        all
    }

    /// Calls `read` with the listed versions of each name in the lines before `end`.
    pub(crate) fn read_each(&self, end: usize, mut read: impl FnMut(&Offer<'_>)) {
        self.log.read_each(end, |name, tokens, at, md5| {
            let dates = self.dates_of(name);
            let moments = |(token, at): (&&'_ str, &usize)| self.moments(dates.as_ref(), token, *at);
            let moments: Vec<Moments> = tokens.iter().zip(at).map(moments).collect();
            read(&Offer { name, versions: tokens.iter().copied().zip(moments).collect(), md5 });
        });
    }

    /// The result of `read` for the listed versions of one name; `None`: it was never listed.
    pub(crate) fn read_one<T>(&self, name: &str, read: impl FnOnce(&Offer<'_>) -> T) -> Option<T> {
        let (said, at) = self.log.said_at(name, usize::MAX)?;
        let dates = self.dates_of(name);
        let versions = said.tokens.iter().zip(&at);
        let versions = versions.map(|(token, at)| (token.as_str(), self.moments(dates.as_ref(), token, *at))).collect();
        Some(read(&Offer { name, versions, md5: &said.md5 }))
    }

    /// When the last line before `end` was first seen.
    pub(crate) fn seen_by(&self, end: usize) -> Option<Millis> {
        let lines = self.seen.partition_point(|seen| seen.from < end);
        self.seen.get(lines.checked_sub(1)?).map(|seen| seen.at)
    }

    /// The MD5 of a gem's `/info` without the hidden tokens, if the lines have it.
    pub(crate) fn md5_without(&self, name: &str, hidden: impl Fn(&str) -> bool) -> Option<String> {
        self.log.md5_without(name, usize::MAX, hidden, |at| self.row_of(at).is_some_and(|seen| seen.relayed))
    }

    /// The group of lines that contains this offset.
    fn row_of(&self, at: usize) -> Option<&Seen> {
        self.seen.get(self.seen.partition_point(|seen| seen.from <= at).checked_sub(1)?)
    }

    fn listed(&self, name: &str, said: Said, at: &[usize]) -> Listed {
        let dates = self.dates_of(name);
        let version =
            |(token, at): (String, &usize)| ListedVersion::of(&token, self.moments(dates.as_ref(), &token, *at));
        Listed { versions: said.tokens.into_iter().zip(at).map(version).collect(), md5: said.md5 }
    }

    /// The dates of a gem by version. An upstream may list a hundred thousand versions.
    fn dates_of(&self, name: &str) -> Option<HashMap<&str, Millis>> {
        self.dates.get(name).map(|dates| dates.iter().map(|(token, date)| (&**token, *date)).collect())
    }

    /// The known facts about the age of a version in the line at this offset.
    fn moments(&self, dates: Option<&HashMap<&str, Millis>>, token: &str, at: usize) -> Moments {
        let seen = self.row_of(at).map_or(Millis(0), |seen| seen.at);
        let from_start = at < self.first;
        let told = dates.filter(|_| from_start).and_then(|dates| dates.get(token));
        let written = self.written.filter(|_| at < self.oldest);
        // A version whose `/info` has no date keeps the date that it had.
        let (since, dated) = match (told.copied(), written) {
            (Some(told), _) if told >= seen => (seen, Dated::No),
            (Some(told), written) if written != Some(told) => (told, Dated::On),
            (_, Some(written)) => (written, Dated::By),
            (_, None) => (seen, Dated::No),
        };
        Moments { since, seen, from_start, dated, asked: told.is_some() }
    }
}

impl ListedVersion {
    fn of(token: &str, Moments { since, seen, from_start, dated, asked }: Moments) -> Self {
        Self { token: token.to_owned(), since, seen, from_start, dated, asked }
    }
}

fn mark(name: &str, dates: &Dates) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    dates.iter().for_each(|(token, date)| (token, date.0).hash(&mut hasher));
    hasher.finish()
}

/// The end of the last line before `before` that lists several versions. Lines up to there are the summary with which
/// the file was written, at the date in its header. A line with one version may be of any later date; the header of
/// some servers has the date of their creation.
fn end_of_sums(lines: &str, before: usize) -> Option<usize> {
    let (mut at, mut end) = (0, None);
    for line in lines.split_inclusive('\n') {
        at += line.len();
        if at > before {
            break;
        }
        let versions = line.split(' ').nth(1).unwrap_or_default();
        if versions.contains(',') && !versions.split(',').any(|version| version.starts_with('-')) {
            end = Some(at);
        }
    }
    end
}
