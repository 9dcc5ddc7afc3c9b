//! How long requests for each repository waited for their first byte, by cost class and class of the status.

use crate::counts::repository_counts::{Repositories, RepositoryIndex};
use crate::recorder::glance::Glance;
use crate::{Class, Histogram};
use std::collections::HashMap;

/// The most histograms. Requests beyond them count together.
const HISTOGRAMS_MAX: usize = 1024;

/// What the requests of a histogram have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TimesOf {
    /// The repository.
    pub(crate) repository: RepositoryIndex,
    /// `None`: an answer from memory.
    pub(crate) class: Option<Class>,
    /// The first digit of the status.
    pub(crate) status_class: u16,
}

impl TimesOf {
    /// Stands for all requests that do not fit.
    const REST: TimesOf = TimesOf { repository: RepositoryIndex::NONE, class: None, status_class: 0 };
}

/// The histograms of all repositories.
#[derive(Debug, Clone, Default)]
pub(crate) struct RepositoryTimes {
    places: HashMap<TimesOf, usize>,
    all: Vec<RepositoryTime>,
    /// The index of the last request's histogram: the next one is often of the same kind.
    last: usize,
}

/// One histogram.
#[derive(Debug, Clone)]
pub(crate) struct RepositoryTime {
    pub(crate) of: TimesOf,
    /// The name of the repository; empty for requests that do not fit.
    pub(crate) repository: Box<str>,
    pub(crate) first_bytes: Histogram,
}

impl RepositoryTimes {
    /// Counts a request that has got a reply.
    pub(crate) fn add(&mut self, event: &Glance<'_>, repository: RepositoryIndex) {
        let of = TimesOf { repository, class: event.figures.class, status_class: event.figures.status / 100 };
        self.of(of, event.repository).record(event.figures.first_byte);
    }

    fn of(&mut self, of: TimesOf, repository: &str) -> &mut Histogram {
        if self.all.get(self.last).is_none_or(|last| last.of != of) {
            self.last = match self.places.get(&of) {
                Some(index) => *index,
                None => self.new_index(of, repository),
            };
        }
        &mut self.all[self.last].first_bytes
    }

    fn new_index(&mut self, of: TimesOf, repository: &str) -> usize {
        let fits = self.all.len() < HISTOGRAMS_MAX;
        let (of, repository) = if fits { (of, repository) } else { (TimesOf::REST, "") };
        let (next, all) = (self.all.len(), &mut self.all);
        *self.places.entry(of).or_insert_with(|| {
            all.push(RepositoryTime { of, repository: repository.into(), first_bytes: Histogram::default() });
            next
        })
    }

    /// All histograms.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &RepositoryTime> {
        self.all.iter()
    }

    /// Adds those of another table. `repositories` has the indexes of this one.
    pub(crate) fn merge(&mut self, other: &RepositoryTimes, repositories: &mut Repositories) {
        for theirs in &other.all {
            let repository = repositories.index(&theirs.repository, None);
            self.of(TimesOf { repository, ..theirs.of }, &theirs.repository).merge(&theirs.first_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Figures, Millis, Tick};

    fn add(times: &mut RepositoryTimes, repositories: &mut Repositories, name: &str, status: u16, nanos: u64) {
        let mut event = *Event::request(Millis(1), Tick(0));
        event.subject.repository = name.into();
        (event.status, event.class, event.first_byte) = (status, Some(Class::Downloads), nanos);
        let repository = repositories.index(name, None);
        times.add(&Glance::of(&event, &Figures::of(&event)), repository);
    }

    fn counts(times: &RepositoryTimes) -> Vec<(String, u16, u64)> {
        let row = |time: &RepositoryTime| (time.repository.to_string(), time.of.status_class, time.first_bytes.count());
        let mut counts: Vec<_> = times.iter().map(row).collect();
        counts.sort();
        counts
    }

    #[test]
    fn two_tables_whose_repositories_have_other_indexes_add_up() {
        let (mut one, mut other) = (RepositoryTimes::default(), RepositoryTimes::default());
        let (mut of_one, mut of_other) = (Repositories::default(), Repositories::default());
        ["a", "b"].iter().for_each(|name| add(&mut one, &mut of_one, name, 200, 5));
        ["b", "b", "a", "c"].iter().for_each(|name| add(&mut other, &mut of_other, name, 206, 9));
        add(&mut other, &mut of_other, "a", 404, 9);
        one.merge(&other, &mut of_one);
        let expected = [("a", 2, 2), ("a", 4, 1), ("b", 2, 3), ("c", 2, 1)];
        assert_eq!(counts(&one), expected.map(|(name, class, count)| (name.to_owned(), class, count)));
    }

    #[test]
    fn requests_beyond_the_limit_count_together() {
        let (mut times, mut repositories) = (RepositoryTimes::default(), Repositories::default());
        (0..HISTOGRAMS_MAX + 7).for_each(|n| add(&mut times, &mut repositories, &format!("r{n}"), 200, 1));
        let all = counts(&times);
        assert_eq!((all.len(), &all[0]), (HISTOGRAMS_MAX + 1, &(String::new(), 0, 7)));
    }
}
