//! A progress bar on a terminal; nothing anywhere else.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error for work in parts. Hidden where that is no terminal, and gone when dropped.
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{msg:9} {wide_bar} {human_pos}/{human_len} {eta}") {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// Shows the progress.
    pub(crate) fn show(&self, progress: store::Progress) {
        if self.bar.message() != progress.of {
            self.bar.reset();
            self.bar.set_message(progress.of);
        }
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
