//! Figures for tests of checks: a server with a group, a remote repository and its host.

use crate::findings::check::{Problem, Verdict};
use crate::signals::Facts;
use crate::signals::facts::{HostFact, RepositoryFact, SettingFact};
use crate::signals::hosts::HostSeen;
use crate::signals::seen::Seen;
use std::sync::Arc;
use telemetry::Op;

/// The host of the upstream.
pub(super) const HOST: &str = "repo.example.org:443";

/// A server whose requests took so many seconds in five minutes.
pub(super) fn server(seconds: u64) -> Seen {
    let repository = |name: &str, kind, leaves: &[&str]| RepositoryFact {
        name: name.to_owned(),
        kind,
        format: "files",
        leaves: leaves.iter().map(|leaf| (*leaf).to_owned()).collect(),
        ..RepositoryFact::default()
    };
    let setting = |key: &str, number, limits| SettingFact {
        key: key.to_owned(),
        number: Some(number),
        limits: Some(limits),
        ..SettingFact::default()
    };
    let facts = Facts {
        settings: vec![
            setting("upstream.max_calls", 2, (1, 1024)),
            setting("upstream.max_concurrent", 8, (1, 256)),
            setting("upstream.connect_timeout_s", 10, (1, 3600)),
            setting("server.max_uploads", 2, (1, 1_000_000)),
            setting("server.max_waiting", 40, (4, 1_000_000)),
            setting("server.workers", 2, (1, 256)),
            setting("server.cores", 4, (1, 256)),
            setting("store.readers", 1, (1, 256)),
        ],
        repositories: vec![repository("central", "remote", &[]), repository("company", "group", &["central"])],
        hosts: vec![HostFact {
            host: HOST.to_owned(),
            number: 7,
            repositories: vec!["central".to_owned()],
            ..HostFact::default()
        }],
        ..Facts::default()
    };
    let mut seen = Seen { facts: Arc::new(facts), ..Seen::default() };
    seen.recent.length = std::time::Duration::from_secs(300);
    (seen.recent.requests.all.requests, seen.recent.requests.all.nanos) = (1000, seconds * 1_000_000_000);
    seen
}

/// The figures of the host.
pub(super) fn host(seen: &mut Seen) -> &mut HostSeen {
    seen.recent.hosts.0.entry(HOST.into()).or_default()
}

/// Requests of a repository waited so many seconds for downloads.
pub(super) fn waited(seen: &mut Seen, repository: &str, seconds: u64) {
    let of = seen.recent.repositories.0.entry(repository.into()).or_default();
    of.spend(Op::FlightWait, seconds * 1_000_000_000);
}

/// Changes the facts.
pub(super) fn facts(seen: &mut Seen) -> &mut Facts {
    Arc::get_mut(&mut seen.facts).unwrap()
}

/// What a check found.
pub(super) fn found(verdict: Verdict) -> Vec<Problem> {
    match verdict {
        Verdict::Looked(problems) => problems,
        Verdict::Unknown { needs, .. } => panic!("it needs {needs}"),
    }
}
