//! Findings on the first page: the fault, since when, its cost, and the change that would help.

use crate::moment::Moment;
use serde_json::Value;

/// A finding, for callers who may observe the server.
#[derive(Debug, Clone, Default)]
pub struct HomeFinding {
    /// Its id.
    pub id: String,
    /// `cause`, `failure` or `impact`.
    pub kind: String,
    /// The sentence about it.
    pub sentence: String,
    /// Since when it is seen.
    pub since: String,
    /// Seconds that clients lose in an hour.
    pub lost_s_per_hour: f64,
    /// What to change.
    pub changes: Vec<HomeChange>,
    /// The id of the event that shows it best.
    pub event: Option<String>,
    /// The question whose answer shows it, as the page of questions takes it.
    pub question: Option<String>,
    /// The ids of symptoms that it explains.
    pub folds: Vec<String>,
    /// What an advised change promised, and what came, as a sentence.
    pub promise: Option<String>,
}

/// A change that would help.
#[derive(Debug, Clone, Default)]
pub struct HomeChange {
    /// The lines to copy: of the configuration file, or a command.
    pub lines: String,
    /// What to know about them.
    pub note: String,
}

/// How much the checks can say.
#[derive(Debug, Clone, Default)]
pub struct HomeChecks {
    /// All checks.
    pub checks: usize,
    /// The checks among them that have enough data.
    pub able: usize,
    /// When the last of the others will have enough, if time is all that they need.
    pub until: Option<String>,
}

impl HomeChange {
    /// A change of a setting, as the configuration file has it.
    pub fn of_setting(key: &str, from: &Value, to: &Value, live: bool) -> Self {
        let (section, name) = key.split_once('.').unwrap_or(("", key));
        let force = if live { "in force at once" } else { "in force after a restart" };
        let variable = format!("DAYLIGHT_{}", key.replace('.', "_").to_uppercase());
        let now = if from.is_null() { String::new() } else { format!("It is {} now. ", plain(from)) };
        Self {
            lines: format!("{name} = {to}"),
            note: format!(
                "{now}Below `[{section}]` in the configuration file, or `{variable}={}`; {force}.",
                plain(to)
            ),
        }
    }

    /// A command.
    pub fn command(command: &str) -> Self {
        Self { lines: command.to_owned(), note: String::new() }
    }
}

impl HomeFinding {
    /// What it costs, in words. Empty: no time that clients notice.
    pub fn cost(&self) -> String {
        match self.lost_s_per_hour {
            lost if lost < 1.0 => String::new(),
            lost => format!("It costs clients {} per hour.", duration(lost)),
        }
    }

    /// The sentence with a capital letter at its beginning.
    pub(crate) fn headline(&self) -> String {
        let mut rest = self.sentence.chars();
        rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
    }

    /// The beginning, to the minute.
    pub(crate) fn short(&self) -> String {
        Moment(self.since.clone()).short()
    }

    pub(crate) fn is_cause(&self) -> bool {
        self.kind == "cause"
    }
}

impl HomeChecks {
    /// That nothing was found, and by how many checks.
    pub fn nothing(&self) -> String {
        let Self { checks, able, until } = self;
        match (checks == able, until) {
            (true, _) => format!("Nothing found by {able} checks."),
            (false, Some(until)) => {
                let until = Moment(until.clone()).short();
                format!("Nothing found by {able} of {checks} checks; the others need until {until}.")
            }
            (false, None) => format!("Nothing found by {able} of {checks} checks; the others need more requests."),
        }
    }
}

/// Seconds in words, with two digits.
fn duration(seconds: f64) -> String {
    let (number, unit) = match seconds {
        ..120.0 => (seconds, "seconds"),
        ..7200.0 => (seconds / 60.0, "minutes"),
        _ => (seconds / 3600.0, "hours"),
    };
    if number < 10.0 { format!("{number:.1} {unit}") } else { format!("{number:.0} {unit}") }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_is_shown_as_lines_of_the_configuration_file_with_the_value_now() {
        let change = HomeChange::of_setting("upstream.max_calls", &json!(2), &json!(31), false);
        assert_eq!(change.lines, "max_calls = 31");
        let note = "It is 2 now. Below `[upstream]` in the configuration file, or `DAYLIGHT_UPSTREAM_MAX_CALLS=31`; in force after a restart.";
        assert_eq!(change.note, note);
        assert_eq!(HomeChange::of_setting("a.b", &Value::Null, &json!("x"), true).lines, "b = \"x\"");
    }

    #[test]
    fn a_cost_is_told_in_the_unit_that_people_count_in() {
        let cost = |lost_s_per_hour| HomeFinding { lost_s_per_hour, ..HomeFinding::default() }.cost();
        let costs = [0.2, 7.25, 119.0, 600.0, 72_000.0].map(cost);
        let words = ["", "7.2 seconds", "119 seconds", "10 minutes", "20 hours"];
        for (cost, words) in costs.iter().zip(words) {
            assert!(words.is_empty() && cost.is_empty() || cost.contains(words), "{cost}");
        }
    }

    #[test]
    fn a_quiet_server_tells_which_part_of_the_checks_can_say_so() {
        let checks = |able, until: Option<&str>| HomeChecks { checks: 40, able, until: until.map(str::to_owned) };
        assert_eq!(checks(40, None).nothing(), "Nothing found by 40 checks.");
        let until = "Nothing found by 31 of 40 checks; the others need until 2026-11-02 12:00 UTC.";
        assert_eq!(checks(31, Some("2026-11-02T12:00:00.000Z")).nothing(), until);
        assert_eq!(checks(31, None).nothing(), "Nothing found by 31 of 40 checks; the others need more requests.");
    }
}
