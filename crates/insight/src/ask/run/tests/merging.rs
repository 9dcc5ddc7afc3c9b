//! Answers that are merged from the figures of several nodes.

use super::*;
use crate::ask::merged::{Merged, NodeAnswer, NotMerged};

/// The answer of a node that has these parts, as another one reads it.
fn of_node(question: &Question, parts: Vec<Arc<dyn Part>>) -> NodeAnswer {
    let answer = whole(Run::new(Question { seed: Some(7), ..question.clone() }, parts));
    assert_eq!(answer.rows, Vec::<Vec<Figure>>::new());
    let sent = serde_json::to_string(&NodeAnswer::from(answer)).unwrap();
    serde_json::from_str(&sent).unwrap()
}

/// One answer from those of several nodes, and which of them fit.
fn merged(question: &Question, answers: &[NodeAnswer]) -> (Answer, Vec<Result<(), NotMerged>>) {
    let mut merged = Merged::new(question);
    let added = answers.iter().map(|answer| merged.add(answer)).collect();
    (merged.answer(), added)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn an_answer_of_several_nodes_is_that_of_one_with_all_events(
        facts in prop::collection::vec(fact(), 0..160),
        part in 1..40_usize,
        nodes in 1..4_usize,
        question in question(),
    ) {
        let (_, parts) = stored(&facts, part);
        let all = whole(Run::new(question.clone(), parts.clone()));
        let some = |node| parts.iter().skip(node).step_by(nodes).cloned().collect();
        let answers: Vec<NodeAnswer> = (0..nodes).map(|node| of_node(&question, some(node))).collect();
        let (merged, used) = merged(&question, &answers);
        prop_assert!(used.iter().all(Result::is_ok));
        prop_assert_eq!(&merged.names, &all.names);
        prop_assert_eq!(&merged.rows, &all.rows);
        prop_assert_eq!((merged.exact, merged.complete, merged.left_out), (all.exact, 1.0, 0));
        prop_assert_eq!(merged.seen.events, all.seen.events);
    }
}

#[test]
fn thousands_of_values_are_merged_as_they_are_counted_at_once() {
    let facts: Vec<Fact> = (0..9000_i64)
        .map(|n| Fact {
            at: n,
            package: 1,
            path: 0,
            status: 200,
            bytes: (n % 7000) as u64,
            micros: (n * 7919 % 80_021) as u64,
            weight: 1,
        })
        .collect();
    let (_, parts) = stored(&facts, 1000);
    let text = "p50(duration_ms), p99(duration_ms), distinct(bytes_out) from 1970-01-01 to 1970-01-02";
    let question = Question { seed: Some(7), ..Question::from_text(text, Millis(20_000)).unwrap() };
    let some = |from: usize, to: usize| of_node(&question, parts[from..to].to_vec());
    let (all, _) = merged(&question, &[some(0, 9)]);
    let (parts_merged, _) = merged(&question, &[some(0, 1), some(1, 5), some(5, 9)]);
    assert_eq!(parts_merged.rows, all.rows);
    let distinct = all.rows[0][2].rank();
    assert!((distinct - 7000.0).abs() < 560.0, "{distinct}");
}

#[test]
fn figures_of_another_question_are_refused_and_the_others_count() {
    let (_, parts) = stored(&[Fact { at: 1, package: 1, path: 0, status: 200, bytes: 1, micros: 1, weight: 3 }], 1);
    let asked = |text: &str| Question::from_text(text, Millis(20_000)).unwrap();
    let question = asked("count by package from 1970-01-01");
    for other in
        ["count, max(bytes_out) by package", "count by status", "count by package, status", "count by package per 1s"]
    {
        let other = of_node(&asked(&format!("{other} from 1970-01-01")), parts.clone());
        let (answer, used) = merged(&question, &[of_node(&question, parts.clone()), other]);
        assert_eq!(used.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false]);
        assert_eq!(answer.rows, [vec![Figure::Text("gem-1".into()), Figure::Whole(3)]]);
    }
}

#[test]
fn a_node_sends_the_groups_that_lead_and_tells_how_many_events_are_in_others() {
    let facts: Vec<Fact> = (0..60_000_i64)
        .map(|n| Fact { at: n % 9000, package: 0, path: 0, status: 200, bytes: n as u64, micros: 0, weight: 1 })
        .collect();
    let (_, parts) = stored(&facts, 10_000);
    let question = Question::from_text("count by bytes_out from 1970-01-01 top 3", Millis(20_000)).unwrap();
    let (merged, _) = merged(&question, &[of_node(&question, parts)]);
    assert_eq!(merged.rows.len(), 3);
    assert!((1..60_000).contains(&merged.left_out), "{}", merged.left_out);
}
