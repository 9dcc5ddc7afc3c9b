//! A short document for people, written as text and as HTML.

use std::fmt::Write as _;

/// A document for people.
#[derive(Debug, Default)]
pub(super) struct Document {
    title: String,
    blocks: Vec<Block>,
}

#[derive(Debug)]
enum Block {
    Heading(String),
    Paragraph(String),
    /// Lines to copy.
    Lines(String),
    /// A list of links, each with a line about it.
    Links(Vec<Link>),
}

/// A link with a line about it.
#[derive(Debug)]
pub(super) struct Link {
    /// A URL of this server.
    pub(super) url: String,
    /// The content.
    pub(super) about: String,
}

impl Document {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    pub(super) fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    pub(super) fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Paragraph(text.into()));
    }

    /// Lines to copy.
    pub(super) fn lines(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Lines(text.into()));
    }

    pub(super) fn links(&mut self, links: Vec<Link>) {
        self.blocks.push(Block::Links(links));
    }

    /// The document as text.
    pub(super) fn text(&self) -> String {
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

    /// The document as HTML, without scripts, styles and anything from elsewhere. Every text is escaped.
    pub(super) fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<h1>{title}</h1>\n"
        );
        for block in &self.blocks {
            let _ = match block {
                Block::Heading(heading) => writeln!(html, "<h2>{}</h2>", escaped(heading)),
                Block::Paragraph(paragraph) => writeln!(html, "<p>{}</p>", escaped(paragraph)),
                Block::Lines(lines) => writeln!(html, "<pre>{}</pre>", escaped(lines)),
                Block::Links(links) => {
                    html.push_str("<ul>\n");
                    for Link { url, about } in links {
                        let url = escaped(url);
                        let _ = writeln!(html, "<li><a href=\"{url}\">{url}</a> {}</li>", escaped(about));
                    }
                    writeln!(html, "</ul>")
                }
            };
        }
        html.push_str("</html>\n");
        html
    }
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        let odd = "<script>alert('a')</script>&\"";
        let mut document = Document::new(odd);
        document.heading(odd);
        document.paragraph(odd);
        document.lines(odd);
        document.links(vec![Link { url: odd.into(), about: odd.into() }]);
        let html = document.html();
        assert!(!html.contains("<script") && !html.contains("alert('"), "{html}");
        assert_eq!(html.matches("&lt;script&gt;alert(&#39;a&#39;)&lt;/script&gt;&amp;&quot;").count(), 8, "{html}");
        assert_eq!(document.text().matches(odd).count(), 6);
    }
}
