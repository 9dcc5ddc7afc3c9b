//! The repositories and hosts of upstreams that the reader of metrics may see by name.

use std::collections::{BTreeMap, BTreeSet};

/// The label of all repositories without a line of their own.
pub(crate) const OTHER: &str = "(other)";
/// The most repositories with lines of their own.
pub(crate) const LISTED_MAX: usize = 100;

/// The repositories and hosts that exist, and whether the reader may see them.
#[derive(Debug, Default)]
pub struct MetricsView {
    /// All repositories, by name.
    pub repositories: BTreeMap<String, RepositoryView>,
    /// The hosts (`name:port`) of the upstreams of all repositories.
    pub hosts: BTreeMap<String, HostView>,
}

/// A repository in metrics.
#[derive(Debug, Clone, Copy)]
pub struct RepositoryView {
    /// Whether the reader may see its name.
    pub named: bool,
    /// Its format.
    pub format: &'static str,
    /// Hosted, remote or group.
    pub kind: &'static str,
}

/// A host of upstreams in metrics.
#[derive(Debug, Clone, Copy)]
pub struct HostView {
    /// Whether the reader may see its name. Other readers see its number.
    pub named: bool,
    /// Its number, which is also its label in bounds.
    pub number: u64,
    /// Whether its circuit is open.
    pub circuit_open: bool,
}

/// The repositories with lines of their own. Each keeps its line as long as it exists, so that no series ends and starts again
/// when other repositories become busier.
#[derive(Debug, Default)]
pub(crate) struct Listed(BTreeSet<String>);

impl Listed {
    /// Gives free lines to the repositories with the most requests.
    pub(crate) fn fill(&mut self, view: &MetricsView, requests: impl Fn(&str) -> u64) {
        self.0.retain(|name| view.repositories.contains_key(name));
        if self.0.len() < LISTED_MAX {
            let free = view.repositories.keys().filter(|name| !self.0.contains(*name));
            let mut free: Vec<(u64, &String)> = free.map(|name| (requests(name), name)).collect();
            free.sort_by(|(one, first), (other, second)| other.cmp(one).then(first.cmp(second)));
            let room = LISTED_MAX - self.0.len();
            self.0.extend(free.into_iter().take(room).map(|(_, name)| name.clone()));
        }
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

    #[test]
    fn the_busiest_hundred_are_listed_and_stay_listed_while_they_exist() {
        let mut listed = Listed::default();
        let mut now = view(150);
        listed.fill(&now, |name| u64::from(name >= "r040"));
        let named = |listed: &Listed, view: &MetricsView| -> Vec<String> {
            view.repositories.keys().filter(|name| listed.label(view, name) == Some(name)).cloned().collect()
        };
        let first = named(&listed, &now);
        assert_eq!((first.len(), &*first[0], &*first[99]), (100, "r040", "r139"));
        listed.fill(&now, |name| if name < "r040" { 9 } else { 0 });
        assert_eq!(named(&listed, &now), first);
        assert_eq!(listed.label(&now, "r149"), Some(OTHER));

        now.repositories.remove("r077");
        listed.fill(&now, |name| u64::from(name == "r149"));
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
