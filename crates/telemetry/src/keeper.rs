//! The decision which events the sinks get: all of them, except for answers from memory, of which there are too many.

use crate::{Because, Census, Glance, Kept, Kind};
use std::collections::HashMap;

/// Keeps every event that somebody may ask about: requests that failed, were shed or slow, had a member in trouble, were traced, or took
/// more work than a lookup in memory; and jobs. Of the other answers from memory it keeps a sample.
#[derive(Debug)]
pub struct Keeper {
    /// The places of the samples by repository. Repositories without a place share the first one.
    places: HashMap<Box<str>, usize>,
    samples: Vec<Sample>,
    /// The place of the event before.
    place: Option<usize>,
    /// The second of the events, by their own time.
    second: i64,
    /// Hits that were kept in this second.
    kept: u32,
    random: Random,
}

/// The sample of one repository.
#[derive(Debug, Default)]
struct Sample {
    second: i64,
    /// Hits that were kept in this second.
    kept: u32,
    /// Hits since the one that was kept last.
    since: u32,
    /// The next one is kept when there were so many.
    next: u32,
}

impl Default for Keeper {
    fn default() -> Self {
        let (places, samples) = (HashMap::new(), vec![Sample::default()]);
        Self { places, samples, place: None, second: 0, kept: 0, random: Random::default() }
    }
}

impl Keeper {
    /// In each second so many hits of a repository are kept whole. Of the next ones every second is kept until there are as many,
    /// then every fourth, and so on.
    const EACH: u32 = 16;
    /// The same for all repositories together.
    const ALL: u32 = 256;
    /// Repositories with a sample of their own.
    const PLACES_MAX: usize = 4096;

    fn place(&mut self, event: &Glance<'_>) -> usize {
        if let Some(place) = self.place.filter(|_| event.same_repository) {
            return place;
        }
        let place = match self.places.get(event.repository) {
            Some(place) => *place,
            None if self.places.len() == Self::PLACES_MAX => 0,
            None => {
                self.samples.push(Sample::default());
                self.places.insert(event.repository.into(), self.samples.len() - 1);
                self.samples.len() - 1
            }
        };
        self.place = Some(place);
        place
    }

    /// How many hits this one stands for.
    fn hit(&mut self, event: &Glance<'_>) -> u32 {
        let second = event.figures.at.seconds();
        // The events of several threads come in turns, so a second may seem to go back. If the clock was set back, it stays so.
        if second > self.second || second < self.second - 2 {
            (self.second, self.kept) = (second, 0);
        }
        let place = self.place(event);
        let sample = &mut self.samples[place];
        if sample.second != self.second {
            (sample.second, sample.kept, sample.next) = (self.second, 0, 1);
        }
        sample.since = sample.since.saturating_add(1);
        if sample.since < sample.next {
            return 0;
        }
        sample.kept += 1;
        let doublings = (sample.kept / Self::EACH + self.kept / Self::ALL).min(20);
        // On average two to the power of the doublings. A fixed distance could be a multiple of a client's period.
        sample.next = 1 + self.random.next() % ((2 << doublings) - 1);
        let weight = std::mem::take(&mut sample.since);
        self.kept += 1;
        weight
    }
}

impl Census for Keeper {
    fn name(&self) -> &'static str {
        "keeper"
    }

    fn see(&mut self, event: &Glance<'_>) -> Kept {
        let traced = event.more.is_some_and(|more| more.trace.is_some());
        if event.is_hit() && !event.is_trouble() && !traced {
            return Kept::of(self.hit(event), Because::Sample);
        }
        if !event.same_repository {
            self.place = None;
        }
        let because = match event.trouble() {
            Some(because) => because,
            None if traced => Because::Traced,
            None if event.figures.kind == Kind::Job => Because::Job,
            None => Because::All,
        };
        Kept::of(1, because)
    }

    fn pause(&mut self) {
        // The first event of the next buffer is compared with none.
        self.place = None;
    }
}

/// Numbers that look random (xorshift, Marsaglia 2003).
#[derive(Debug)]
struct Random(u32);

impl Default for Random {
    fn default() -> Self {
        Self(0x9e37_79b9)
    }
}

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}

#[cfg(test)]
mod tests;
