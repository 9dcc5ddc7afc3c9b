//! The page of one event: what was asked, what it got, and where the time went.

use crate::shell::Shell;
use askama::Template;

/// An event, as its page shows it.
#[derive(Debug, Clone, Default)]
pub struct EventView {
    /// Its id.
    pub id: String,
    /// Method and path, or the name of the job.
    pub heading: String,
    /// Status and outcome.
    pub answer: String,
    /// Names and values, in order.
    pub facts: Vec<(&'static str, String)>,
    /// Duration in milliseconds.
    pub duration_ms: f64,
    /// The operations on its line, the longest first.
    pub line: Vec<OpBar>,
    /// The operations inside of others or beside the line, the longest first.
    pub inside: Vec<OpBar>,
    /// The members of the group, in the order in which they were asked.
    pub members: Vec<MemberBar>,
    /// The repository and the path below it, which can be explained.
    pub explained: Option<(String, String)>,
    /// The whole event as JSON.
    pub json: String,
}

/// The runs of an operation.
#[derive(Debug, Clone, Default)]
pub struct OpBar {
    /// Its name.
    pub name: String,
    /// Its description.
    pub about: String,
    /// How often it ran.
    pub count: u64,
    /// Its time in milliseconds.
    pub ms: f64,
    /// Its part of the duration, 0 to 100.
    pub percent: u32,
}

/// A member of a group.
#[derive(Debug, Clone, Default)]
pub struct MemberBar {
    /// Its name.
    pub name: String,
    /// Its answer in words.
    pub said: String,
    /// The time that it took, in milliseconds.
    pub ms: f64,
    /// Its part of the duration of the event, 0 to 100.
    pub percent: u32,
    /// The operation that took most of it.
    pub longest: String,
    /// Details, and the host of its upstream.
    pub detail: String,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "event.html")]
pub struct EventPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The event.
    pub event: &'a EventView,
}

impl OpBar {
    fn time(&self) -> String {
        milliseconds(self.ms)
    }
}

impl MemberBar {
    fn time(&self) -> String {
        milliseconds(self.ms)
    }
}

impl EventView {
    fn duration(&self) -> String {
        milliseconds(self.duration_ms)
    }
}

/// Milliseconds with three digits.
fn milliseconds(ms: f64) -> String {
    match ms {
        ..1.0 => format!("{:.0} µs", ms * 1000.0),
        ..10.0 => format!("{ms:.2} ms"),
        ..1000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Links, html};

    #[test]
    fn the_page_shows_each_part_and_escapes_it() {
        let odd = || "<b>\"&'".to_owned();
        let bar = OpBar { name: odd(), about: odd(), count: 2, ms: 1.5, percent: 40 };
        let event = EventView {
            id: odd(),
            heading: odd(),
            answer: odd(),
            facts: vec![("Client", odd())],
            duration_ms: 1500.0,
            line: vec![bar.clone()],
            inside: vec![bar],
            members: vec![MemberBar { name: odd(), said: odd(), longest: odd(), detail: odd(), ..Default::default() }],
            explained: Some((odd(), odd())),
            json: odd(),
        };
        let shell = Shell::new("Event", Links::new("http://here.test"));
        let page = html(&EventPage { shell: &shell, event: &event }).unwrap();
        assert!(!page.contains("<b>") && page.matches("&#60;b&#62;").count() >= 10, "{page}");
        for text in ["1.50 s", "1.50 ms", "width=\"40\""] {
            assert!(page.contains(text), "{text}: {page}");
        }
    }
}
