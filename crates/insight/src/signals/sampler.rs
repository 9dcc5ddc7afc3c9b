//! Samples bounds, caches, the database and the machine once a second, on the thread of findings.

use super::bounds::BoundsBefore;
use super::caches::CachesBefore;
use super::call_limits::CallLimits;
use super::database::DatabaseBefore;
use super::machine::MachineBefore;
use super::pools::PoolsBefore;
use super::telemetry::TelemetryBefore;
use super::trends::Trends;
use super::window::Window;
use std::time::Duration;
use telemetry::Recorder;

/// The counts of the last sample.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    bounds: BoundsBefore,
    limits: CallLimits,
    pools: PoolsBefore,
    caches: CachesBefore,
    database: DatabaseBefore,
    machine: MachineBefore,
    telemetry: TelemetryBefore,
}

impl Sampler {
    /// Takes a sample. `whole`: also what costs more to read, and the series. Only then all figures are in the window.
    pub(crate) fn sample(
        &mut self,
        recorder: &Recorder,
        whole: bool,
        uptime: Duration,
        into: &mut Window,
        trends: &mut Trends,
    ) {
        let bounds = recorder.bounds();
        self.bounds.sample(&bounds, whole, &mut into.bounds);
        self.pools.sample(recorder, &bounds, &mut into.pools);
        self.limits.sample(recorder, |host, limit, load| into.hosts.sampled(host, &limit, &load));
        self.machine.sample(recorder.machine(), &mut into.machine);
        let machine = recorder.machine().sample();
        if let Some(machine) = machine.clone() {
            self.database.sample(machine, &recorder.pools(), &mut into.database);
        }
        if !whole {
            return;
        }
        self.telemetry.sample(recorder, &mut into.telemetry);
        self.caches.sample(&bounds, &mut into.caches);
        trends.sample(uptime, &bounds, machine.as_deref());
    }
}
