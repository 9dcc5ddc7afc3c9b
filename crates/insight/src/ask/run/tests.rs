//! Answers compared with a model that looks at each row alone.

mod cases;
mod merging;

use super::super::question::{Filter, Is, Key, Order, Value};
use super::*;
use crate::column::Cell;
use crate::row::{RepositoryFacts, Row};
use crate::sample;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use telemetry::{Event, EventId, Millis, Text, Tick};

/// The values that differ between the events of these tests.
#[derive(Debug, Clone)]
struct Fact {
    at: i64,
    package: u8,
    path: u16,
    status: u16,
    bytes: u64,
    micros: u64,
    weight: u32,
}

fn fact() -> impl Strategy<Value = Fact> {
    let status = prop_oneof![4 => Just(200_u16), 1 => Just(404), 1 => Just(503)];
    let weight = prop_oneof![3 => Just(1_u32), 1 => 2..60_u32];
    (0..10_000_i64, 0..5_u8, 0..400_u16, status, 0..5000_u64, 0..90_000_u64, weight).prop_map(
        |(at, package, path, status, bytes, micros, weight)| Fact { at, package, path, status, bytes, micros, weight },
    )
}

impl Fact {
    fn event(&self, id: u64) -> Event {
        let mut event = *Event::request(Millis(self.at), Tick(0));
        event.id = EventId(id);
        event.asked(&format!("/gems/{}", self.path));
        if self.package > 0 {
            event.subject.package = format!("gem-{}", self.package).into();
        }
        event.client = Text::from("127.0.0.1");
        (event.status, event.bytes_out, event.duration, event.weight) =
            (self.status, self.bytes, self.micros * 1000, self.weight);
        event
    }
}

/// A row of the model: its cells.
struct Model(Vec<Value>);

impl Model {
    fn of(event: &Event) -> Self {
        let row = Row::of(event, RepositoryFacts::default());
        Self(
            Column::ALL
                .iter()
                .map(|column| match column.cell(&row) {
                    Cell::Text(text) => Value::Text(text.into()),
                    Cell::Number(number) => Value::Number(number),
                })
                .collect(),
        )
    }

    fn cell(&self, column: Column) -> &Value {
        &self.0[column as usize]
    }

    fn number(&self, column: Column) -> i64 {
        match self.cell(column) {
            Value::Number(number) => *number,
            Value::Text(_) => 0,
        }
    }

    fn figure(&self, column: Column) -> Figure {
        match self.cell(column) {
            Value::Text(text) => Figure::Text(text.clone()),
            Value::Number(number) => Figure::cell(column, *number),
        }
    }

    fn holds(&self, filter: &Filter) -> bool {
        match filter {
            Filter::All(filters) => filters.iter().all(|filter| self.holds(filter)),
            Filter::Any(filters) => filters.iter().any(|filter| self.holds(filter)),
            Filter::Not(filter) => !self.holds(filter),
            Filter::Test { column, is, value } => match (self.cell(*column), value, is) {
                (a, b, Is::Equal) => a == b,
                (a, b, Is::NotEqual) => a != b,
                (Value::Number(a), Value::Number(b), Is::Less) => a < b,
                (Value::Number(a), Value::Number(b), Is::AtMost) => a <= b,
                (Value::Number(a), Value::Number(b), Is::Greater) => a > b,
                (Value::Number(a), Value::Number(b), Is::AtLeast) => a >= b,
                (Value::Text(a), Value::Text(b), Is::StartsWith) => a.starts_with(&**b),
                (Value::Text(a), Value::Text(b), Is::EndsWith) => a.ends_with(&**b),
                (Value::Text(a), Value::Text(b), Is::Contains) => a.contains(&**b),
                _ => panic!("{filter:?}"),
            },
        }
    }

    fn weight(&self) -> u64 {
        self.number(Column::Weight) as u64
    }
}

/// A measure of rows of the model.
fn measured(measure: &Measure, rows: &[&Model], seconds: f64) -> Figure {
    let events: u64 = rows.iter().map(|row| row.weight()).sum();
    let sum = |column: Column| rows.iter().map(|row| row.number(column) * row.weight() as i64).sum::<i64>();
    let cells = |column: Column| rows.iter().map(move |row| row.number(column));
    match measure {
        Measure::Count => Figure::Whole(events as i64),
        Measure::Rate => Figure::rounded(events as f64 / seconds),
        Measure::Sum(column) => Figure::cell(*column, sum(*column)),
        Measure::Mean(_) if rows.is_empty() => Figure::None,
        Measure::Mean(column) => Figure::rounded(
            sum(*column) as f64 / events as f64 / if *column == Column::Duration { 1000.0 } else { 1.0 },
        ),
        Measure::Min(column) => cells(*column).min().map_or(Figure::None, |cell| Figure::cell(*column, cell)),
        Measure::Max(column) => cells(*column).max().map_or(Figure::None, |cell| Figure::cell(*column, cell)),
        Measure::Quantile(part, column) => {
            let mut sorted: Vec<i64> =
                rows.iter().flat_map(|row| vec![row.number(*column); row.weight() as usize]).collect();
            sorted.sort_unstable();
            let rank = (part * sorted.len() as f64).ceil().max(1.0) as usize;
            sorted.get(rank - 1).map_or(Figure::None, |cell| Figure::cell(*column, *cell))
        }
        Measure::Distinct(column) => {
            let values: BTreeSet<String> = rows.iter().map(|row| format!("{:?}", row.cell(*column))).collect();
            Figure::Whole(values.iter().filter(|value| *value != "Text(\"\")").count() as i64)
        }
        Measure::Share(_) if rows.is_empty() => Figure::None,
        Measure::Share(filter) => {
            let some: u64 = rows.iter().filter(|row| row.holds(filter)).map(|row| row.weight()).sum();
            Figure::rounded(some as f64 / events as f64)
        }
    }
}

/// The rows of the answer by the model: moment and keys, then measures.
fn expected(question: &Question, rows: &[Model]) -> Vec<Vec<Figure>> {
    let inside = |row: &&Model| (question.from.0..question.to.0).contains(&row.number(Column::At));
    let rows: Vec<&Model> = rows.iter().filter(inside).filter(|row| row.holds(&question.filter)).collect();
    let key = |row: &Model| question.by.iter().map(|key| row.figure(key.0)).collect::<Vec<_>>();
    let mut groups: Vec<(Vec<Figure>, Vec<&Model>)> = Vec::new();
    if question.by.is_empty() && question.per == 0 {
        groups.push((Vec::new(), Vec::new()));
    }
    for row in rows {
        let key = key(row);
        match groups.iter_mut().find(|group| group.0 == key) {
            Some(group) => group.1.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    let seconds = (question.to.0 - question.from.0) as f64 / 1000.0;
    let rank = |rows: &[&Model]| measured(&question.measures[question.order.measure], rows, seconds).rank();
    groups.sort_by(|a, b| {
        let order = rank(&a.1).total_cmp(&rank(&b.1));
        let order = if question.order.ascending { order } else { order.reverse() };
        order.then_with(|| a.0.partial_cmp(&b.0).unwrap())
    });
    groups.truncate(question.limit);
    let figures = |rows: &[&Model], seconds: f64| {
        question.measures.iter().map(|measure| measured(measure, rows, seconds)).collect::<Vec<_>>()
    };
    if question.per == 0 {
        return groups.into_iter().map(|(key, rows)| [key, figures(&rows, seconds)].concat()).collect();
    }
    let mut cells: BTreeMap<(i64, usize), Vec<&Model>> = BTreeMap::new();
    for (place, (_, rows)) in groups.iter().enumerate() {
        for row in rows {
            let begin = row.number(Column::At).div_euclid(question.per as i64) * question.per as i64;
            cells.entry((begin, place)).or_default().push(row);
        }
    }
    let row = |((begin, place), rows): ((i64, usize), Vec<&Model>)| {
        let (from, to) = (begin.max(question.from.0), (begin + question.per as i64).min(question.to.0));
        let at = vec![Figure::Moment(Millis(begin))];
        [at, groups[place].0.clone(), figures(&rows, (to - from) as f64 / 1000.0)].concat()
    };
    cells.into_iter().map(row).collect()
}

/// The facts as rows of the model, and as parts of so many rows.
fn stored(facts: &[Fact], part: usize) -> (Vec<Model>, Vec<Arc<dyn Part>>) {
    let events: Vec<_> = facts.iter().zip(1..).map(|(fact, id)| fact.event(id)).collect();
    let parts = events.chunks(part.max(1)).map(|events| Arc::new(sample::block(events)) as Arc<dyn Part>);
    (events.iter().map(Model::of).collect(), parts.collect())
}

fn test() -> impl Strategy<Value = Filter> {
    let test = |column, is, value| Filter::Test { column, is, value };
    let number = prop_oneof![
        Just(Is::Equal),
        Just(Is::NotEqual),
        Just(Is::Less),
        Just(Is::AtMost),
        Just(Is::Greater),
        Just(Is::AtLeast)
    ];
    let text =
        prop_oneof![Just(Is::Equal), Just(Is::NotEqual), Just(Is::StartsWith), Just(Is::EndsWith), Just(Is::Contains)];
    let status = prop_oneof![Just(0), Just(200), Just(404), Just(500), Just(503), Just(600)];
    let package = prop_oneof![Just(""), Just("gem-1"), Just("gem"), Just("3"), Just("rack")];
    prop_oneof![
        (number.clone(), status).prop_map(move |(is, status)| test(Column::Status, is, Value::Number(status))),
        (number, 0..90_000_i64).prop_map(move |(is, micros)| test(Column::Duration, is, Value::Number(micros))),
        (text, package).prop_map(move |(is, package)| test(Column::Package, is, Value::Text(package.into()))),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    test().prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::All),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::Any),
            inner.prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    })
}

fn question() -> impl Strategy<Value = Question> {
    let key = prop_oneof![
        Just(Column::Package),
        Just(Column::Path),
        Just(Column::Status),
        Just(Column::BytesOut),
        Just(Column::At)
    ];
    let measure = prop_oneof![
        Just(Measure::Count),
        Just(Measure::Rate),
        Just(Measure::Sum(Column::BytesOut)),
        Just(Measure::Mean(Column::Duration)),
        Just(Measure::Min(Column::BytesOut)),
        Just(Measure::Max(Column::Duration)),
        (0..=100_u32).prop_map(|percent| Measure::Quantile(f64::from(percent) / 100.0, Column::Duration)),
        Just(Measure::Distinct(Column::Package)),
        Just(Measure::Distinct(Column::Status)),
        test().prop_map(Measure::Share),
    ];
    let order = (0..8_usize, any::<bool>());
    let per = prop_oneof![2 => Just(0), 1 => Just(700), 1 => Just(60_000)];
    let times = (0..9_000_i64, 1..12_000_i64);
    let many = (prop::collection::vec(key, 0..=4), prop::collection::vec(measure, 1..4));
    (times, filter(), many, per, order, 1..40_usize).prop_map(
        |((from, length), filter, (by, measures), per, order, limit)| {
            let order = Order { measure: order.0 % measures.len(), ascending: order.1 };
            let by = by.into_iter().map(Key).collect();
            let (from, to) = (Millis(from), Millis(from + length));
            Question { from, to, filter, by, measures, per, order, limit, compare: None, wait_ms: 0, seed: None }
        },
    )
}

fn whole(mut run: Run) -> Answer {
    while !run.is_done() {
        run.step(usize::MAX);
    }
    run.answer().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn an_answer_is_that_of_a_model_which_looks_at_each_row(
        facts in prop::collection::vec(fact(), 0..120),
        part in 1..70_usize,
        question in question(),
    ) {
        let (model, parts) = stored(&facts, part);
        let answer = whole(Run::new(question.clone(), parts.clone()));
        let rows = expected(&question, &model);
        let quantile = |place: usize| {
            let measure = place.checked_sub(answer.names.len() - question.measures.len());
            measure.is_some_and(|measure| matches!(question.measures[measure], Measure::Quantile(..)))
        };
        // A histogram's error can exchange groups, and only long lists of values become one.
        let approximate = facts.len() > 48 && question.measures.iter().any(|measure| matches!(measure, Measure::Quantile(..)));
        if !approximate {
            prop_assert_eq!(&answer.rows, &rows);
        } else if !matches!(question.measures[question.order.measure], Measure::Quantile(..)) {
            prop_assert_eq!(answer.rows.len(), rows.len());
            for (row, rows) in answer.rows.iter().zip(&rows) {
                for (place, (found, exact)) in row.iter().zip(rows).enumerate() {
                    if quantile(place) && *exact != Figure::None {
                        // A bucket is 4.4 % wide, and a cell is a whole number of microseconds.
                        prop_assert!((found.rank() - exact.rank()).abs() <= exact.rank() * 0.045 + 0.001, "{found:?} {exact:?}");
                    } else {
                        prop_assert_eq!(found, exact);
                    }
                }
            }
        }
        prop_assert_eq!((answer.complete, answer.left_out), (1.0, 0));
        let inside = parts.iter().map(|part| part.span());
        let inside: Vec<_> = inside.filter(|span| span.from < question.to.0 && question.from.0 <= span.to).collect();
        prop_assert_eq!(answer.exact, inside.iter().all(|span| span.events == span.rows as u64));
        prop_assert_eq!(answer.seen.events, inside.iter().map(|span| span.events).sum::<u64>());
        prop_assert_eq!(answer.seen.of, answer.seen.events);
        prop_assert_eq!(answer.seen.segments + answer.seen.skipped, inside.len() as u64);
    }
}
