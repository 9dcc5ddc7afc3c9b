//! Questions in both forms: read, refused, and written again.

use super::asked::Asked;
use super::question::{Compare, Filter, Is, Key, Measure, Order, Question, Value};
use crate::column::{Column, ColumnKind};
use proptest::prelude::*;
use proptest::sample::select;
use telemetry::Millis;

const NOW: Millis = Millis(1_793_534_400_000);
const HOUR: i64 = 3_600_000;

/// Reads a question in any form.
fn asked(text: &str, now: Millis) -> Result<Question, super::Mistake> {
    match Asked::read(text, now)? {
        Asked::Question(question) => Ok(*question),
        Asked::Next { .. } => panic!("{text}"),
    }
}

fn read(text: &str) -> Question {
    asked(text, NOW).unwrap_or_else(|mistake| panic!("{text}: {mistake}"))
}

fn mistake(text: &str) -> (String, String) {
    let mistake = asked(text, NOW).expect_err(text);
    (mistake.to_string(), mistake.hint.unwrap_or_default())
}

#[test]
fn both_forms_of_a_question_are_the_same_question() {
    let text = "p95(duration_ms), count by package, repository where layer = group and (status >= 500 or outcome = \
                failed) and not path starts_with /repository/maven from -1d to -1h order -count top 10";
    let json = r#"{"measures": ["p95(duration_ms)", "count"], "by": ["package", "repository"],
        "where": [["layer", "=", "group"], {"any": [["status", ">=", 500], ["outcome", "=", "failed"]]},
                  {"not": ["path", "starts_with", "/repository/maven"]}],
        "from": "-1d", "to": "-1h", "order": "-count", "limit": 10}"#;
    let question = read(text);
    assert_eq!(question, read(json));
    assert_eq!((question.from, question.to), (Millis(NOW.0 - 24 * HOUR), Millis(NOW.0 - HOUR)));
    assert_eq!(question.order, Order { measure: 1, ascending: false });
    assert_eq!(question.by, [Key(Column::Package), Key(Column::Repository)]);
    let with_text = r#"{"where": "layer = group", "measures": ["share(status >= 500)"], "wait_ms": 250}"#;
    assert_eq!(read(with_text), read("share(status>=500) where layer=group wait 250ms"));
}

#[test]
fn a_caller_goes_on_with_an_answer_by_its_handle() {
    let next = |wait_ms| Ok(Asked::Next { handle: "00ff".to_owned(), wait_ms });
    assert_eq!(Asked::read(r#"{"next": "00ff"}"#, NOW), next(1000));
    assert_eq!(Asked::read(r#"{"next": "00ff", "wait_ms": 5}"#, NOW), next(5));
    assert_eq!(read(r#"{"next": null, "by": ["package"]}"#), read("\"by package\""));
}

#[test]
fn what_a_question_leaves_out_has_a_default() {
    for empty in ["", "{}", "  ", r#"{"where": [], "by": [], "measures": [], "from": null}"#] {
        let question = read(empty);
        assert_eq!((question.from, question.to), (Millis(NOW.0 - HOUR), NOW), "{empty}");
        assert_eq!((question.filter, question.measures), (Filter::All(Vec::new()), vec![Measure::Count]), "{empty}");
        assert_eq!((question.per, question.limit, question.wait_ms, question.compare), (0, 1, 1000, None), "{empty}");
    }
    assert_eq!((read("by package").limit, read("compare rest").limit), (20, 20));
    assert_eq!(read("by package to -1h").from, Millis(NOW.0 - 2 * HOUR));
    assert_eq!(read("by package from -7d per 10m").limit, 19, "1009 stretches and at most 20,000 rows");
    assert_eq!(read("p50(duration_ms) from -7d per 1m").limit, 1);
}

#[test]
fn values_have_the_form_of_their_column() {
    for (text, value) in [
        ("duration_ms > 8.1", Value::Number(8100)),
        ("duration_ms > 2s", Value::Number(2_000_000)),
        ("bytes_out > 10MB", Value::Number(10_000_000)),
        ("at >= -1h", Value::Number(NOW.0 - HOUR)),
        ("id = 00000000000000ff", Value::Number(255)),
        ("version = 1.0", Value::Text("1.0".into())),
        ("path = 'a \"b\" \\' c'", Value::Text("a \"b\" ' c".into())),
        ("reason = \"\"", Value::Text("".into())),
        ("package = and", Value::Text("and".into())),
    ] {
        let Filter::Test { value: read, .. } = Filter::from_text(text, NOW).unwrap() else { panic!("{text}") };
        assert_eq!(read, value, "{text}");
    }
    let json = |value: &str| read(&format!(r#"{{"where": [["duration_ms", ">", {value}]]}}"#)).filter;
    assert_eq!(json("8.1"), json("\"8.1ms\""));
}

#[test]
fn a_mistake_names_its_place_and_the_nearest_name() {
    for (text, message, hint) in [
        ("count by pakage", "character 10: there is no column `pakage`", "did you mean `package`?"),
        ("by Repository", "character 4: there is no column", "did you mean `repository`?"),
        ("by xyzzyxyzzyxyzzy", "character 4: there is no column", "docs/asking.md lists the columns"),
        ("by user_agent", "character 4: there is no column", "did you mean `client_product`?"),
        ("by hour", "character 4: there is no column `hour`", "`per 1h` has a row for each hour"),
        ("where upstream = x", "character 7: there is no column `upstream`", "did you mean `upstream_host`?"),
        ("where 502", "character 7: there is no column `502`", "did you mean `status = 502`?"),
        ("cuont", "character 1: there is no measure `cuont`", "did you mean `count`?"),
        ("p95", "character 1: `p95` needs a column: `p95(duration_ms)`", ""),
        ("p95(duration_ms", "the end: expected `)`", ""),
        ("count(path)", "character 7: `count` has no parentheses", ""),
        ("sum(path)", "character 5: `sum` needs a column of numbers or durations, and `path` is a text", ""),
        ("count wher status = 1", "character 7: expected `by`, `where`, ", "did you mean `where`?"),
        ("count limit 5", "character 7: expected `by`, ", "did you mean `top`?"),
        ("count by package where", "the end: expected a column, `not` or `(`", ""),
        (
            "where status == 500",
            "character 14: `==` is no comparison; for `status` there are `=`, `!=`, ",
            "did you mean `=`?",
        ),
        ("where path > x", "character 12: `path` is a text and cannot be compared by `>`", ""),
        (
            "where status = 5xx",
            "character 16: `5xx` is no value for `status`, which expects a number such as `404`",
            "",
        ),
        ("where members = many", "character 17: `many` is no value for `members`, which expects a whole number", ""),
        (
            "where bytes_in > much",
            "character 18: `much` is no value for `bytes_in`, which expects a whole number, or",
            "",
        ),
        ("p101(duration_ms)", "character 1: `p101` is no quantile", "`p` takes 0 to 100"),
        ("from -9999w", "character 6: `-9999w` is more than 100 years", ""),
        ("from 1969-12-31", "character 6: `1969-12-31` is not within the years 1970 to 9999", ""),
        ("where status = 1 where status = 2", "character 18: `where` was named before", ""),
        ("by package, package", "character 13: this was named before", ""),
        ("by path,client,token,run,ci", "character 26: a question has at most 4 keys", ""),
        ("from tomorrow", "character 6: `tomorrow` is no moment: write `now`, ", ""),
        ("from -1h to -2h", "character 6: the time ends at 2026-11-01T10:00:00.000Z, which is not after", ""),
        ("from -90d per 1s", "character 15: from ", "choose a longer stretch or a shorter time"),
        ("by path from -1h per 1m top 1000", "character 29: 1000 groups with 61 stretches", "at most 327 groups fit"),
        ("by path top 0", "character 13: this is 1 to 20000, not 0", ""),
        ("by path order rate", "character 9: the order needs one of the question's measures: `count`", ""),
        ("count compare rest", "character 15: a comparison takes a filter, a time and the most rows", ""),
        ("compare ret", "character 9: `ret` is no comparison: write `rest`", "did you mean `rest`?"),
        ("wait 1h", "character 6: an answer is waited for at most 30000 ms, not 3600000", ""),
        ("count count", "character 7: expected `by`, ", ""),
        ("{\"limt\": 5}", "the question: a question has no key `limt`", "did you mean `limit`?"),
        ("{\"limit\": \"5\"}", "`limit`: expected a whole number", ""),
        ("{\"by\": \"path\"}", "`by`: expected a list of texts", ""),
        ("{\"by\": [\"path\", 1]}", "`by[1]`: expected a text in quotes", ""),
        (
            "{\"measures\": [\"count\", \"p95(duration)\"]}",
            "`measures[1]`, character 5: there is no",
            "did you mean `duration_ms`?",
        ),
        ("{\"where\": [[\"status\", \">=\"]]}", "`where[0]`: a comparison is a list of three", ""),
        ("{\"where\": [[\"path\", \"=\", 5]]}", "`where[0][2]`: expected a text in quotes", ""),
        (
            "{\"where\": [{\"any\": [[\"statsu\", \"=\", 5]]}]}",
            "`where[0].any[0][0]`: there is no column",
            "did you mean `status`?",
        ),
        ("{\"where\": [{\"any\": []}]}", "`where[0].any`: the list is empty", ""),
        ("{\"where\": [{\"and\": []}]}", "`where[0]`: there is no `and`; expected a comparison", ""),
        ("{\"where\": \"path = \"}", "the end of `where`: expected a value", ""),
        ("{\"next\": 7}", "`next`: expected a text in quotes", ""),
        ("{\"next\": \"a\", \"by\": []}", "`by`: with `next` there is only `wait_ms`", ""),
        ("\"by pakage\"", "character 4: there is no column", "did you mean `package`?"),
        ("{", "the question: the JSON cannot be read: ", ""),
    ] {
        let (said, hinted) = mistake(text);
        assert!(said.starts_with(message) && hinted.starts_with(hint), "{text}\n{said}\n{hinted}");
    }
}

#[test]
fn a_filter_has_a_limit_of_its_depth_and_of_its_comparisons() {
    let deep = |depth| format!("where {}status = 1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(read(&deep(15)).filter, read("where status = 1").filter);
    assert!(mistake(&deep(16)).0.contains("nested at most 16 deep"));
    assert!(mistake(&format!("where {}status = 1", "not ".repeat(5000 / 4))).0.contains("nested at most 16 deep"));
    let wide = |tests| format!("where {}", vec!["status = 1"; tests].join(" or "));
    assert!(matches!(read(&wide(200)).filter, Filter::Any(filters) if filters.len() == 200));
    assert!(mistake(&wide(201)).0.contains("at most 200 comparisons"));
    // One count for the filter and all shares, in both forms. The order repeats a share.
    let (half, test) = (vec!["status = 1"; 100].join(" or "), r#"["status", "=", 1]"#);
    let shared = |more: &str| format!("share({half}) where {half} {more} order share({half})");
    assert!(asked(&shared(""), NOW).is_ok());
    assert!(mistake(&shared("or status = 1")).0.contains("at most 200 comparisons"));
    let json = |tests: usize| {
        let tests = vec![test; tests].join(",");
        format!(r#"{{"measures": ["share({half})"], "order": "share({half})", "where": [{{"any": [{tests}]}}]}}"#)
    };
    assert!(asked(&json(100), NOW).is_ok());
    assert!(mistake(&json(101)).0.contains("at most 200 comparisons"));
    let long = |bytes: usize| {
        format!(r#"{{"where": [{}]}}"#, vec![format!(r#"["path", "=", "{}"]"#, "x".repeat(bytes)); 5].join(","))
    };
    assert!(asked(&long(3000), NOW).is_ok());
    assert!(mistake(&long(4000)).0.contains("at most 16384 bytes in the text form"));
    let json =
        |depth| format!(r#"{{"where": {}["status", "=", 1]{}}}"#, r#"[{"not": "#.repeat(depth), "}]".repeat(depth));
    assert!(asked(&json(16), NOW).is_ok());
    assert!(mistake(&json(17)).0.contains("nested at most 16 deep"));
}

fn value(column: Column) -> BoxedStrategy<Value> {
    match column.kind() {
        ColumnKind::Text => ".{0,12}".prop_map(|text| Value::Text(text.into())).boxed(),
        ColumnKind::Moment => (0..253_402_300_799_999_i64).prop_map(Value::Number).boxed(),
        _ => any::<i64>().prop_map(Value::Number).boxed(),
    }
}

fn filter() -> BoxedStrategy<Filter> {
    let test = (select(Column::ALL), select(Is::ALL)).prop_flat_map(|(column, is)| {
        let is = if is.fits(column) { is } else { Is::Equal };
        value(column).prop_map(move |value| Filter::Test { column, is, value })
    });
    let nested = test.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Filter::All),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Filter::Any),
            inner.prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    });
    nested.boxed()
}

fn measure() -> BoxedStrategy<Measure> {
    let numbers: Vec<Column> = Column::ALL
        .iter()
        .copied()
        .filter(|column| matches!(column.kind(), ColumnKind::Number | ColumnKind::Duration))
        .collect();
    let number = || select(numbers.clone());
    prop_oneof![
        Just(Measure::Count),
        Just(Measure::Rate),
        number().prop_map(Measure::Sum),
        number().prop_map(Measure::Mean),
        number().prop_map(Measure::Min),
        Just(Measure::Max(Column::At)),
        (0..=10_000_u32, number()).prop_map(|(part, of)| Measure::Quantile(f64::from(part) / 10_000.0, of)),
        select(Column::ALL).prop_map(Measure::Distinct),
        filter().prop_map(Measure::Share),
    ]
    .boxed()
}

fn question() -> impl Strategy<Value = Question> {
    let time = (0..NOW.0, 1..100 * 24 * HOUR);
    let keys = prop::sample::subsequence(Column::ALL.to_vec(), 0..=Question::KEYS_MAX);
    let measures = prop::collection::vec(measure(), 1..4);
    let compare = prop_oneof![
        Just(None),
        Just(Some(Compare::Rest)),
        (1..1_000_000_000_u64).prop_map(|earlier| Some(Compare::Earlier(earlier)))
    ];
    let rest =
        (prop::option::of(1_u64..100), any::<(prop::sample::Index, bool)>(), 1..=100_usize, compare, 0..30_000_u64);
    let filter = prop_oneof![Just(Filter::All(Vec::new())), filter()];
    (time, filter, keys, measures, rest).prop_map(|((from, length), filter, keys, mut measures, rest)| {
        let (stretches, (order, ascending), limit, compare, wait_ms) = rest;
        let mut seen = Vec::new();
        measures.retain(|measure| {
            !seen.contains(measure) && {
                seen.push(measure.clone());
                true
            }
        });
        let question = Question {
            from: Millis(from),
            to: Millis(from + length),
            filter,
            by: keys.into_iter().map(Key).collect(),
            order: Order { measure: order.index(measures.len()), ascending },
            measures,
            per: stretches.map_or(0, |stretches| (length.unsigned_abs() / stretches).max(1000)),
            limit,
            compare,
            wait_ms,
            seed: None,
        };
        // A comparison has no figures and no groups of its own.
        let (measures, order) = (vec![Measure::Count], Order { measure: 0, ascending: false });
        match compare {
            Some(_) => Question { by: Vec::new(), measures, order, per: 0, ..question },
            None => question,
        }
    })
}

proptest! {
    #[test]
    fn a_question_that_is_written_is_read_as_itself(question in question()) {
        let text = question.to_string();
        // A text that is too long is no question.
        prop_assume!(text.len() <= super::tokens::TEXT_MAX);
        let read = Question::from_text(&text, NOW);
        prop_assert_eq!(read.as_ref(), Ok(&question), "{}", text);
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in ".{0,200}", json in r#"\{"(where|by|from|measures)": ?["\[{a-z0-9=:, \]}]{0,60}\}?"#) {
        let _ = (asked(&text, NOW), asked(&json, NOW), Filter::from_text(&text, NOW));
    }

    #[test]
    fn words_of_questions_in_any_order_do_not_make_the_readers_panic(
        words in prop::collection::vec(select(vec![
            "count", "p95", "(", ")", ",", "by", "where", "status", ">=", "500", "and", "or", "not", "from", "-1h", "per", "1m",
            "order", "-count", "top", "10", "compare", "rest", "share", "duration_ms", "'", "=", "package", "wait",
        ]), 0..20)
    ) {
        if let Ok(question) = asked(&words.join(" "), NOW) {
            prop_assert_eq!(asked(&question.to_string(), NOW), Ok(question));
        }
    }
}
