//! Hints about values of filters that no event can have. Such a question has an answer, so it is no mistake.

use super::names::{clipped, nearest};
use super::question::{Filter, Is, Measure, Question, Value};
use crate::column::Column;
use telemetry::{Because, Class, Kind, Layer, Outcome, Reason};

/// The most hints of an answer.
const HINTS_MAX: usize = 4;
/// Columns with more values are not listed in a hint.
const LISTED: usize = 12;

impl Question {
    /// Probable mistakes: comparisons with values that no event can have, each with the nearest value. `repositories`: the names of all
    /// repositories. `formats`: those of all formats.
    pub fn hints<'a>(&self, repositories: impl Fn() -> Vec<&'a str>, formats: &[&'a str]) -> Vec<String> {
        let known = |column| match column {
            Column::Format => Some(formats.to_vec()),
            _ if names_repositories(column) => Some(repositories()),
            _ => values(column),
        };
        let mut hints = Vec::new();
        hints_of(&self.filter, &known, &mut hints);
        for measure in &self.measures {
            if let Measure::Share(filter) = measure {
                hints_of(filter, &known, &mut hints);
            }
        }
        hints.truncate(HINTS_MAX);
        hints
    }

    /// The first comparison of the filter with a value that no event can have, of columns whose values the program knows.
    pub(crate) fn never(&self) -> Option<String> {
        let mut hints = Vec::new();
        hints_of(&self.filter, &values, &mut hints);
        hints.into_iter().next()
    }
}

/// Adds the hints of a filter. `known`: the values of a column that has no others.
fn hints_of<'a>(filter: &Filter, known: &impl Fn(Column) -> Option<Vec<&'a str>>, hints: &mut Vec<String>) {
    match filter {
        Filter::All(filters) | Filter::Any(filters) => {
            filters.iter().for_each(|filter| hints_of(filter, known, hints));
        }
        Filter::Not(filter) => hints_of(filter, known, hints),
        Filter::Test { column, is: Is::Equal | Is::NotEqual, value } if hints.len() < HINTS_MAX => {
            let hint = match value {
                Value::Text(text) => hint(*column, text, known),
                Value::Number(status) => {
                    let is_never = *column == Column::Status && *status != 0 && !(100..600).contains(status);
                    is_never.then(|| format!("`status` is never {status}: it is 0 or has three digits"))
                }
            };
            hints.extend(hint.filter(|hint| !hints.contains(hint)));
        }
        Filter::Test { .. } => {}
    }
}

fn names_repositories(column: Column) -> bool {
    matches!(column, Column::Repository | Column::AnsweredBy | Column::SlowestMember)
}

fn hint<'a>(column: Column, text: &str, known: &impl Fn(Column) -> Option<Vec<&'a str>>) -> Option<String> {
    let (is_repository, known) = (names_repositories(column), known(column)?);
    // A row of counts for more repositories than there is room for has another name.
    if text.is_empty() || known.contains(&text) || (is_repository && text.starts_with('(')) {
        return None;
    }
    let text_shown = clipped(text);
    let said = match is_repository {
        true => format!("there is no repository `{text_shown}`"),
        false => format!("`{}` is never `{text_shown}`", column.as_str()),
    };
    Some(match nearest(text, &known) {
        Some(nearest) => format!("{said}: did you mean `{nearest}`?"),
        None if !is_repository && known.len() <= LISTED => format!("{said}: there are `{}`", known.join("`, `")),
        None => said,
    })
}

/// The values of a column whose values are those of a closed list.
fn values(column: Column) -> Option<Vec<&'static str>> {
    Some(match column {
        Column::Kind => [Kind::Request, Kind::Job].map(Kind::as_str).to_vec(),
        Column::Class => Class::ALL.iter().map(|class| class.as_str()).collect(),
        Column::Layer => Layer::ALL.iter().map(|layer| layer.as_str()).collect(),
        Column::RepositoryKind => vec!["hosted", "remote", "group"],
        Column::Outcome => Outcome::ALL.iter().map(|outcome| outcome.as_str()).collect(),
        Column::Reason => Reason::ALL.iter().map(|reason| reason.as_str()).collect(),
        Column::KeptBecause => Because::ALL.iter().map(|because| because.as_str()).collect(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::Millis;

    fn hints(question: &str) -> Vec<String> {
        let question = Question::from_text(question, Millis(1_793_534_400_000)).unwrap();
        question.hints(|| vec!["maven", "maven-central", "gems"], &["gem", "maven", "raw"])
    }

    #[test]
    fn a_value_that_no_event_can_have_is_told_with_the_nearest_one() {
        for (question, hint) in [
            (
                "where repository = maven-centrall",
                "there is no repository `maven-centrall`: did you mean `maven-central`?",
            ),
            ("where not (layer = page or repository = Gems)", "there is no repository `Gems`: did you mean `gems`?"),
            ("where repository = something-else", "there is no repository `something-else`"),
            ("share(outcome = anwsered)", "`outcome` is never `anwsered`: did you mean `answered`?"),
            ("where layer != hostd", "`layer` is never `hostd`: did you mean `hosted`?"),
            ("where kind = web-site", "`kind` is never `web-site`: there are `request`, `job`"),
            ("where class = download", "`class` is never `download`: did you mean `downloads`?"),
            ("where status = 20", "`status` is never 20: it is 0 or has three digits"),
        ] {
            assert_eq!(hints(question), [hint], "{question}");
        }
    }

    #[test]
    fn a_value_that_events_may_have_needs_no_hint() {
        for question in [
            "count",
            "where repository = gems and layer = group and outcome = shed and status = 404 and class = ask and reason = io",
            "where repository = '' and class = '' and status = 0 and package = nothing",
            "where repository starts_with mav and status > 20 and layer contains x",
        ] {
            assert_eq!(hints(question), [""; 0], "{question}");
        }
        let many: Vec<String> = (0..100).map(|number| format!("layer = x{number}")).collect();
        assert_eq!(hints(&format!("where {}", many.join(" or "))).len(), HINTS_MAX);
    }
}
