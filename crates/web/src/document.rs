//! A short document for people, written as text and as HTML.

use crate::shell::Shell;
use askama::Template;
use std::fmt::Write as _;

/// A document for people.
#[derive(Debug, Default)]
pub struct Document {
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Debug)]
pub(crate) enum Block {
    Heading(String),
    Paragraph(String),
    /// Lines to copy.
    Lines(String),
    /// A list of links, each with a line about it.
    Links(Vec<Link>),
}

/// A link with a line about it.
#[derive(Debug)]
pub struct Link {
    /// A URL of this server.
    pub url: String,
    /// The content.
    pub about: String,
}

impl Document {
    /// A document with this title and nothing else.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Paragraph(text.into()));
    }

    /// Adds lines to copy.
    pub fn lines(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Lines(text.into()));
    }

    /// Adds links.
    pub fn links(&mut self, links: Vec<Link>) {
        self.blocks.push(Block::Links(links));
    }

    /// The document as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        for block in &self.blocks {
            text.push('\n');
            match block {
                Block::Heading(heading) => text.push_str(&format!("{heading}:\n")),
                Block::Paragraph(paragraph) => text.push_str(&format!("{paragraph}\n")),
                Block::Lines(lines) => lines.lines().for_each(|line| text.push_str(&format!("    {line}\n"))),
                Block::Links(links) => {
                    let width = links.iter().map(|link| link.url.chars().count()).max().unwrap_or_default();
                    for Link { url, about } in links {
                        let _ = writeln!(text, "    {url:width$}   {about}");
                    }
                }
            }
        }
        text
    }
}

/// A document as a page.
#[derive(Debug, Template)]
#[template(path = "document.html")]
pub struct DocumentPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The document.
    pub document: &'a Document,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Links, html};

    #[test]
    fn no_text_becomes_markup() {
        let odd = "<script>alert('a')</script>&\"";
        let mut document = Document::new(odd);
        document.heading(odd);
        document.paragraph(odd);
        document.lines(odd);
        document.links(vec![Link { url: odd.into(), about: odd.into() }]);
        let shell =
            Shell { token: Some(odd.into()), query: odd.into(), ..Shell::new(odd, Links::new("http://here.test")) };
        let html = html(&DocumentPage { shell: &shell, document: &document }).unwrap();
        assert!(!html.contains("<script>") && !html.contains("alert('"), "{html}");
        assert_eq!(html.matches("alert(&#39;a&#39;)").count(), 10, "{html}");
        assert_eq!(document.text().matches(odd).count(), 6);
    }
}
