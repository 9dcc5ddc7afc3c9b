//! The findings of several nodes in one list.

use super::rank::sort;
use super::{Finding, FindingState};

impl Finding {
    /// The findings of several nodes, each once and with the names of its nodes, in their order. One that several nodes have costs what it costs
    /// on all of them; the rest is that of the node where it is open, or costs most.
    pub fn merged(of_nodes: Vec<(String, Vec<Self>)>) -> Vec<(Self, Vec<String>)> {
        let mut all: Vec<(Self, Vec<String>)> = Vec::new();
        for (node, findings) in of_nodes {
            for finding in findings {
                match all.iter_mut().find(|(known, _)| known.id == finding.id) {
                    Some((known, nodes)) => {
                        known.join(finding);
                        nodes.push(node.clone());
                    }
                    None => all.push((finding, vec![node.clone()])),
                }
            }
        }
        sort(&mut all, |(finding, _)| finding);
        // As on one node: behind the present ones.
        all.sort_by_key(|(finding, _)| match finding.state {
            FindingState::Closed => 1,
            FindingState::Unknown => 2,
            FindingState::Pending | FindingState::Open | FindingState::Muted => 0,
        });
        all
    }

    /// Adds what it is on another node.
    fn join(&mut self, mut other: Self) {
        let cost = (self.lost_s_per_hour + other.lost_s_per_hour, self.lost_s + other.lost_s);
        let since = self.since.min(other.since);
        let opened = self.opened.into_iter().chain(other.opened).min();
        let rank = |finding: &Self| (finding.state == FindingState::Open, finding.lost_s_per_hour);
        if rank(self) < rank(&other) {
            std::mem::swap(self, &mut other);
        }
        let more = other.folds.into_iter().filter(|id| !self.folds.contains(id)).collect::<Vec<_>>();
        self.folds.extend(more);
        (self.lost_s_per_hour, self.lost_s) = cost;
        (self.since, self.opened) = (since, opened);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::FindingKind;
    use telemetry::Millis;

    fn finding(id: &str, state: FindingState, cost: f64, sentence: &str) -> Finding {
        let (since, opened) = (Millis(cost as i64), Some(Millis(cost as i64)));
        let sentence = sentence.to_owned();
        Finding {
            state,
            lost_s_per_hour: cost,
            lost_s: cost,
            sentence,
            since,
            opened,
            ..Finding::empty(id, "", FindingKind::Cause)
        }
    }

    #[test]
    fn a_finding_of_several_nodes_is_one_that_costs_what_it_costs_on_all() {
        use FindingState::{Closed, Open, Pending};
        let a = vec![
            finding("slow", Pending, 90.0, "a"),
            finding("full", Open, 60.0, "a"),
            finding("old", Closed, 500.0, "a"),
        ];
        let b =
            vec![finding("slow", Open, 30.0, "b"), finding("full", Open, 70.0, "b"), finding("own", Open, 100.0, "b")];
        let merged = Finding::merged(vec![("a".to_owned(), a), ("b".to_owned(), b)]);
        let told = |(finding, nodes): &(Finding, Vec<String>)| {
            (
                finding.id.clone(),
                finding.sentence.clone(),
                finding.lost_s_per_hour as u64,
                finding.since.0,
                nodes.join(","),
            )
        };
        let expected = [
            ("full", "b", 130, 60, "a,b"),
            ("slow", "b", 120, 30, "a,b"),
            ("own", "b", 100, 100, "b"),
            ("old", "a", 500, 500, "a"),
        ];
        let expected = expected.map(|(id, sentence, cost, since, nodes)| {
            (id.to_owned(), sentence.to_owned(), cost, since, nodes.to_owned())
        });
        assert_eq!(merged.iter().map(told).collect::<Vec<_>>(), expected);
    }
}
