//! Which findings touch a repository.

use super::listed::Listed;
use crate::signals::facts::{Facts, HostFact};
use std::collections::BTreeSet;

/// Names that findings about some repositories have in their subjects.
pub(super) struct About<'a> {
    /// The repositories, and the members of groups among them.
    repositories: BTreeSet<&'a str>,
    /// The hosts that they call.
    hosts: BTreeSet<&'a str>,
    /// What distinguishes the bounds of these hosts.
    numbers: BTreeSet<String>,
}

impl<'a> About<'a> {
    /// The names for these repositories.
    pub(super) fn new(repositories: &[&'a str], facts: &'a Facts) -> Self {
        let mut names: BTreeSet<&str> = repositories.iter().copied().collect();
        for repository in repositories.iter().filter_map(|name| facts.repository(name)) {
            names.extend(repository.members.iter().chain(&repository.leaves).map(String::as_str));
        }
        let calls = |host: &&HostFact| host.repositories.iter().any(|name| names.contains(&**name));
        let hosts: Vec<_> = facts.hosts.iter().filter(calls).collect();
        Self {
            hosts: hosts.iter().map(|host| &*host.host).collect(),
            numbers: hosts.iter().map(|host| host.number.to_string()).collect(),
            repositories: names,
        }
    }

    /// Whether a finding touches one of them.
    pub(super) fn touches(&self, listed: &Listed) -> bool {
        let costs = |name: &str| listed.lost.by_repository.get(name).is_some_and(|seconds| *seconds > 0.0);
        self.is_subject(&listed.finding.subject) || self.repositories.iter().any(|name| costs(name))
    }

    fn is_subject(&self, subject: &str) -> bool {
        let Some((what, which)) = subject.split_once(':') else { return false };
        let repository = |name: &str| self.repositories.contains(name);
        match what {
            "repository" | "group" => repository(which),
            "member" => which.split('/').any(repository),
            "upstream" => self.hosts.contains(which),
            "bound" => which.strip_prefix("upstream.calls/").is_some_and(|number| self.numbers.contains(number)),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Finding;
    use super::super::check::{FindingKind, Lost};
    use super::*;
    use crate::signals::facts::RepositoryFact;

    fn facts() -> Facts {
        let repository = |name: &str, leaves: &[&str]| RepositoryFact {
            name: name.to_owned(),
            members: leaves.iter().map(|leaf| (*leaf).to_owned()).collect(),
            ..RepositoryFact::default()
        };
        let host = HostFact {
            host: "repo.example.org:443".to_owned(),
            number: 7,
            repositories: vec!["central".to_owned()],
            ..HostFact::default()
        };
        let repositories = vec![repository("all", &["own", "central"]), repository("central", &[])];
        Facts { repositories, hosts: vec![host], ..Facts::default() }
    }

    fn touches(repository: &str, subject: &str, lost: Lost) -> bool {
        let finding = Finding::empty("key", subject, FindingKind::Cause);
        let listed = Listed { worst: finding.clone(), finding, lost, opened: None, seen: true, under: None };
        About::new(&[repository], &facts()).touches(&listed)
    }

    #[test]
    fn a_finding_touches_the_repositories_of_its_subject_of_its_host_and_of_its_lost_seconds() {
        let nothing = Lost::default;
        for subject in [
            "repository:all",
            "repository:central",
            "group:all",
            "member:all/own",
            "upstream:repo.example.org:443",
            "bound:upstream.calls/7",
        ] {
            assert!(touches("all", subject, nothing()), "{subject}");
        }
        for subject in ["server", "disk", "repository:other", "upstream:other:443", "bound:upstream.calls/8"] {
            assert!(!touches("all", subject, nothing()), "{subject}");
        }
        assert!(!touches("own", "upstream:repo.example.org:443", nothing()), "it calls no host");
        assert!(touches("own", "server", Lost::of([("own", 1.0)])));
        assert!(touches("all", "server", Lost::of([("own", 1.0)])), "it is a member");
        assert!(!touches("own", "server", Lost::of([("central", 1.0), ("own", 0.0)])));
    }
}
