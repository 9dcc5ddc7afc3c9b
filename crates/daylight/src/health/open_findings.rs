//! The subjects of open findings in `/metrics`, as far as the caller may know them.

use std::collections::BTreeMap;
use telemetry::{OpenFinding, RepositoryView};

/// Parts of the server itself. Bounds, caches and pools are named to anybody in other metrics, too.
const PARTS: [&str; 10] = ["server", "disk", "bound", "cache", "pool", "job", "loop", "setting", "metric", "sink"];

/// The findings with the subjects that a caller may know: `all` of them, or parts of the server, and repositories that are named to it.
/// Hosts, addresses of clients and members of groups are for callers that may see all.
pub(super) fn shown(
    mut findings: Vec<OpenFinding>,
    repositories: &BTreeMap<String, RepositoryView>,
    all: bool,
) -> Vec<OpenFinding> {
    for finding in &mut findings {
        if !all && !may_know(&finding.subject, repositories) {
            OpenFinding::OTHER.clone_into(&mut finding.subject);
        }
    }
    findings
}

fn may_know(subject: &str, repositories: &BTreeMap<String, RepositoryView>) -> bool {
    match subject.split_once(':') {
        Some(("repository" | "group", name)) => repositories.get(name).is_some_and(|repository| repository.named),
        Some((part, _)) => PARTS.contains(&part),
        None => PARTS.contains(&subject),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_shown_to_callers_that_may_know_it() {
        let repository = |named| RepositoryView { named, format: "raw", kind: "hosted" };
        let repositories = BTreeMap::from([("open".into(), repository(true)), ("vault".into(), repository(false))]);
        let subject = |subject: &str, all| {
            let finding = OpenFinding { finding: "a".into(), subject: subject.to_owned(), lost_ms_per_hour: 0 };
            shown(vec![finding], &repositories, all).remove(0).subject
        };
        for known in ["server", "disk", "bound:upstream.calls/7", "cache:pages", "repository:open", "group:open"] {
            assert_eq!(subject(known, false), known);
        }
        for hidden in [
            "repository:vault",
            "repository:gone",
            "group:vault",
            "member:open/vault",
            "upstream:repo.example.org:443",
            "client:192.0.2.7",
            "certificate:server",
            "class:downloads",
            "",
        ] {
            assert_eq!(subject(hidden, false), "(other)", "{hidden}");
            assert_eq!(subject(hidden, true), hidden);
        }
    }
}
