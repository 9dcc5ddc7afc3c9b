//! A question that was read, before its parts are checked against each other.

use super::mistake::{Mistake, Position};
use super::names::{clipped, nearest};
use super::question::{Compare, Filter, Key, Measure, Order, Question};
use super::times;
use telemetry::Millis;

/// The rows of an answer to a question that names no limit.
const LIMIT: usize = 20;
/// How long an answer is waited for where the question does not say, in milliseconds.
pub(super) const WAIT_MS: u64 = 1000;
/// The longest wait for an answer, in milliseconds.
const WAIT_MAX_MS: u64 = 30_000;
/// The shortest stretch of a series, in milliseconds.
const PER_MIN: u64 = 1000;
/// The time of a question that names none: the last hour, in milliseconds. With `compare -5m` it is the last five minutes.
const LAST_HOUR: u64 = 3_600_000;

/// The most comparisons of all filters of a question.
pub(super) const TESTS_MAX: usize = 200;

/// A part of a question, and its place.
pub(super) type At<T> = (T, Position);

/// A question that was read. Its parts are not checked against each other.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) from: Option<At<String>>,
    pub(super) to: Option<At<String>>,
    pub(super) filter: Option<Filter>,
    pub(super) by: Vec<At<Key>>,
    pub(super) measures: Vec<At<Measure>>,
    pub(super) per: Option<At<String>>,
    /// The measure, and whether the smallest is the first.
    pub(super) order: Option<At<(Measure, bool)>>,
    pub(super) limit: Option<At<u64>>,
    pub(super) compare: Option<At<String>>,
    pub(super) wait_ms: Option<At<u64>>,
}

impl Draft {
    /// The question. `now`: the present moment.
    pub(super) fn check(self, now: Millis) -> Result<Question, Mistake> {
        let moment = |(text, place): &At<String>| {
            let read = times::moment(text, now);
            read.ok_or_else(|| {
                let why = times::out_of_range(text).map(str::to_owned);
                let why = why.unwrap_or_else(|| format!("is no moment: write {}", times::MOMENT));
                Mistake::new(place, format!("`{}` {why}", clipped(text)))
            })
        };
        let to = self.to.as_ref().map_or(Ok(now), moment)?;
        let compare = self.compare.as_ref().map(compare).transpose()?;
        let from = match &self.from {
            Some(from) => moment(from)?,
            None => {
                // A time that reaches into the earlier one would be compared with itself.
                let length = if let Some(Compare::Earlier(by)) = compare { LAST_HOUR.min(by) } else { LAST_HOUR };
                Millis(to.0.saturating_sub_unsigned(length).max(0))
            }
        };
        if from >= to {
            let place = [&self.from, &self.to].into_iter().flatten().map(|(_, place)| place).next();
            let message = format!("the time ends at {to}, which is not after its begin at {from}");
            return Err(Mistake::new(place.unwrap_or(&Position::Whole), message));
        }
        if let Some((_, place)) = &self.compare
            && (!self.by.is_empty() || !self.measures.is_empty() || self.per.is_some() || self.order.is_some())
        {
            return Err(Mistake::new(place, "a comparison takes a filter, a time and the most rows, and nothing else"));
        }
        let by = distinct(self.by, Question::KEYS_MAX, "keys")?;
        let mut measures = distinct(self.measures, Question::MEASURES_MAX, "measures")?;
        if measures.is_empty() {
            measures.push(Measure::Count);
        }
        let per = match &self.per {
            None => 0,
            Some((text, place)) => stretch(text, place)?.max(1),
        };
        let one = by.is_empty() && self.compare.is_none();
        let limit = limit(self.limit, self.per.as_ref().map(|(_, place)| (per, place)), (from, to), one)?;
        let wait_ms = wait_ms(self.wait_ms)?;
        let order =
            self.order.map_or(Ok(Order { measure: 0, ascending: false }), |order| place_of(order, &measures))?;
        let filter = self.filter.unwrap_or(Filter::All(Vec::new()));
        let shares = measures
            .iter()
            .filter_map(|measure| if let Measure::Share(filter) = measure { Some(filter) } else { None });
        if shares.chain([&filter]).map(Filter::tests).sum::<usize>() > TESTS_MAX {
            let message = format!("a question has at most {TESTS_MAX} comparisons, those of `share` included");
            return Err(Mistake::new(&Position::Whole, message));
        }
        Ok(Question { from, to, filter, by, measures, per, order, limit, compare, wait_ms, seed: None })
    }
}

/// How long the caller waits, in milliseconds.
pub(super) fn wait_ms(wait_ms: Option<At<u64>>) -> Result<u64, Mistake> {
    match wait_ms {
        None => Ok(WAIT_MS),
        Some((wait, _)) if wait <= WAIT_MAX_MS => Ok(wait),
        Some((wait, place)) => {
            Err(Mistake::new(&place, format!("an answer is waited for at most {WAIT_MAX_MS} ms, not {wait}")))
        }
    }
}

/// The items, none of them twice, and at most `most`.
fn distinct<T: PartialEq>(items: Vec<At<T>>, most: usize, what: &str) -> Result<Vec<T>, Mistake> {
    let mut all = Vec::new();
    for (item, place) in items {
        if all.contains(&item) {
            return Err(Mistake::new(&place, "this was named before"));
        }
        if all.len() == most {
            return Err(Mistake::new(&place, format!("a question has at most {most} {what}")));
        }
        all.push(item);
    }
    Ok(all)
}

fn stretch(text: &str, place: &Position) -> Result<u64, Mistake> {
    let read = times::stretch(text);
    let why =
        || times::out_of_range(text).map_or_else(|| format!("is no time: write {}", times::STRETCH), str::to_owned);
    read.ok_or_else(|| Mistake::new(place, format!("`{}` {}", clipped(text), why())))
}

/// The most groups of an answer, so that its rows are at most [`Question::ROWS_MAX`]. `per`: the length of the stretches.
/// `one`: there is one group.
fn limit(
    limit: Option<At<u64>>,
    per: Option<(u64, &Position)>,
    time: (Millis, Millis),
    one: bool,
) -> Result<usize, Mistake> {
    let (from, to) = time;
    let rows = match per {
        None => 1,
        Some((per, place)) if per < PER_MIN => {
            return Err(Mistake::new(place, "a stretch of a series is at least `1s`"));
        }
        Some((per, place)) => {
            // The first one may begin before the time of the question, as stretches begin at whole multiples.
            let stretches = to.0.abs_diff(from.0).div_ceil(per) + 1;
            let most = Question::ROWS_MAX;
            let few = usize::try_from(stretches).ok().filter(|stretches| *stretches <= most);
            few.ok_or_else(|| {
                let message = format!(
                    "from {from} to {to} there are {stretches} stretches, and an answer has at most {most} rows"
                );
                Mistake::new(place, message).hint("choose a longer stretch or a shorter time")
            })?
        }
    };
    let most = if one { 1 } else { Question::ROWS_MAX / rows };
    let Some((limit, place)) = limit else { return Ok(LIMIT.min(most.max(1))) };
    if limit == 0 || limit > Question::ROWS_MAX as u64 {
        return Err(Mistake::new(&place, format!("this is 1 to {}, not {limit}", Question::ROWS_MAX)));
    }
    let limit = limit as usize;
    if limit > most && !one {
        let message = format!("{limit} groups with {rows} stretches each are more than {} rows", Question::ROWS_MAX);
        return Err(Mistake::new(&place, message).hint(format!("at most {most} groups fit")));
    }
    Ok(limit)
}

fn compare(compare: &At<String>) -> Result<Compare, Mistake> {
    let (text, place) = compare;
    if text == "rest" {
        return Ok(Compare::Rest);
    }
    let earlier = text.strip_prefix('-').and_then(times::stretch).filter(|earlier| *earlier > 0);
    earlier.map(Compare::Earlier).ok_or_else(|| {
        let message = format!("`{}` is no comparison: write `rest`, or a time such as `-1d`", clipped(text));
        Mistake::new(place, message).meant(nearest(text, &["rest"]))
    })
}

fn place_of(order: At<(Measure, bool)>, measures: &[Measure]) -> Result<Order, Mistake> {
    let ((measure, ascending), place) = order;
    let found = measures.iter().position(|one| *one == measure);
    found.map(|measure| Order { measure, ascending }).ok_or_else(|| {
        let list: Vec<String> = measures.iter().map(Measure::to_string).collect();
        let message = format!("the order needs one of the question's measures: `{}`", list.join("`, `"));
        Mistake::new(&place, message)
    })
}
