//! The repositories, hosts of upstreams and backends that the reader of metrics may see by name.

use std::collections::{BTreeMap, BTreeSet};

/// The label of all repositories without a line of their own.
pub(crate) const OTHER: &str = "(other)";
/// The most repositories with lines of their own.
pub(crate) const LISTED_MAX: usize = 100;

/// The repositories and hosts that exist, and whether the reader may see them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MetricsView {
    /// All repositories, by name.
    pub repositories: BTreeMap<String, RepositoryView>,
    /// The hosts (`name:port`) of the upstreams of all repositories.
    pub hosts: BTreeMap<String, HostView>,
    /// Whether the reader may see the backends of applications by name.
    pub backends_named: bool,
    /// Whether the readiness probe is answered with 200.
    pub ready: bool,
    /// The open findings, each with the subject that the reader may see.
    pub findings: Vec<OpenFinding>,
}

/// An open finding in metrics.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenFinding {
    /// The key of its check, such as `pool-too-narrow`.
    pub finding: String,
    /// What it is about; [`OpenFinding::OTHER`] if the reader may not see it.
    pub subject: String,
    /// What it costs in an hour, in client milliseconds.
    pub lost_ms_per_hour: u64,
}

impl OpenFinding {
    /// The subject of all findings whose subjects the reader may not see.
    pub const OTHER: &str = OTHER;
}

/// A repository in metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepositoryView {
    /// Whether the reader may see its name.
    pub named: bool,
    /// Its format.
    pub format: &'static str,
    /// Hosted, remote or group.
    pub kind: &'static str,
}

/// A host of upstreams in metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostView {
    /// Whether the reader may see its name. Other readers see its number.
    pub named: bool,
    /// Its number, which is also its label in bounds.
    pub number: u64,
    /// Whether its circuit is open.
    pub circuit_open: bool,
}

/// The repositories with lines of their own: all, or the busiest hundred. A repository that was requested keeps its line as long as it
/// exists. If it lost the line to a busier one, its requests would move to the line of the others, and look like a burst there.
#[derive(Debug, Default)]
pub(crate) struct Listed(BTreeSet<String>);

impl Listed {
    /// Gives lines to the repositories with the most requests. While there are more repositories than lines, one without requests has
    /// no line.
    pub(crate) fn fill(&mut self, view: &MetricsView, requests: impl Fn(&str) -> u64) {
        let all = view.repositories.len() <= LISTED_MAX;
        self.0.retain(|name| view.repositories.contains_key(name) && (all || requests(name) > 0));
        let room = LISTED_MAX.saturating_sub(self.0.len());
        let free = view.repositories.keys().filter(|name| !self.0.contains(*name));
        let free = free.map(|name| (requests(name), name)).filter(|(requests, _)| all || *requests > 0);
        let mut free: Vec<(u64, &String)> = free.collect();
        free.sort_by(|(one, first), (other, second)| other.cmp(one).then(first.cmp(second)));
        let chosen: Vec<String> = free.into_iter().take(room).map(|(_, name)| name.clone()).collect();
        self.0.extend(chosen);
    }

    /// The label of a repository. `None`: it does not exist any more.
    pub(crate) fn label<'a>(&self, view: &MetricsView, name: &'a str) -> Option<&'a str> {
        let repository = view.repositories.get(name)?;
        Some(if repository.named && self.0.contains(name) { name } else { OTHER })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(count: usize) -> MetricsView {
        let repository = RepositoryView { named: true, format: "raw", kind: "hosted" };
        let repositories = (0..count).map(|number| (format!("r{number:03}"), repository)).collect();
        MetricsView { repositories, ..MetricsView::default() }
    }

    fn named(listed: &Listed, view: &MetricsView) -> Vec<String> {
        view.repositories.keys().filter(|name| listed.label(view, name) == Some(name)).cloned().collect()
    }

    #[test]
    fn a_repository_without_requests_keeps_no_line_from_a_busy_one() {
        let (mut listed, few, many) = (Listed::default(), view(100), view(500));
        listed.fill(&few, |_| 0);
        assert_eq!(named(&listed, &few).len(), 100, "there is room for all");
        // r000 to r009 were requested before the others existed. Then nearly all of the others were.
        let requests = |name: &str| match name[1..].parse::<u64>().unwrap() {
            number @ 0..10 => number + 1,
            number @ 100..490 => number,
            _ => 0,
        };
        listed.fill(&many, requests);
        let names = named(&listed, &many);
        let wanted = (0..10).chain(400..490).map(|number| format!("r{number:03}"));
        assert_eq!(names, wanted.collect::<Vec<_>>());
        listed.fill(&many, |name| 1000 - requests(name));
        assert_eq!(named(&listed, &many), names, "none of them loses its line");
    }

    #[test]
    fn the_busiest_hundred_are_listed_and_stay_listed_while_they_exist() {
        let mut listed = Listed::default();
        let mut now = view(150);
        listed.fill(&now, |name| u64::from(name >= "r040"));
        let first = named(&listed, &now);
        assert_eq!((first.len(), &*first[0], &*first[99]), (100, "r040", "r139"));
        listed.fill(&now, |name| if name < "r040" { 9 } else { 1 });
        assert_eq!(named(&listed, &now), first);
        assert_eq!(listed.label(&now, "r149"), Some(OTHER));

        now.repositories.remove("r077");
        listed.fill(&now, |name| if name == "r149" { 9 } else { 1 });
        assert_eq!(listed.label(&now, "r077"), None);
        assert_eq!(listed.label(&now, "r149"), Some("r149"));
    }

    #[test]
    fn a_repository_that_the_reader_may_not_know_has_the_label_of_the_others() {
        let (mut listed, mut view) = (Listed::default(), view(2));
        view.repositories.get_mut("r001").unwrap().named = false;
        listed.fill(&view, |_| 0);
        assert_eq!(["r000", "r001", "gone"].map(|name| listed.label(&view, name)), [Some("r000"), Some(OTHER), None]);
    }
}
