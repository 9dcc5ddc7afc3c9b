//! Answers in cases that random events rarely meet: too many groups, too little memory, parts that are skipped or cannot be read.

use super::*;

/// A question that counts by one column.
fn by(column: Column, measures: Vec<Measure>, limit: usize) -> Question {
    Question { by: vec![Key(column)], measures, limit, ..Question::from_text("", Millis(20_000)).unwrap() }
}

fn quiet(at: i64, path: u16, micros: u64) -> Fact {
    Fact { at, package: 1, path, status: 200, bytes: 1, micros, weight: 1 }
}

#[test]
fn groups_that_lead_stay_when_there_are_too_many_and_the_rest_is_told() {
    // Four thousand paths once each, and five paths again and again, but not in the first parts.
    let fact = |n: i64| match n {
        n if n > 800 && n % 4 == 0 => quiet(n, (n / 4 % 5) as u16, 0),
        n => quiet(n, 10 + n as u16, 0),
    };
    let facts: Vec<Fact> = (0..6000).map(fact).collect();
    let (model, parts) = stored(&facts, 400);
    let question = by(Column::Path, vec![Measure::Count], 5);
    let answer = whole(Run::limited(question.clone(), parts, 256));
    assert_eq!(answer.rows, expected(&question, &model));
    let all = whole(Run::limited(by(Column::Path, vec![Measure::Count], 10_000), stored(&facts, 400).1, 256));
    let counted: f64 = all.rows.iter().map(|row| row[1].rank()).sum();
    assert!(all.rows.len() <= 256 && all.left_out > 0);
    assert_eq!(counted as u64 + all.left_out, 6000);
}

#[test]
fn the_slowest_events_are_found_by_id_however_many_there_are() {
    let facts: Vec<Fact> = (0..5000_i64).map(|n| quiet(n, 1, (n * 7919 % 5003) as u64)).collect();
    let (model, parts) = stored(&facts, 600);
    let question = by(Column::Id, vec![Measure::Max(Column::Duration), Measure::Count], 20);
    let answer = whole(Run::limited(question.clone(), parts, 64));
    assert_eq!(answer.rows, expected(&question, &model));
    assert_eq!(answer.left_out, 0);
}

#[test]
fn groups_are_dropped_and_told_when_the_tables_take_too_much_memory() {
    let facts: Vec<Fact> = (0..4000).map(|n| quiet(n, (n % 2000) as u16, 0)).collect();
    let (_, parts) = stored(&facts, 1000);
    let mut run = Run::new(by(Column::Path, vec![Measure::Count], 10_000), parts);
    let mut dropped = false;
    while !run.is_done() {
        dropped |= run.step(50_000);
        assert!(run.memory() <= 50_000);
    }
    let answer = run.answer().unwrap();
    let counted: f64 = answer.rows.iter().map(|row| row[1].rank()).sum();
    assert!(dropped && answer.left_out > 0);
    assert_eq!(counted as u64 + answer.left_out, 4000);
}

#[test]
fn a_partial_answer_has_the_rows_of_the_parts_that_were_seen() {
    let facts: Vec<Fact> = (0..300).map(|n| quiet(n, (n / 100) as u16, 0)).collect();
    let (_, parts) = stored(&facts, 100);
    let mut run = Run::new(by(Column::Path, vec![Measure::Count], 10), parts);
    run.step(usize::MAX);
    let answer = run.answer().unwrap();
    assert_eq!(answer.rows, [[Figure::Text("/gems/0".into()), Figure::Whole(100)]]);
    assert_eq!((answer.complete, answer.seen.events, answer.seen.of), (0.33, 100, 300));
}

#[test]
fn parts_without_a_chosen_event_are_skipped_without_being_read() {
    let facts: Vec<Fact> = (0..300).map(|n| quiet(n, (n / 100) as u16, n as u64)).collect();
    let (_, parts) = stored(&facts, 100);
    let path = Filter::Test { column: Column::Path, is: Is::Equal, value: Value::Text("/gems/1".into()) };
    let slow = Filter::Test { column: Column::Duration, is: Is::AtLeast, value: Value::Number(200) };
    for (filter, skipped) in [(path, 2), (slow, 2), (Filter::Any(Vec::new()), 3)] {
        let asked = Question { filter, ..by(Column::Package, vec![Measure::Count], 10) };
        let answer = whole(Run::new(asked, parts.clone()));
        assert_eq!((answer.seen.skipped, answer.seen.segments, answer.complete), (skipped, 3 - skipped, 1.0));
    }
}

/// A part whose durations cannot be read.
#[derive(Debug)]
struct Damaged(Arc<dyn Part>);

impl Part for Damaged {
    fn span(&self) -> crate::part::Span {
        self.0.span()
    }
    fn texts(&self, column: Column) -> Result<crate::part::Coded, Unreadable> {
        self.0.texts(column)
    }
    fn numbers(&self, column: Column) -> Result<Vec<i64>, Unreadable> {
        match column {
            Column::Duration => Err(Unreadable { what: "segment 7".into(), cause: "a page ends early".into() }),
            column => self.0.numbers(column),
        }
    }
}

#[test]
fn a_part_that_is_not_readable_counts_for_nothing_and_is_named() {
    let facts: Vec<Fact> = (0..200).map(|n| quiet(n, 1, 5)).collect();
    let mut parts = stored(&facts, 100).1;
    parts[0] = Arc::new(Damaged(parts[0].clone()));
    let answer = whole(Run::new(by(Column::Path, vec![Measure::Count, Measure::Sum(Column::Duration)], 10), parts));
    assert_eq!(answer.rows, [[Figure::Text("/gems/1".into()), Figure::Whole(100), Figure::Fraction(0.5)]]);
    assert_eq!(answer.unreadable, ["segment 7: a page ends early"]);
    assert!(!answer.exact);
}
