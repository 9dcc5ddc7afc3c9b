//! The parts that every page has around its content.

use crate::assets;
use crate::links::Links;
use askama::Template;

/// The page could not be rendered. A template fails only if formatting one of its values fails.
pub type NotRendered = askama::Error;

/// The parts that every page has around its content: the title, the navigation, the search field, the caller.
#[derive(Debug, Clone)]
pub struct Shell {
    /// The title, shown in the browser's tab. The heading is a part of the content.
    pub title: String,
    /// The links of this server.
    pub links: Links,
    /// The name of the caller's token. `None`: they have not signed in.
    pub token: Option<String>,
    /// The secret of the forms of the caller's session. `None`: they have no session that could be ended.
    pub session: Option<String>,
    /// The text in the search field.
    pub query: String,
    /// Whether there is a search field: a server without repositories has nothing to search.
    pub searches: bool,
}

impl Shell {
    /// A page with this title, for a caller without a token.
    pub fn new(title: impl Into<String>, links: Links) -> Self {
        Self { title: title.into(), links, token: None, session: None, query: String::new(), searches: true }
    }

    /// The URL of the stylesheet.
    pub fn style(&self) -> String {
        self.links.asset(assets::STYLE.name)
    }

    /// The URL of the scripts, if the program has them.
    pub fn script(&self) -> Option<String> {
        assets::SCRIPT.map(|script| self.links.asset(script.name))
    }
}

/// Renders a page.
pub fn html(page: &impl Template) -> Result<String, NotRendered> {
    page.render()
}
