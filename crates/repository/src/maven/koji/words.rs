//! Builds, events and people of a Koji hub in words.

use format::koji::model::{KojiEvent, Nvr};
use telemetry::Millis;

/// `name-version-release`.
pub(crate) fn name(nvr: &Nvr) -> String {
    format!("{}-{}-{}", nvr.name, nvr.version, nvr.release)
}

/// `event 6 on 2026-11-01T12:00:00.000Z`.
pub(crate) fn at(event: KojiEvent) -> String {
    match event.at_ms {
        0 => format!("event {}", event.id.0),
        at => format!("event {} on {}", event.id.0, Millis(at)),
    }
}

/// ` by ann`, or nothing.
pub(crate) fn by(who: Option<&str>) -> String {
    who.map(|who| format!(" by {who}")).unwrap_or_default()
}
