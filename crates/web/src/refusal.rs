//! The page with an error, for a browser in which a person opened a URL.

use crate::shell::Shell;
use askama::Template;

/// An error, in the words that other clients get.
#[derive(Debug)]
pub struct Refusal {
    /// The status.
    pub status: u16,
    /// What the person reads first.
    pub heading: &'static str,
    /// The message, which may have several lines.
    pub message: String,
    /// What to do next, in the same form.
    pub hint: Option<String>,
    /// The URL of the page that explains the answer.
    pub why: Option<String>,
    /// The id of the request's event.
    pub event: String,
}

/// An error as a page.
#[derive(Debug, Template)]
#[template(path = "refusal.html")]
pub struct RefusalPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The error.
    pub refusal: &'a Refusal,
}
