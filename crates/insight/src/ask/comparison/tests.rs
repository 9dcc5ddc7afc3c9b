//! Tests of comparisons.

use super::super::figure::Figure;
use super::super::question::{Filter, Is, Value};
use super::*;
use crate::sample::{self, busy::Busy};
use telemetry::{Event, Kind, Millis, Op};

/// The first moment of a generated event.
const BEGIN: i64 = 1_800_000_000_000;
/// How late a planted member is, in nanoseconds.
const LATE: u64 = 2_000_000_000;

/// Events of a busy server, changed, as parts of so many rows.
fn stored(count: usize, part: usize, mut change: impl FnMut(usize, &mut Event)) -> Vec<Arc<dyn Part>> {
    let mut busy = Busy::new(1);
    let mut events: Vec<Event> = (0..count).map(|_| busy.event()).collect();
    events.iter_mut().enumerate().for_each(|(place, event)| change(place, event));
    events.chunks(part).map(|events| Arc::new(sample::block(events)) as Arc<dyn Part>).collect()
}

/// Of the requests to the group, one of two queries the last member, which is late.
fn slow_member(place: usize, event: &mut Event) {
    if event.members.is_empty() {
        return;
    }
    if place.is_multiple_of(2) {
        event.members.truncate(3);
    } else {
        event.members[3].nanos += LATE;
        event.duration += LATE;
        event.add(Op::MembersAsk, LATE);
    }
}

fn question(filter: Filter, compare: Compare) -> Question {
    let question = Question::from_text("compare rest", Millis(i64::MAX)).unwrap();
    Question { from: Millis(0), filter, compare: Some(compare), ..question }
}

fn slower_than(millis: i64) -> Filter {
    Filter::Test { column: Column::Duration, is: Is::Greater, value: Value::Number(millis * 1000) }
}

fn compared(question: Question, parts: Vec<Arc<dyn Part>>) -> Result<Answer, NotAnswered> {
    let mut comparison = Comparison::new(question, parts);
    while !comparison.is_done() {
        comparison.step(usize::MAX);
    }
    comparison.answer()
}

fn text(figure: &Figure) -> &str {
    if let Figure::Text(text) = figure { text } else { "" }
}

#[test]
fn the_slow_ones_against_the_rest_name_a_slow_member_first() {
    let answer = compared(question(slower_than(1000), Compare::Rest), stored(20_000, 3000, slow_member)).unwrap();
    let first = &answer.rows[0];
    assert_eq!((text(&first[0]), text(&first[1])), ("slowest_member", "legacy"), "{:#?}", answer.rows);
    let [score, share, base] = [2, 3, 4].map(|place| first[place].rank());
    assert!(score > 0.8 && share > 0.95 && base < 0.05, "{score} {share} {base}");
    // The layer of a group is less telling: other requests have it as well.
    let is_layer =
        |row: &&Vec<Figure>| text(&row[0]) == "layer" || text(&row[6]).split(", ").any(|same| same == "layer");
    let layer = answer.rows.iter().find(is_layer).unwrap();
    assert!(layer[2].rank() < score, "{layer:?}");
}

#[test]
fn columns_that_tell_the_same_are_one_difference_named_by_the_cause() {
    // All requests to the group are slow: the layer and the member hold for the same rows.
    let every = |_: usize, event: &mut Event| slow_member(1, event);
    let answer = compared(question(slower_than(1000), Compare::Rest), stored(20_000, 5000, every)).unwrap();
    let first = &answer.rows[0];
    assert_eq!((text(&first[0]), text(&first[1])), ("slowest_member", "legacy"), "{:#?}", answer.rows);
    assert!(text(&first[6]).split(", ").any(|same| same == "layer"), "{first:?}");
}

/// All requests to the group are slow and have a large amount; of so many of a hundred the last member was late, of the others the first.
fn amounts(last: usize) -> impl FnMut(usize, &mut Event) {
    let mut slow = 0;
    move |_, event| {
        if event.members.is_empty() {
            return;
        }
        slow += 1;
        event.more_mut().size = 9;
        event.members[if slow % 100 < last { 3 } else { 0 }].nanos += LATE;
        event.duration += LATE;
        event.add(Op::MembersAsk, LATE);
    }
}

#[test]
fn a_name_is_in_front_of_an_amount_that_tells_a_little_more_and_behind_one_that_tells_much_more() {
    for (last, name_leads) in [(89, true), (50, false)] {
        let parts = stored(60_000, 6000, amounts(last));
        let answer = compared(question(slower_than(1000), Compare::Rest), parts).unwrap();
        let place = |column: &str| {
            let has =
                |row: &Vec<Figure>| text(&row[0]) == column || text(&row[6]).split(", ").any(|same| same == column);
            answer.rows.iter().position(has).unwrap_or_else(|| panic!("{column}: {:#?}", answer.rows))
        };
        let (name, amount) = (place("slowest_member"), place("size"));
        assert_eq!(name < amount, name_leads, "{last}: {:#?}", answer.rows);
        let score = |row: usize| answer.rows[row][2].rank();
        assert!(score(name) < score(amount), "{last}: {:#?}", answer.rows);
    }
}

#[test]
fn the_steps_of_the_line_add_up_to_the_difference_of_the_durations() {
    let answer = compared(question(slower_than(1000), Compare::Rest), stored(20_000, 3000, slow_member)).unwrap();
    let compared = answer.compared.unwrap();
    let all: f64 = compared.line.iter().map(Step::difference).sum();
    let durations = compared.selected.duration_ms - compared.base.duration_ms;
    // Each step of each row is rounded down to a microsecond.
    assert!((all - durations).abs() < 0.001 * LINE.len() as f64, "{all} {durations}");
    let slowest = compared.line.iter().max_by(|a, b| a.difference().total_cmp(&b.difference())).unwrap();
    assert_eq!(slowest.column, Column::MembersAsk);
    assert!(slowest.difference() > 0.9 * durations, "{slowest:?} {durations}");
}

#[test]
fn events_are_compared_with_the_ones_of_an_earlier_time() {
    let count = 20_000;
    // In the second half of the time, half of the requests fail because of one token.
    let parts = stored(count, 1500, |place, event| {
        if place >= count / 2 && place.is_multiple_of(2) {
            (event.token, event.status) = ("deploy".to_owned(), 503);
        }
    });
    let middle = parts[parts.len() / 2].span().from;
    let (from, to) = (Millis(middle), Millis(middle + (middle - BEGIN)));
    let compare = Compare::Earlier(middle.abs_diff(BEGIN));
    let answer = compared(Question { from, to, ..question(Filter::All(Vec::new()), compare) }, parts).unwrap();
    let first = &answer.rows[0];
    assert!(["token", "status"].contains(&text(&first[0])), "{:#?}", answer.rows);
    assert!(text(&first[6]).contains(if text(&first[0]) == "token" { "status" } else { "token" }), "{first:?}");
}

#[test]
fn sides_that_do_not_differ_have_no_differences() {
    let parts = stored(20_000, 2500, |_, _| {});
    let middle = parts[parts.len() / 2].span().from;
    let compare = Compare::Earlier(middle.abs_diff(BEGIN));
    let (from, to) = (Millis(middle), Millis(middle + (middle - BEGIN)));
    let answer = compared(Question { from, to, ..question(Filter::All(Vec::new()), compare) }, parts).unwrap();
    assert!(answer.rows.iter().all(|row| row[2].rank() < 0.02), "{:#?}", answer.rows);
}

#[test]
fn requests_are_compared_with_requests_and_not_with_jobs() {
    let parts = stored(2000, 500, |place, event| {
        event.duration = if place < 100 { LATE } else { 1000 };
        event.kind = if place % 2 == 1 { Kind::Job } else { Kind::Request };
    });
    let kind = Filter::Test { column: Column::Kind, is: Is::Equal, value: Value::Text("request".into()) };
    let slow = Filter::All(vec![kind.clone(), slower_than(1000)]);
    let sides = |filter| {
        let compared = compared(question(filter, Compare::Rest), parts.clone()).unwrap().compared.unwrap();
        (compared.selected.events, compared.base.events)
    };
    // The events have weights. The second question is about the kinds themselves.
    let ((slow, rest), (requests, jobs)) = (sides(slow), sides(kind));
    assert!(slow > 0 && jobs > 0, "{slow} slow requests, {jobs} jobs");
    assert_eq!(slow + rest, requests);
}

#[test]
fn fewer_than_thirty_events_are_not_compared() {
    let parts = stored(400, 100, |place, event| event.duration = if place < 29 { LATE } else { 1000 });
    let refused = compared(question(slower_than(1000), Compare::Rest), parts.clone()).unwrap_err();
    assert!(refused.to_string().starts_with("only 29 stored events match the filter"), "{refused}");
    let all = compared(question(Filter::All(Vec::new()), Compare::Rest), parts).unwrap_err();
    assert!(all.to_string().starts_with("no stored event is there to compare with"), "{all}");
}

#[test]
fn rows_beyond_the_sample_are_counted_and_every_stretch_of_time_is_in_it() {
    let parts = stored(2000, 100, slow_member);
    let asked = question(slower_than(1000), Compare::Rest);
    let (mut few, mut all) = (Comparison::new(asked.clone(), parts.clone()), Sample::new(&[]));
    let weights: u64 = parts.iter().map(|part| part.span().events).sum();
    for part in &parts {
        few.step(usize::MAX);
        while few.is_within_part() {
            few.step(usize::MAX);
        }
        let mut columns = Columns::new(part.clone(), Arc::default());
        let mut taken = all.take(&asked, &mut columns, 10).unwrap();
        while !all.read(&mut columns, &mut taken).unwrap() {}
        assert!(!taken.whole());
        all.count(taken);
    }
    assert_eq!(all.sides.iter().map(|side| side.events).sum::<u64>(), weights);
    assert!(all.sides[1].rows >= 10 * parts.len() / 2 && all.sides[1].rows <= 10 * parts.len());
    // Each sampled row stands for as many as its part has for each.
    let stands: f64 = all.sides[1].weights;
    assert!((stands / all.sides[1].events as f64 - 1.0).abs() < 0.1, "{stands} {}", all.sides[1].events);
    assert_eq!(few.progress.seen.events, weights);
}
