//! Findings that a team defines: a question about the counts of events, and a threshold for its first measure.

use super::check::{Check, FindingKind, Lost, Problem};
use super::found::Found;
use crate::ask::{Answer, Asked, Figure, Filter, Question};
use crate::rollup::plan;
use serde_json::{Value, json};
use std::time::Duration;
use telemetry::Millis;

/// When a figure is a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// If it is greater.
    Above(f64),
    /// If it is smaller.
    Below(f64),
}

/// A finding that a team defines: `[[finding]] name, question, above|below, sentence`.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomFinding {
    name: String,
    text: String,
    threshold: Threshold,
    sentence: String,
}

/// Why a finding of the settings cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotCustom {
    /// The name has other characters, or too many.
    #[error("the name of a finding has 1 to 64 small letters, digits and hyphens, and begins with a letter")]
    Name,
    /// The sentence is empty or too long.
    #[error("the sentence of a finding has 1 to 500 characters in one line")]
    Sentence,
    /// The threshold is no number.
    #[error("the threshold of a finding is a number")]
    Threshold,
    /// It cannot be read.
    #[error("the question cannot be read: {why}")]
    Question {
        /// The mistake, with its place.
        why: String,
        /// The remedy, where there is one.
        hint: Option<String>,
    },
    /// It compares with a value that no event can have.
    #[error("no event can meet the question: {0}")]
    Never(String),
    /// It needs events.
    #[error("the question cannot be answered from the counts of minutes: {0}")]
    NotCounted(String),
}

impl NotCustom {
    /// The remedy.
    pub fn hint(&self) -> String {
        let counted = "kind, class, layer, repository, repository_kind, format, outcome and status are counted, with bytes_in, bytes_out, \
                       first_byte_ms and duration_ms; as in `p95(duration_ms) by repository where class = downloads from -5m`";
        match self {
            NotCustom::NotCounted(_) => counted.to_owned(),
            NotCustom::Question { hint: Some(hint), .. } => hint.clone(),
            NotCustom::Question { .. } | NotCustom::Never(_) => "`daylight ask` reads the same questions".to_owned(),
            NotCustom::Name => "such as `slow-metadata`".to_owned(),
            NotCustom::Sentence => "describe the fault in one line, such as `Metadata is slow`".to_owned(),
            NotCustom::Threshold => "such as `above = 500` or `below = 0.5`".to_owned(),
        }
    }
}

/// The longest sentence, in characters.
const SENTENCE_MAX: usize = 500;
/// The most rows of an answer that become findings.
const ROWS_MAX: usize = 20;

impl CustomFinding {
    /// A finding. `question` is in one of the forms that `POST /api/v1/ask` takes; its times are read again at each look, so `-5m` is
    /// five minutes before the look. `now` is the present moment.
    ///
    /// # Errors
    /// If the question cannot be read or needs events, or if another part is no good. The data are not needed for this.
    pub fn new(
        name: &str,
        question: &str,
        threshold: Threshold,
        sentence: &str,
        now: Millis,
    ) -> Result<Self, NotCustom> {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
        if !begins || name.len() > 64 || !name.bytes().all(is_word) {
            return Err(NotCustom::Name);
        }
        let sentence = sentence.trim();
        if sentence.is_empty() || sentence.chars().count() > SENTENCE_MAX || sentence.contains(char::is_control) {
            return Err(NotCustom::Sentence);
        }
        let (Threshold::Above(limit) | Threshold::Below(limit)) = threshold;
        if !limit.is_finite() {
            return Err(NotCustom::Threshold);
        }
        let custom = Self { name: name.into(), text: question.into(), threshold, sentence: sentence.into() };
        let read = custom.read(now)?;
        if let Some(why) = read.never() {
            return Err(NotCustom::Never(why));
        }
        if read.per > 0 {
            return Err(NotCustom::NotCounted(
                "`per` has a row for each stretch, and a finding looks at one".to_owned(),
            ));
        }
        match plan::refusal(&read, now) {
            Some(why) => Err(NotCustom::NotCounted(why)),
            None => Ok(custom),
        }
    }

    /// Its name, which is the key of its findings.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The question at a moment.
    pub(super) fn question(&self, now: Millis) -> Result<Question, String> {
        self.read(now).map_err(|error| error.to_string())
    }

    fn read(&self, now: Millis) -> Result<Question, NotCustom> {
        let refused = |why, hint| Err(NotCustom::Question { why, hint });
        match Asked::read(&self.text, now) {
            Ok(Asked::Question(question)) => Ok(*question),
            Ok(Asked::Next { .. }) => refused("a handle of an answer is no question".to_owned(), None),
            Err(mistake) => refused(mistake.to_string(), mistake.hint),
        }
    }

    /// How long the server has to run until an answer says something about it. After a start too little was counted.
    pub(super) fn needs(&self, question: &Question) -> Duration {
        match self.threshold {
            Threshold::Above(_) => Duration::ZERO,
            Threshold::Below(_) => {
                Duration::from_millis(question.to.0.saturating_sub(question.from.0).max(0).cast_unsigned())
            }
        }
    }

    /// The findings of an answer: one for each row whose first measure is beyond the threshold.
    pub(super) fn judge(&self, question: &Question, answer: &Answer) -> Vec<Found> {
        let rows = answer.rows.iter().filter_map(|row| Some((row, number(row.get(question.by.len())?)?)));
        let beyond = rows.filter(|(_, figure)| match self.threshold {
            Threshold::Above(limit) => *figure > limit,
            Threshold::Below(limit) => *figure < limit,
        });
        beyond.take(ROWS_MAX).map(|(row, figure)| self.found(question, row, figure)).collect()
    }

    fn found(&self, question: &Question, row: &[Figure], figure: f64) -> Found {
        let keys = question.by.iter().zip(row).map(|(key, value)| format!("{}:{}", key.0.as_str(), text(value)));
        let keys = keys.collect::<Vec<_>>().join(",");
        let measure = question.measures.first().map(ToString::to_string).unwrap_or_default();
        let (side, limit) = match self.threshold {
            Threshold::Above(limit) => ("above", limit),
            Threshold::Below(limit) => ("below", limit),
        };
        let of = if keys.is_empty() { String::new() } else { format!(" of {keys}") };
        let sentence = self.sentence.trim_end_matches('.');
        let sentence = format!("{sentence}: {measure}{of} is {}, {side} {limit}", rounded(figure));
        let id = format!("custom:{}", self.name);
        Found {
            id: if keys.is_empty() { id } else { format!("{id}@{keys}") },
            key: self.name.clone(),
            // It says what clients notice at first, and no cause.
            kind: FindingKind::Failure,
            after: Check::AFTER,
            keeps: Check::KEEPS,
            problem: Problem {
                subject: if keys.is_empty() { "server".to_owned() } else { keys },
                lost: Lost::default(),
                confidence: 1.0,
                sentence,
                evidence: evidence(question),
                ..Problem::default()
            },
        }
    }
}

/// The question as a JSON object without its times.
fn evidence(question: &Question) -> Value {
    let mut object = json!({
        "measures": question.measures.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if question.filter != Filter::All(Vec::new()) {
        object["where"] = json!(question.filter.to_string());
    }
    if !question.by.is_empty() {
        object["by"] = question.by.iter().map(|key| key.0.as_str()).collect();
    }
    object
}

fn number(figure: &Figure) -> Option<f64> {
    match figure {
        Figure::Whole(number) => Some(*number as f64),
        Figure::Fraction(number) => Some(*number),
        _ => None,
    }
}

fn text(figure: &Figure) -> String {
    match figure {
        Figure::Text(text) => text.to_string(),
        Figure::Whole(number) => number.to_string(),
        _ => String::new(),
    }
}

/// Three digits after the point at most.
fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_793_534_423_456);

    fn custom(question: &str, threshold: Threshold) -> Result<CustomFinding, NotCustom> {
        CustomFinding::new("slow-metadata", question, threshold, "Metadata is slow.", NOW)
    }

    #[test]
    fn a_question_that_counts_cannot_answer_is_refused_without_data() {
        for good in [
            "p95(duration_ms) from -5m",
            "count by repository where status >= 500 from -1h",
            "share(outcome = failed) by class, repository from -15m",
            r#"{"measures": ["rate"], "where": "class = downloads", "from": "-10m"}"#,
        ] {
            custom(good, Threshold::Above(1.0)).unwrap_or_else(|error| panic!("{good}: {error}"));
        }
        for (bad, why) in [
            ("count by package from -5m", "`package` is not counted by minute"),
            ("p95(op.git) from -5m", "cannot be read"),
            ("count from -5m per 1m", "`per` has a row for each stretch"),
            ("where status >= 500 from -5m compare rest", "it compares"),
            ("count from -10m to -5m", "it ends within a minute of the past"),
            ("max(bytes_out) from -5m", "`max(bytes_out)` is not counted by minute"),
            ("cuont from -5m", "cannot be read"),
            (r#"{"next": "0123456789abcdef"}"#, "a handle"),
        ] {
            let error = custom(bad, Threshold::Above(1.0)).unwrap_err().to_string();
            assert!(error.contains(why), "{bad}: {error}");
        }
        let hint = |question| custom(question, Threshold::Above(1.0)).unwrap_err().hint();
        assert_eq!(hint("count by pakage from -5m"), "did you mean `package`?");
        let never = custom("count where class = downlods from -5m", Threshold::Above(1.0)).unwrap_err();
        assert!(never.to_string().ends_with("`class` is never `downlods`: did you mean `downloads`?"), "{never}");
    }

    #[test]
    fn names_sentences_and_thresholds_are_checked() {
        let new = |name, threshold, sentence| CustomFinding::new(name, "count from -5m", threshold, sentence, NOW);
        let above = Threshold::Above(1.0);
        let long = "a".repeat(65);
        for name in ["", "Slow", "9lives", "a b", "a@b", &long] {
            let error = new(name, above, "It is slow").unwrap_err();
            assert_eq!((&error, &*error.hint()), (&NotCustom::Name, "such as `slow-metadata`"), "{name}");
        }
        assert_eq!(new("a", above, " ").unwrap_err(), NotCustom::Sentence);
        assert_eq!(new("a", above, "two\nlines").unwrap_err(), NotCustom::Sentence);
        assert_eq!(new("a", Threshold::Below(f64::NAN), "It is slow").unwrap_err(), NotCustom::Threshold);
    }

    #[test]
    fn each_row_beyond_the_threshold_is_a_finding_about_its_keys() {
        let custom = custom("mean(duration_ms) by repository where status = 200 from -5m", Threshold::Above(500.0));
        let custom = custom.unwrap();
        let question = custom.question(NOW).unwrap();
        assert_eq!((question.from, question.to), (Millis(NOW.0 - 300_000), NOW));
        let row = |name: &str, mean| vec![Figure::Text(name.into()), mean];
        let rows = vec![
            row("central", Figure::Fraction(812.3456)),
            row("fast", Figure::Fraction(500.0)),
            row("idle", Figure::None),
        ];
        let found = custom.judge(&question, &Answer { rows, ..Answer::empty(&question) });
        let [found] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*found.id, &*found.key), ("custom:slow-metadata@repository:central", "slow-metadata"));
        assert_eq!(found.problem.subject, "repository:central");
        let sentence = "Metadata is slow: mean(duration_ms) of repository:central is 812.346, above 500";
        assert_eq!(found.problem.sentence, sentence);
        let mut evidence = found.problem.evidence.clone();
        assert_eq!(evidence["where"], "status = 200");
        evidence["from"] = json!("-5m");
        let again = Asked::read(&evidence.to_string(), NOW).unwrap();
        let Asked::Question(again) = again else { panic!("{again:?}") };
        assert_eq!((again.filter, again.by, again.measures), (question.filter, question.by, question.measures));
    }

    #[test]
    fn a_count_below_its_threshold_waits_until_the_server_ran_as_long_as_the_question_looks_back() {
        let custom = custom("count where kind = job from -1h", Threshold::Below(1.0)).unwrap();
        let question = custom.question(NOW).unwrap();
        assert_eq!(custom.needs(&question), Duration::from_secs(3600));
        let answer = Answer { rows: vec![vec![Figure::Whole(0)]], ..Answer::empty(&question) };
        let found = custom.judge(&question, &answer);
        assert_eq!((found.len(), &*found[0].id, &*found[0].problem.subject), (1, "custom:slow-metadata", "server"));
    }
}
