//! The page of a question about events: the form, and the answer as a table.

use crate::shell::Shell;
use askama::Template;

/// A question with its answer.
#[derive(Debug, Clone, Default)]
pub struct AnsweredQuestion {
    /// The question in its text form, with absolute times.
    pub text: String,
    /// The names of the columns.
    pub names: Vec<String>,
    /// The cells, as text. The first figure says whether the cell is a number.
    pub rows: Vec<Vec<(bool, String)>>,
    /// What must be known to read the figures.
    pub notes: Vec<String>,
    /// Events that were seen.
    pub seen: u64,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "question.html")]
pub struct QuestionPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The text in the form.
    pub asked: &'a str,
    /// The answer. `None`: nothing was asked.
    pub answered: Option<&'a AnsweredQuestion>,
    /// Why the question has no answer.
    pub mistake: Option<&'a str>,
}

impl AnsweredQuestion {
    /// The question as an argument of a shell.
    fn argument(&self) -> String {
        format!("'{}'", self.text.replace('\'', "'\\''"))
    }

    /// The name of the column at this place.
    fn name(&self, at: &usize) -> &str {
        self.names.get(*at).map_or("", |name| name)
    }

    /// Whether the column at this place has ids of events.
    fn is_id(&self, at: &usize) -> bool {
        self.names.get(*at).is_some_and(|name| name == "id")
    }

    /// Whether the column at this place has numbers.
    fn is_number(&self, at: &usize) -> bool {
        self.rows.first().and_then(|row| row.get(*at)).is_some_and(|(number, _)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Links, html};

    #[test]
    fn the_page_shows_the_answer_and_escapes_it() {
        let odd = || "<b>\"&'".to_owned();
        let answered = AnsweredQuestion {
            text: "<b>\"&' it".to_owned(),
            names: vec![odd(), "id".to_owned(), "count".to_owned()],
            rows: vec![vec![(false, odd()), (false, "0123456789abcdef".to_owned()), (true, "7".to_owned())]],
            notes: vec![odd()],
            seen: 9,
        };
        let shell = Shell::new("Ask", Links::new("http://here.test"));
        let page = QuestionPage { shell: &shell, asked: &odd(), answered: Some(&answered), mistake: Some(&odd()) };
        let page = html(&page).unwrap();
        assert!(!page.contains("<b>") && page.matches("&#60;b&#62;").count() >= 6, "{page}");
        assert!(page.contains("href=\"/events/0123456789abcdef\"") && page.contains(">7</td>"), "{page}");
    }
}
