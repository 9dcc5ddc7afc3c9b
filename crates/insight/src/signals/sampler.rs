//! Samples bounds, pools and the machine once a second, on the thread of findings.

use super::bounds::BoundsBefore;
use super::window::Window;
use telemetry::Recorder;

/// The counts of the last sample.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    bounds: BoundsBefore,
}

impl Sampler {
    /// Takes a sample. `whole`: also what costs more to read.
    pub(crate) fn sample(&mut self, recorder: &Recorder, whole: bool, into: &mut Window) {
        self.bounds.sample(&recorder.bounds(), whole, &mut into.bounds);
    }
}
