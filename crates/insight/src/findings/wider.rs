//! A larger value for a limit, as far as the setting and the descriptors of the process allow one.

use super::check::Change;
use crate::signals::seen::Seen;
use telemetry::BoundName;

/// The setting of all connections.
const CONNECTIONS: &str = "server.max_connections";
/// The descriptors of a connection: a socket and a file.
const EACH: u64 = 2;
/// Descriptors of databases, logs, listening sockets and reserved connections, generously.
const FIXED: u64 = 256;
/// The database of a reader has three files.
const OF_READER: u64 = 3;

/// An advice to make a limit larger.
pub(super) struct Wider {
    /// The change. `None`: there is no larger value, and the note says why.
    pub(super) change: Option<Change>,
    /// What limits the value, as the end of a sentence. Empty: nothing.
    pub(super) note: String,
}

/// Advises `to` for the setting that governs a limit, or less where that is not possible, but never less than now. `None`: there is no such
/// setting.
pub(super) fn wider(seen: &Seen, name: BoundName, key: &str, to: u64) -> Option<Wider> {
    let now = seen.facts.setting(key)?.number.unwrap_or(0);
    let most = allowed(seen, name).unwrap_or(u64::MAX);
    let change = Change::of_setting(seen, key, to.min(most));
    let value = |change: &Change| change.to.as_ref().and_then(serde_json::Value::as_u64);
    let change = change.filter(|change| value(change).is_some_and(|to| to > now));
    let note = match &change {
        None if most <= now => {
            "; the descriptors of the process do not allow more, so raise them first (`LimitNOFILE=` of a service of systemd)".to_owned()
        }
        None => format!("; `{key}` is as large already"),
        Some(_) if most < to => format!("; its descriptors allow {most}, and `LimitNOFILE=` more"),
        Some(_) => String::new(),
    };
    Some(Wider { change, note })
}

/// The descriptors that settings leave: the server does not start if they need more than the process may have. `None`: the kernel does not tell
/// how many these are.
pub(super) fn spare_descriptors(seen: &Seen) -> Option<u64> {
    let all = seen.machine.as_deref()?.process.max_fds?;
    let of = |key| seen.facts.setting(key).and_then(|setting| setting.number).unwrap_or(0);
    let files = ["server.open_files", "server.page_files", "server.max_uploads"].map(of);
    let others = [FIXED, of("store.readers").saturating_mul(OF_READER), of(CONNECTIONS).saturating_mul(EACH)];
    Some(files.into_iter().chain(others).fold(all, u64::saturating_sub))
}

/// The most connections for which the process has descriptors. `None`: this does not limit it, or is unknown.
fn allowed(seen: &Seen, name: BoundName) -> Option<u64> {
    if !matches!(name, BoundName::Connections | BoundName::ClientConnections) {
        return None;
    }
    let now = seen.facts.setting(CONNECTIONS).and_then(|setting| setting.number).unwrap_or(0);
    Some(now.saturating_add(spare_descriptors(seen)? / EACH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::facts::SettingFact;
    use std::sync::Arc;
    use telemetry::{MachineSample, ProcessFigures};

    const KEY: &str = "server.max_connections";

    /// The advised value and the note for a limit that is `now`, where the process may have so many descriptors.
    fn advised(name: BoundName, now: u64, descriptors: u64, to: u64) -> (Option<u64>, String) {
        let mut seen = Seen::default();
        let setting = |key: &str, number| SettingFact {
            key: key.to_owned(),
            number: Some(number),
            limits: Some((1, 1_000_000)),
            ..SettingFact::default()
        };
        let settings = vec![setting(KEY, now), setting("server.open_files", 100), setting("store.readers", 4)];
        Arc::make_mut(&mut seen.facts).settings = settings;
        let process = ProcessFigures { max_fds: Some(descriptors), ..ProcessFigures::default() };
        seen.machine = Some(Arc::new(MachineSample { process, ..MachineSample::default() }));
        let Wider { change, note } = wider(&seen, name, KEY, to).unwrap();
        (change.and_then(|change| change.to?.as_u64()), note)
    }

    #[test]
    fn the_value_is_above_the_present_one_and_within_the_descriptors() {
        // 1024 less 256, 100 files and 12 of readers: 656, two for each.
        assert_eq!(advised(BoundName::Connections, 200, 1024, 328), (Some(328), String::new()));
        let (to, note) = advised(BoundName::Connections, 200, 1024, 800);
        assert_eq!((to, &*note), (Some(328), "; its descriptors allow 328, and `LimitNOFILE=` more"));
        assert_eq!(advised(BoundName::ClientConnections, 327, 1024, 800).0, Some(328));
        for now in [328, 400] {
            let (to, note) = advised(BoundName::Connections, now, 1024, 800);
            assert!(to.is_none() && note.contains("raise them first (`LimitNOFILE="), "{now}: {to:?} {note}");
        }
        assert_eq!(advised(BoundName::Connections, 400, 10, 800).0, None);
    }

    #[test]
    fn other_limits_need_no_descriptors_and_end_at_the_largest_value_of_the_setting() {
        assert_eq!(advised(BoundName::Flights, 200, 1024, 800), (Some(800), String::new()));
        let (to, note) = advised(BoundName::Flights, 1_000_000, 1024, 2_000_000);
        assert!(to.is_none() && note.contains("is as large already"), "{to:?} {note}");
        assert_eq!(wider(&Seen::default(), BoundName::Flights, KEY, 2).map(|wider| wider.note), None);
    }
}
