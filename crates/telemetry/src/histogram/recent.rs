//! Figures of the last quarter of an hour, by minutes. Figures since the start would hide that an upstream became slow an hour ago.

use crate::Tick;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// One value for each of the last minutes, the present one included.
#[derive(Debug, Clone)]
pub(crate) struct Recent<T> {
    /// The values by the number of the minute, in no order. A minute in which nothing was counted has none.
    minutes: Vec<(u64, T)>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { minutes: Vec::new() }
    }
}

impl<T: Default> Recent<T> {
    /// How many minutes are kept.
    pub(crate) const MINUTES: u64 = 15;

    /// The value of the minute of `at`, to add to. `None`: that minute is no longer kept.
    pub(crate) fn at(&mut self, at: Tick) -> Option<&mut T> {
        self.of(minute(at))
    }

    fn of(&mut self, minute: u64) -> Option<&mut T> {
        // The last one is nearly always the present one.
        if self.minutes.last().is_none_or(|(last, _)| *last != minute) {
            let place = self.minutes.iter().position(|(kept, _)| *kept == minute);
            match place {
                Some(place) => {
                    let last = self.minutes.len() - 1;
                    self.minutes.swap(place, last);
                }
                None => {
                    let newest = self.minutes.iter().map(|(kept, _)| *kept).max().unwrap_or_default().max(minute);
                    self.minutes.retain(|(kept, _)| kept + Self::MINUTES > newest);
                    if minute + Self::MINUTES <= newest {
                        return None;
                    }
                    self.minutes.push((minute, T::default()));
                }
            }
        }
        self.minutes.last_mut().map(|(_, value)| value)
    }

    /// The values of the quarter of an hour that ends at `now`.
    pub(crate) fn until(&self, now: Tick) -> impl Iterator<Item = &T> {
        let now = minute(now);
        self.minutes.iter().filter(move |(kept, _)| kept + Self::MINUTES > now).map(|(_, value)| value)
    }

    /// Adds the values of another one with `add`.
    pub(crate) fn merge(&mut self, other: &Self, add: impl Fn(&mut T, &T)) {
        for (minute, theirs) in &other.minutes {
            if let Some(mine) = self.of(*minute) {
                add(mine, theirs);
            }
        }
    }
}

fn minute(at: Tick) -> u64 {
    at.0 / MINUTE.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: u64) -> Tick {
        Tick(minute * 60_000_000_000 + 7)
    }

    fn sum(recent: &Recent<u64>, minute: u64) -> u64 {
        recent.until(at(minute)).sum()
    }

    #[test]
    fn a_value_counts_for_fifteen_minutes_in_whatever_order_values_come() {
        let mut recent = Recent::default();
        for minute in [100, 101, 100, 114, 101] {
            *recent.at(at(minute)).unwrap() += 1;
        }
        assert_eq!([114, 115, 116, 128, 129].map(|minute| sum(&recent, minute)), [5, 3, 1, 1, 0]);
        *recent.at(at(130)).unwrap() += 1;
        assert!(
            recent.at(at(115)).is_none() && recent.minutes.len() == 1,
            "a minute that is too old is neither counted nor kept"
        );
    }

    #[test]
    fn two_of_them_add_up_by_minute() {
        let (mut one, mut other) = (Recent::default(), Recent::default());
        *one.at(at(100)).unwrap() = 1;
        *other.at(at(100)).unwrap() = 2;
        *other.at(at(110)).unwrap() = 4;
        one.merge(&other, |mine, theirs| *mine += theirs);
        assert_eq!([110, 115].map(|minute| sum(&one, minute)), [7, 4]);
    }
}
