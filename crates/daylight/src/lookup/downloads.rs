//! The downloads of a package by day, counted from stored events.

use super::known_package::{moment, rows};
use crate::app::App;
use crate::error::Result;
use crate::lookup::ask_events::ask;
use crate::lookup::read_repository::ReadRepository;
use insight::{Column, Figure, Filter, Is, Measure, Order, Question, Value};
use telemetry::{Event, Millis};
use web::{Day, Downloads};

/// The days that are told, with the present one.
const DAYS: i64 = 30;
const DAY_MS: i64 = 86_400_000;
/// How long a page waits for the count, in milliseconds.
const WAIT_MS: u64 = 5000;

/// The downloads of a package of which something is known.
pub(crate) async fn show(app: &App, read: &ReadRepository, package: &str, event: &mut Event) -> Result<Downloads> {
    rows(app, read, package, event).await?;
    let now = app.clock.now();
    let today = now.0.div_euclid(DAY_MS);
    let first = Millis((today - DAYS + 1) * DAY_MS);
    let since = app.insight.kept_since(first);
    let caller = read.caller.token.as_ref().map_or(0, |token| token.class);
    let answer = ask(app, caller, question(read, package, (first, now)), event).await?;
    let counted = |day: i64| {
        let of_day =
            |row: &&Vec<Figure>| matches!(row.first(), Some(Figure::Moment(at)) if at.0.div_euclid(DAY_MS) == day);
        match answer.rows.iter().find(of_day).and_then(|row| row.get(1)) {
            Some(Figure::Whole(count)) => u64::try_from(*count).unwrap_or_default(),
            Some(Figure::Fraction(count)) => count.round() as u64,
            _ => 0,
        }
    };
    let day = |day: i64| {
        let is_known = since.is_some_and(|since| since.0.div_euclid(DAY_MS) <= day);
        let text = Millis(day * DAY_MS).to_string();
        Day { day: text.get(..10).unwrap_or(&text).to_owned(), downloads: is_known.then(|| counted(day)) }
    };
    let days: Vec<Day> = (today - DAYS + 1..=today).rev().map(day).collect();
    Ok(Downloads {
        repository: read.segment.clone(),
        package: package.to_owned(),
        known_since: since.map(moment),
        exact: answer.exact,
        complete: answer.complete >= 1.0 && answer.unreadable.is_empty(),
        total: days.iter().filter_map(|day| day.downloads).sum(),
        days,
    })
}

/// Whole files of the package that were sent: gems, or artifacts of Maven beside their POMs.
fn question(read: &ReadRepository, package: &str, (from, to): (Millis, Millis)) -> Question {
    let test = |column, value| Filter::Test { column, is: Is::Equal, value };
    let text = |column, value: &str| test(column, Value::Text(value.into()));
    let filter = Filter::All(vec![
        text(Column::Repository, &read.repository.record.name),
        text(Column::Package, package),
        text(Column::File, read.repository.download()),
        text(Column::Method, "GET"),
        test(Column::Status, Value::Number(200)),
    ]);
    Question {
        from,
        to: Millis(to.0 + 1),
        filter,
        by: Vec::new(),
        measures: vec![Measure::Count],
        per: DAY_MS.unsigned_abs(),
        order: Order { measure: 0, ascending: false },
        limit: 1,
        compare: None,
        wait_ms: WAIT_MS,
        seed: None,
    }
}
