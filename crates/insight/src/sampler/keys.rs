//! The samples of events by key: keys with many events have a thinner sample than those with few.
//!
//! The goal is divided by the logarithm of how frequent a key is. A key with fewer events than its share is stored whole, and leaves the
//! rest of its share to the others. Within a second a key that exceeds its share is thinned to a half, again and again, so a burst does
//! not wait for the next division.

use crate::random::Random;
use telemetry::{Because, Class, Layer};

/// The key of events that are sampled together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// The kind of the repository.
    pub(super) kind: u8,
    /// The cost class; [`Class::COUNT`]: none.
    pub(super) class: usize,
    pub(super) layer: Layer,
    pub(super) status: u16,
    pub(super) because: Because,
}

const STATUSES: usize = 6;
const CODES: usize = super::kinds::COUNT * (Class::COUNT + 1) * Layer::COUNT * STATUSES * super::REASONS;

impl Key {
    fn code(self) -> usize {
        let status = usize::from(self.status / 100).min(STATUSES - 1);
        let class = usize::from(self.kind) * (Class::COUNT + 1) + self.class;
        let layer = class * Layer::COUNT + self.layer as usize;
        (layer * STATUSES + status) * super::REASONS + self.because as usize
    }
}

/// The samples by key.
pub(super) struct Keys {
    /// The places of the samples, by the code of the key. 0: it has none yet.
    places: Box<[u16; CODES]>,
    /// The first one is shared by keys that came when there was no place left.
    samples: Vec<Sample>,
    /// Samples in ascending order of their frequency.
    order: Vec<u16>,
    /// Events that were stored in this second, and how many may be before keys are thinned.
    stored: u32,
    stored_max: u32,
    random: Random,
}

#[derive(Debug, Clone)]
struct Sample {
    /// Events since the one that was stored last.
    since: u32,
    /// The next one is stored when there were so many.
    next: u32,
    /// Events in this second, and those of them that were stored.
    seen: u32,
    stored: u32,
    /// How many events one stands for.
    rate: f32,
    /// Each time so many were stored in a second, the sample is thinned.
    step: u32,
    /// Events for each second, smoothed.
    mean: f32,
}

/// Seconds in which half of a difference from the mean is smoothed away.
const HALF: f64 = 10.0;

/// The smoothed number of events for each second, after so many seconds in which so many were seen. They were seen before the first pause
/// that lasted, so a longer time was quiet.
pub(super) fn smooth(mean: f32, seen: u32, seconds: f64) -> f32 {
    let busy = seconds.min(2.0);
    let stays = (-busy / HALF).exp2() as f32;
    let mean = mean * stays + seen as f32 / busy as f32 * (1.0 - stays);
    mean * (-(seconds - busy) / HALF).exp2() as f32
}

impl Default for Keys {
    fn default() -> Self {
        let Ok(places) = vec![0; CODES].into_boxed_slice().try_into() else {
            unreachable!("as many as there are codes")
        };
        let (samples, order) = (Vec::with_capacity(Self::MAX), Vec::with_capacity(Self::MAX));
        let mut keys = Self { places, samples, order, stored: 0, stored_max: 0, random: Random::default() };
        keys.add();
        keys
    }
}

impl Keys {
    /// Samples. Far fewer keys occur than are possible.
    const MAX: usize = 500;
    /// A sample is thinned at most to one of so many events: two to the power of this.
    const DOUBLINGS: u32 = 24;

    /// Events that were stored in this second.
    pub(super) fn stored(&self) -> u32 {
        self.stored
    }

    /// How many events this one stands for; 0: it is not stored.
    pub(super) fn see(&mut self, key: Key) -> u32 {
        let code = key.code();
        let mut place = usize::from(self.places[code]);
        if place == 0 && self.samples.len() < Self::MAX {
            place = self.add();
            self.places[code] = place as u16;
        }
        let sample = &mut self.samples[place];
        sample.seen += 1;
        sample.since = sample.since.saturating_add(1);
        if sample.since < sample.next {
            return 0;
        }
        self.stored += 1;
        sample.stored += 1;
        let thinned = if self.stored < self.stored_max { 0 } else { sample.stored / sample.step };
        let rate = sample.rate * (1u32 << thinned.min(Self::DOUBLINGS)) as f32;
        // On average the rate. A fixed distance could be a multiple of a client's period.
        // A number of 24 bits is exact in this form.
        let random = self.random.below(1 << 24) as f32 / (1u32 << 24) as f32;
        sample.next = ((random * (2.0 * rate - 1.0)) as u32).saturating_add(1);
        std::mem::take(&mut sample.since)
    }

    /// Events for which the next stored ones will stand.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> u64 {
        self.samples.iter().map(|sample| u64::from(sample.since)).sum()
    }

    fn add(&mut self) -> usize {
        let step = (self.stored_max / 8).max(1);
        self.samples.push(Sample { since: 0, next: 1, seen: 0, stored: 0, rate: 1.0, step, mean: 0.0 });
        self.order.push(self.order.len() as u16);
        self.samples.len() - 1
    }

    /// Begins the next second, after so many seconds, and divides the goal among the keys.
    pub(super) fn divide(&mut self, goal: f32, passed: f64) {
        for sample in &mut self.samples {
            if passed > 0.0 {
                sample.mean = smooth(sample.mean, sample.seen, passed);
            }
            (sample.seen, sample.stored) = (0, 0);
        }
        let Self { samples, order, .. } = self;
        let mean = |place: u16| samples[usize::from(place)].mean;
        order.sort_unstable_by(|one, other| mean(*one).total_cmp(&mean(*other)));
        let (mut goal_left, mut weight_left) = (goal, samples.iter().map(Sample::weight).sum::<f32>());
        for place in order {
            let sample = &mut samples[usize::from(*place)];
            let share = goal_left * (sample.weight() / weight_left.max(f32::MIN_POSITIVE)).min(1.0);
            weight_left -= sample.weight();
            goal_left -= share.min(sample.mean);
            sample.share(share);
        }
        (self.stored, self.stored_max) = (0, (goal as u32).max(1));
    }
}

impl Sample {
    /// The part of the goal for this sample: a key that is ten times as frequent has only a little more. One with a tenth of an event a
    /// second has some as well.
    fn weight(&self) -> f32 {
        (1.0 + 15.0 * self.mean).ln().max(0.01)
    }

    /// Sets how many events of the next second may be stored.
    fn share(&mut self, events: f32) {
        self.rate = (self.mean / events.max(f32::MIN_POSITIVE)).clamp(1.0, (1u32 << Keys::DOUBLINGS) as f32);
        self.step = (events as u32).max(1);
        // Otherwise the first event after a crowd waits for as many as there were in the crowd.
        // Counted from now: the first event of a second comes right after work of the collector, and is not one like any other.
        let longest = (2.0 * self.rate - 1.0).ceil() as u32;
        self.next = self.next.min(self.since.saturating_add(longest));
    }
}
