//! The weights of keys in the order of their last use, with sums in logarithmic time: a binary indexed tree.

/// Weights by position. A later use has a higher position.
#[derive(Debug)]
pub(super) struct Recency {
    /// The sums of the tree. The first one is not used.
    sums: Vec<u64>,
    total: u64,
    next: u32,
}

impl Recency {
    /// Room for this many positions.
    pub(super) fn new(positions: usize) -> Self {
        Self { sums: vec![0; positions + 1], total: 0, next: 0 }
    }

    /// Adds a weight at the next position, and returns that. `None`: all positions are taken.
    pub(super) fn push(&mut self, weight: u64) -> Option<u32> {
        let position = self.next;
        if position as usize + 1 >= self.sums.len() {
            return None;
        }
        self.next += 1;
        self.total += weight;
        self.change(position, |sum| *sum += weight);
        Some(position)
    }

    /// Removes the weight at a position.
    pub(super) fn remove(&mut self, position: u32, weight: u64) {
        self.total -= weight;
        self.change(position, |sum| *sum -= weight);
    }

    /// The sum of all weights at higher positions.
    pub(super) fn after(&self, position: u32) -> u64 {
        let (mut at, mut before) = (position as usize + 1, 0);
        while at > 0 {
            before += self.sums[at];
            at &= at - 1;
        }
        self.total - before
    }

    /// Bytes of memory.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.sums.len() * size_of::<u64>()
    }

    fn change(&mut self, position: u32, by: impl Fn(&mut u64)) {
        let mut at = position as usize + 1;
        while let Some(sum) = self.sums.get_mut(at) {
            by(sum);
            at += at & at.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_after_a_position_have_the_weights_that_are_there() {
        let mut recency = Recency::new(4);
        let places: Vec<u32> = [5, 7, 11].into_iter().map(|weight| recency.push(weight).unwrap()).collect();
        assert_eq!([0, 1, 2].map(|place| recency.after(places[place])), [18, 11, 0]);
        recency.remove(places[1], 7);
        let again = recency.push(7).unwrap();
        assert_eq!((recency.after(places[0]), recency.after(again), recency.total), (18, 0, 23));
        assert_eq!(recency.push(1), None);
    }
}
