//! The sum of the last windows of a number. Each new one costs about three additions, however many are summed up: windows have largest
//! values, which cannot be taken out of a sum again.

use super::window::Window;

/// The sum of the last windows of a number.
#[derive(Debug)]
pub(super) struct Sliding {
    most: usize,
    /// Sums from each of the older windows to the last of them, the next one that is needed at the end.
    older: Vec<Window>,
    newer: Vec<Window>,
    newer_sum: Window,
}

impl Sliding {
    /// None yet of at most so many.
    pub(super) fn new(most: usize) -> Self {
        Self { most, older: Vec::new(), newer: Vec::new(), newer_sum: Window::default() }
    }

    /// Adds a window, and returns the sum of the last ones.
    pub(super) fn push(&mut self, window: Window) -> Window {
        self.newer_sum.add(&window);
        self.newer.push(window);
        if self.newer.len() < self.most {
            let Some(mut sum) = self.older.pop() else { return self.newer_sum.clone() };
            sum.add(&self.newer_sum);
            return sum;
        }
        // The sum of all of them is not needed any more, and with the next window the first one goes.
        for mut window in self.newer.drain(1..).rev() {
            if let Some(later) = self.older.last() {
                window.add(later);
            }
            self.older.push(window);
        }
        self.newer.clear();
        std::mem::take(&mut self.newer_sum)
    }

    /// The windows since their number was a multiple of the most.
    pub(super) fn newer(&self) -> &[Window] {
        &self.newer
    }

    /// Whether there was none yet.
    pub(super) fn is_empty(&self) -> bool {
        self.newer.is_empty() && self.older.is_empty()
    }

    /// Whether the number of windows since the first one is a multiple of the most.
    pub(super) fn is_round(&self) -> bool {
        self.newer.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_last_windows() {
        let mut sliding = Sliding::new(3);
        let mut last = Vec::new();
        for requests in [5, 1, 7, 2, 9, 4, 4, 8, 1, 3] {
            let mut window = Window::default();
            window.requests.all.requests = requests;
            last.push(requests);
            let expected: u64 = last.iter().rev().take(3).sum();
            assert_eq!(sliding.push(window).requests.all.requests, expected, "after {last:?}");
            assert_eq!(sliding.is_round(), last.len().is_multiple_of(3), "after {last:?}");
        }
    }
}
