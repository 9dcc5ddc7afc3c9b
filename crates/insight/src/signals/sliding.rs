//! The sum of the last windows of a number. Each new one costs about three additions, however many are summed up: windows have largest
//! values, which cannot be taken out of a sum again.

use super::window::Window;

/// The sum of the last windows of a number.
#[derive(Debug)]
pub(super) struct Sliding {
    most: usize,
    /// Sums from each of the older windows to the last of them, the oldest window's at the end.
    older: Vec<Window>,
    newer: Vec<Window>,
    newer_sum: Window,
}

impl Sliding {
    /// None yet of at most so many.
    pub(super) fn new(most: usize) -> Self {
        Self { most, older: Vec::new(), newer: Vec::new(), newer_sum: Window::default() }
    }

    /// Adds a window. The oldest goes if there are too many.
    pub(super) fn push(&mut self, window: Window) {
        self.newer_sum.add(&window);
        self.newer.push(window);
        if self.older.len() + self.newer.len() <= self.most {
            return;
        }
        if self.older.is_empty() {
            for mut window in self.newer.drain(..).rev() {
                if let Some(later) = self.older.last() {
                    window.add(later);
                }
                self.older.push(window);
            }
            self.newer_sum = Window::default();
        }
        self.older.pop();
    }

    /// The sum.
    pub(super) fn sum(&self) -> Window {
        let mut sum = self.older.last().cloned().unwrap_or_default();
        sum.add(&self.newer_sum);
        sum
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
            sliding.push(window);
            last.push(requests);
            let expected: u64 = last.iter().rev().take(3).sum();
            assert_eq!(sliding.sum().requests.all.requests, expected, "after {last:?}");
        }
    }
}
