//! The names in questions, and suggestions for misspelled ones.

use super::mistake::{Mistake, Position};
use super::question::{Is, Key, Measure};
use crate::column::{Column, ColumnKind};

impl Is {
    /// Whether cells of a column can be compared so.
    pub fn fits(self, column: Column) -> bool {
        match self {
            Is::Equal | Is::NotEqual => true,
            Is::StartsWith | Is::EndsWith | Is::Contains => column.is_text(),
            Is::Less | Is::AtMost | Is::Greater | Is::AtLeast => {
                !matches!(column.kind(), ColumnKind::Text | ColumnKind::Id)
            }
        }
    }
}

/// Words of other programs, each with the word that questions use.
const ELSEWHERE: &[(&str, &str)] = &[
    ("agent", "client_product"),
    ("app", "repository"),
    ("application", "repository"),
    ("artifact", "package"),
    ("average", "mean"),
    ("avg", "mean"),
    ("bytes", "bytes_out"),
    ("cache_status", "app_cache"),
    ("gem", "package"),
    ("group_by", "by"),
    ("group", "by"),
    ("host", "upstream_host"),
    ("ip", "client"),
    ("latency", "duration_ms"),
    ("like", "contains"),
    ("limit", "top"),
    ("median", "p50"),
    ("name", "package"),
    ("repo", "repository"),
    ("since", "from"),
    ("slot_wait_ms", "app_wait_ms"),
    ("sort", "order"),
    ("time", "at"),
    ("total", "sum"),
    ("unique", "distinct"),
    ("until", "to"),
    ("upstream", "upstream_host"),
    ("url", "path"),
    ("user", "token"),
    ("user_agent", "client_product"),
    ("==", "="),
    ("<>", "!="),
    ("~", "contains"),
];

/// The known name that a person probably meant.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let same = ELSEWHERE.iter().find(|(elsewhere, here)| *elsewhere == name && known.contains(here));
    if let Some((_, here)) = same {
        return known.iter().copied().find(|known| known == here);
    }
    let near = known.iter().map(|known| (strsim::damerau_levenshtein(&name, known), *known));
    let (distance, known) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + name.chars().count() / 3).then_some(known)
}

/// The column of that name.
pub(super) fn column(name: &str, place: &Position) -> Result<Column, Mistake> {
    Column::read(name).ok_or_else(|| {
        let known: Vec<&str> = Column::ALL.iter().map(|column| column.as_str()).collect();
        let unknown = Mistake::new(place, format!("there is no column `{}`", clipped(name)));
        // A status alone is the shortest question that people try.
        let status = format!("status = {name}");
        let is_status = name.len() == 3 && name.bytes().all(|byte| byte.is_ascii_digit());
        let near = if is_status { Some(status.as_str()) } else { nearest(name, &known) };
        unknown.hint("docs/asking.md lists the columns").meant(near)
    })
}

/// The key of that name.
pub(super) fn key(name: &str, place: &Position) -> Result<Key, Mistake> {
    column(name, place).map(Key).map_err(|unknown| match name {
        "second" | "minute" | "hour" | "day" | "week" => {
            unknown.hint(format!("`per 1{}` has a row for each {name}", &name[..1]))
        }
        _ => unknown,
    })
}

/// The comparison of that name, for cells of a column.
pub(super) fn comparison(name: &str, column: Column, place: &Position) -> Result<Is, Mistake> {
    let fitting: Vec<&str> = Is::ALL.iter().filter(|is| is.fits(column)).map(|is| is.as_str()).collect();
    let list = fitting.join("`, `");
    let Some(is) = Is::ALL.iter().copied().find(|is| is.as_str() == name) else {
        let unknown = format!("`{}` is no comparison; for `{}` there are `{list}`", clipped(name), column.as_str());
        return Err(Mistake::new(place, unknown).meant(nearest(name, &fitting)));
    };
    if is.fits(column) {
        return Ok(is);
    }
    let (what, column) = (kind(column), column.as_str());
    Err(Mistake::new(place, format!("`{column}` is {what} and cannot be compared by `{name}`; there are `{list}`")))
}

/// The measures that have a column in parentheses.
const OF_COLUMNS: &[&str] = &["sum", "mean", "min", "max", "distinct"];

/// The measure of that name, of a column where it needs one. `share` is not among them.
pub(super) fn measure(name: &str, of: Option<(&str, &Position)>, place: &Position) -> Result<Measure, Mistake> {
    if let ("count" | "rate", Some((_, place))) = (name, &of) {
        return Err(Mistake::new(place, format!("`{name}` has no parentheses")));
    }
    let quantile = name.strip_prefix('p').and_then(quantile);
    match name {
        "count" => return Ok(Measure::Count),
        "rate" => return Ok(Measure::Rate),
        _ if quantile.is_some() || OF_COLUMNS.contains(&name) => {}
        _ if name.strip_prefix('p').is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit())) => {
            let message = format!("`{}` is no quantile", clipped(name));
            return Err(
                Mistake::new(place, message).hint("`p` takes 0 to 100, with at most two digits behind the point")
            );
        }
        _ => {
            let known = ["count", "rate", "p50", "share"].iter().chain(OF_COLUMNS);
            let unknown = format!("there is no measure `{}`", clipped(name));
            let list = "there are `count`, `rate`, `sum`, `mean`, `min`, `max`, quantiles such as `p95`, `distinct` and \
                        `share`";
            return Err(Mistake::new(place, unknown)
                .hint(list)
                .meant(nearest(name, &known.copied().collect::<Vec<_>>())));
        }
    }
    let Some((of, place)) = of else {
        return Err(Mistake::new(place, format!("`{name}` needs a column: `{name}(duration_ms)`")));
    };
    let column = column(of, place)?;
    let counts = matches!(column.kind(), ColumnKind::Number | ColumnKind::Duration);
    let ordered = counts || column.kind() == ColumnKind::Moment;
    let (fits, needs) = match name {
        "distinct" => (true, ""),
        "min" | "max" => (ordered, "numbers, durations or moments"),
        _ => (counts, "numbers or durations"),
    };
    if !fits {
        let (of, what) = (column.as_str(), kind(column));
        return Err(Mistake::new(place, format!("`{name}` needs a column of {needs}, and `{of}` is {what}")));
    }
    Ok(match (name, quantile) {
        (_, Some(part)) => Measure::Quantile(part, column),
        ("sum", _) => Measure::Sum(column),
        ("mean", _) => Measure::Mean(column),
        ("min", _) => Measure::Min(column),
        ("max", _) => Measure::Max(column),
        _ => Measure::Distinct(column),
    })
}

/// The part of the events that a quantile names: `95` or `99.9`, with at most two digits behind the point.
fn quantile(digits: &str) -> Option<f64> {
    let (whole, behind) = digits.split_once('.').unwrap_or((digits, "0"));
    let short = |text: &str, most| (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let named = short(whole, 3) && short(behind, 2);
    // Counted in hundredths of a percent, as one division gives the nearest number.
    let hundredths: u32 = named.then(|| format!("{whole}{behind:0<2}").parse().ok())??;
    (hundredths <= 10_000).then(|| f64::from(hundredths) / 10_000.0)
}

/// The form of a column's cells, for messages.
fn kind(column: Column) -> &'static str {
    match column.kind() {
        ColumnKind::Text => "a text",
        ColumnKind::Number => "a number",
        ColumnKind::Duration => "a duration",
        ColumnKind::Moment => "a moment",
        ColumnKind::Id => "an id",
    }
}

/// The first characters of a text, for messages.
pub(super) fn clipped(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_other_programs_leads_to_a_name_that_exists_and_is_no_name_itself() {
        let clauses = ["by", "where", "from", "to", "per", "order", "top", "compare", "wait", "p50"];
        let known = |name: &str| {
            Column::read(name).is_some()
                || clauses.contains(&name)
                || OF_COLUMNS.contains(&name)
                || Is::ALL.iter().any(|is| is.as_str() == name)
        };
        for (elsewhere, here) in ELSEWHERE {
            assert!(known(here) && !known(elsewhere), "{elsewhere} {here}");
        }
    }

    #[test]
    fn a_quantile_is_a_percentage_with_at_most_two_digits_behind_the_point() {
        assert_eq!(quantile("95"), Some(0.95));
        assert_eq!(quantile("99.9"), Some(0.999));
        assert_eq!(quantile("100"), Some(1.0));
        for wrong in ["", "101", "100.01", "9.999", "-1", "1e1", "9.", ".9", "inf", "1000"] {
            assert_eq!(quantile(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_measure_takes_only_columns_whose_cells_it_can_count() {
        let of = |name, of| measure(name, Some((of, &Position::Whole)), &Position::Whole);
        assert_eq!(of("p95", "duration_ms"), Ok(Measure::Quantile(0.95, Column::Duration)));
        assert_eq!(of("max", "at"), Ok(Measure::Max(Column::At)));
        assert_eq!(of("distinct", "id"), Ok(Measure::Distinct(Column::Id)));
        for (name, column) in [("sum", "path"), ("mean", "at"), ("p50", "id"), ("max", "package"), ("count", "path")] {
            assert!(of(name, column).is_err(), "{name}({column})");
        }
        assert!(measure("sum", None, &Position::Whole).unwrap_err().message.contains("needs a column"));
        assert_eq!(of("avg", "duration_ms").unwrap_err().hint.unwrap(), "did you mean `mean`?");
    }
}
