//! What the lines of an upstream's `/versions` come to: the versions of each gem, since when each is listed, and the MD5 of its `/info`.

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
/// Most versions whose dates are remembered. Of others, the date of the first body counts.
const DATES_MAX: usize = 200_000;

/// When versions of a gem were published.
pub(crate) type Dates = Vec<(Box<str>, Millis)>;

/// What the lines come to. A clone shares their text.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    log: Versions,
    /// The lines that came together.
    seen: Vec<Seen>,
    /// The length of the first body, the end of its oldest part, and when that part was written.
    first: usize,
    oldest: usize,
    written: Option<Millis>,
    /// When versions of the first body were published, as their `/info` says: of gems that were asked for.
    dates: HashMap<String, Dates>,
    dated: usize,
    /// How many of them are not written, and what tells all of them from others.
    new: usize,
    mark: u64,
}

/// Where lines come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// The upstream's own file has them, byte for byte.
    Relayed,
    /// They say the same as the upstream's file.
    Made,
    /// They say another MD5 than the upstream's file, which is wrong.
    Correcting,
}

/// Lines that came together.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// Where they begin.
    from: usize,
    /// When they were first seen.
    at: Millis,
    /// Whether they are the upstream's own. If not, one of them may have come of several changes.
    relayed: bool,
}

/// What is listed of one gem, as it stands in the lines.
#[derive(Debug)]
pub(crate) struct Offer<'a> {
    pub(crate) name: &'a str,
    /// Its versions, in the order in which they were listed.
    pub(crate) versions: Vec<(&'a str, Moments)>,
    pub(crate) md5: &'a str,
}

/// What is known of the age of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moments {
    /// Since when it exists, as far as it is known.
    pub(crate) since: Millis,
    /// When it was first seen here.
    pub(crate) seen: Millis,
    /// Whether it was listed when the upstream was first seen. It may be older than `since` then.
    pub(crate) from_start: bool,
    /// Whether `since` is a date of the upstream. If not, it is the first sight.
    pub(crate) dated: bool,
}

impl Moments {
    /// Since when it exists, as policy counts it.
    pub(crate) fn age(self) -> Since {
        if self.dated { Since::Moment(self.since) } else { Since::FirstSeen(self.since) }
    }
}

/// What is listed of one gem.
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
    /// As `/versions` writes it: `1.0`, `1.0-java`.
    pub(crate) token: String,
    pub(crate) since: Millis,
    pub(crate) seen: Millis,
    pub(crate) from_start: bool,
    pub(crate) dated: bool,
}

impl ListedVersion {
    /// What is known of its age.
    pub(crate) fn moments(&self) -> Moments {
        let Self { since, seen, from_start, dated, .. } = *self;
        Moments { since, seen, from_start, dated }
    }

    /// Since when it exists, as policy counts it.
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

    /// Bytes of memory beside the text, which the log shares.
    pub(crate) fn weight(&self) -> u64 {
        (self.log.weight() + self.seen.capacity() * size_of::<Seen>()) as u64
    }

    /// Adds lines that were first seen at `at`. `first`: they are of the first body.
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

    /// What is listed of a gem; `None`: its name was never listed.
    pub(crate) fn gem(&self, name: &str) -> Option<Listed> {
        self.gem_by(name, usize::MAX)
    }

    /// When a name was first listed; `None` within: in the first body, so that nobody knows.
    pub(crate) fn began(&self, name: &str) -> Option<Option<Millis>> {
        let first = self.log.offsets_of(name, usize::MAX).pop()?;
        Some((first >= self.first).then(|| self.moments(None, "", first).seen))
    }

    /// The same when the lines ended at `end`.
    pub(crate) fn gem_by(&self, name: &str, end: usize) -> Option<Listed> {
        let (said, at) = self.log.said_at(name, end)?;
        Some(self.listed(name, said, &at))
    }

    /// Where the lines ended at the end of a moment; `None`: nothing had been seen by then.
    pub(crate) fn end(&self, moment: Millis) -> Option<usize> {
        let by_then = self.seen.partition_point(|seen| seen.at <= moment);
        (by_then > 0).then(|| self.seen.get(by_then).map_or_else(|| self.log.text().len(), |seen| seen.from))
    }

    /// How many bytes of lines were seen first after a moment, beside the first body.
    pub(crate) fn grown_since(&self, moment: Millis) -> usize {
        self.log.text().len() - self.end(moment).unwrap_or_default().max(self.first)
    }

    /// When anything was seen first.
    pub(crate) fn since(&self) -> Option<Millis> {
        self.seen.first().map(|seen| seen.at)
    }

    /// When a version was gone that had been listed when the lines ended at `end`.
    pub(crate) fn gone(&self, name: &str, token: &str, end: usize) -> Option<Millis> {
        self.log.withdrawn(name, token, end).map(|at| self.moments(None, token, at).seen)
    }

    /// Remembers when versions of the first body of a gem were published.
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

    /// Remembers the dates that were known before.
    pub(crate) fn set_dates(&mut self, gems: impl IntoIterator<Item = (String, Dates)>) {
        gems.into_iter().for_each(|(name, dates)| self.date(&name, dates));
        self.new = 0;
    }

    /// How many dates are not written, and how many there are.
    pub(crate) fn new_dates(&self) -> (usize, usize) {
        (self.new, self.dated)
    }

    /// All dates, to be written.
    pub(crate) fn take_new_dates(&mut self) -> Vec<(String, Dates)> {
        self.new = 0;
        self.dates.iter().map(|(name, dates)| (name.clone(), dates.clone())).collect()
    }

    /// All dates.
    pub(crate) fn into_dates(self) -> HashMap<String, Dates> {
        self.dates
    }

    /// What tells all dates from others.
    pub(crate) fn dates_mark(&self) -> u64 {
        self.mark
    }

    /// The names that were ever listed, in the order of their bytes, each with what `read` reads of it.
    pub(crate) fn all<T>(&self, read: impl Fn(&str, &Listed) -> T) -> Vec<(String, T)> {
        self.all_by(usize::MAX, read)
    }

    /// The same when the lines ended at `end`.
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

    /// Reads what was listed of each name when the lines ended at `end`.
    pub(crate) fn read_each(&self, end: usize, mut read: impl FnMut(&Offer<'_>)) {
        self.log.read_each(end, |name, tokens, at, md5| {
            let dates = self.dates_of(name);
            let moments = |(token, at): (&&'_ str, &usize)| self.moments(dates.as_ref(), token, *at);
            let moments: Vec<Moments> = tokens.iter().zip(at).map(moments).collect();
            read(&Offer { name, versions: tokens.iter().copied().zip(moments).collect(), md5 });
        });
    }

    /// Reads what is listed of one name; `None`: it was never listed.
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

    /// The MD5 of the `/info` of a gem without the tokens that are hidden, where the lines tell it.
    pub(crate) fn md5_without(&self, name: &str, hidden: impl Fn(&str) -> bool) -> Option<String> {
        self.log.md5_without(name, usize::MAX, hidden, |at| self.row_of(at).is_some_and(|seen| seen.relayed))
    }

    /// What the line at this offset came with.
    fn row_of(&self, at: usize) -> Option<&Seen> {
        self.seen.get(self.seen.partition_point(|seen| seen.from <= at).checked_sub(1)?)
    }

    fn listed(&self, name: &str, said: Said, at: &[usize]) -> Listed {
        let dates = self.dates_of(name);
        let version =
            |(token, at): (String, &usize)| ListedVersion::of(&token, self.moments(dates.as_ref(), &token, *at));
        Listed { versions: said.tokens.into_iter().zip(at).map(version).collect(), md5: said.md5 }
    }

    /// The dates of a gem by its versions, of which an upstream may list a hundred thousand.
    fn dates_of(&self, name: &str) -> Option<HashMap<&str, Millis>> {
        self.dates.get(name).map(|dates| dates.iter().map(|(token, date)| (&**token, *date)).collect())
    }

    /// What is known of the age of a version of the line at this offset.
    fn moments(&self, dates: Option<&HashMap<&str, Millis>>, token: &str, at: usize) -> Moments {
        let seen = self.row_of(at).map_or(Millis(0), |seen| seen.at);
        let from_start = at < self.first;
        let told = dates.filter(|_| from_start).and_then(|dates| dates.get(token));
        let date = told.copied().or_else(|| self.written.filter(|_| at < self.oldest));
        Moments { since: date.unwrap_or(seen), seen, from_start, dated: date.is_some() }
    }
}

impl ListedVersion {
    fn of(token: &str, Moments { since, seen, from_start, dated }: Moments) -> Self {
        Self { token: token.to_owned(), since, seen, from_start, dated }
    }
}

fn mark(name: &str, dates: &Dates) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    dates.iter().for_each(|(token, date)| (token, date.0).hash(&mut hasher));
    hasher.finish()
}

/// Where the last line ends, before `before`, that lists several versions: up to there lines are sums of what was said before the file was
/// begun, at the date in its header. Lines of one version may be of any later moment, as some servers' header has the date of their birth.
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
