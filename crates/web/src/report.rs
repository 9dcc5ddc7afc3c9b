//! A report about a stretch of time: one file that needs no other, without scripts, to read, to print and to hand on.

use crate::bars::Bars;
use askama::Template;

/// The stylesheet of a report, which is a part of the file. [`ReportPage::style_hash`] is that of this text.
pub const REPORT_STYLE: &str = include_str!("../assets/report.css");

/// The value of a report.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The server that it is about, as the person called it.
    pub server: String,
    /// The time in words.
    pub time: String,
    /// When it was made, by which version of the program, and with which rights.
    pub made: String,
    /// The most important figures.
    pub figures: Vec<ReportFigure>,
    /// The report in a few sentences.
    pub summary: Vec<String>,
    /// Its parts.
    pub sections: Vec<ReportSection>,
}

/// A figure with its name.
#[derive(Debug, Clone, Default)]
pub struct ReportFigure {
    /// Its name.
    pub name: String,
    /// The figure with its unit.
    pub value: String,
    /// What to know about it. Empty: nothing.
    pub note: String,
}

/// A part of a report.
#[derive(Debug, Clone, Default)]
pub struct ReportSection {
    /// Its heading.
    pub title: String,
    /// Its content.
    pub blocks: Vec<ReportBlock>,
}

/// A piece of content.
#[derive(Debug, Clone)]
pub enum ReportBlock {
    /// A heading below that of the section.
    Heading(String),
    /// A paragraph, with words in backticks.
    Text(String),
    /// Something that the report lacks, and why.
    Missing(String),
    /// Charts beside each other, with the first and the last day of their stretches.
    Charts(Vec<Bars>, String, String),
    /// A table.
    Table(ReportTable),
    /// A finding.
    Finding(Box<ReportFinding>),
}

/// A table.
#[derive(Debug, Clone, Default)]
pub struct ReportTable {
    /// What its rows are.
    pub caption: String,
    /// The names of its columns. Those of numbers begin with a `#`, which is not shown.
    pub names: Vec<&'static str>,
    /// Its cells.
    pub rows: Vec<Vec<String>>,
}

/// A finding of the time.
#[derive(Debug, Clone, Default)]
pub struct ReportFinding {
    /// Its id.
    pub id: String,
    /// `cause`, `failure` or `impact`.
    pub kind: String,
    /// The sentence about it.
    pub sentence: String,
    /// When it was open.
    pub when: String,
    /// What it cost.
    pub cost: String,
    /// The changes that would help, or have helped, as lines.
    pub changes: Vec<String>,
    /// What was promised of a change, and what came of it. Empty: nothing was changed.
    pub promise: String,
    /// Whether it is over.
    pub is_over: bool,
    /// Other things to know: a mute, the symptoms that it explains.
    pub notes: Vec<String>,
}

/// The file.
#[derive(Debug, Template)]
#[template(path = "report.html")]
pub struct ReportPage<'a> {
    /// The value.
    pub report: &'a Report,
    /// SHA-256 of [`REPORT_STYLE`], in Base64: the only style that a browser obeys.
    pub style_hash: &'a str,
}

impl ReportPage<'_> {
    /// The stylesheet.
    fn style(&self) -> &'static str {
        REPORT_STYLE
    }
}

impl ReportTable {
    /// Whether a column has numbers.
    fn is_number(&self, at: &usize) -> bool {
        self.names.get(*at).is_some_and(|name| name.starts_with('#'))
    }

    fn name(&self, at: &usize) -> &'static str {
        self.names.get(*at).map_or("", |name| name.trim_start_matches('#'))
    }
}

impl ReportFinding {
    fn headline(&self) -> String {
        let mut rest = self.sentence.chars();
        rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html;

    const ODD: &str = "</style><script>alert(1)</script><b>\"&'`x`";

    fn report() -> Report {
        let odd = || ODD.to_owned();
        let finding = ReportFinding {
            id: odd(),
            kind: "cause".into(),
            sentence: odd(),
            when: odd(),
            cost: odd(),
            changes: vec![odd()],
            promise: odd(),
            is_over: true,
            notes: vec![odd()],
        };
        let bars = Bars { name: odd(), total: odd(), values: vec![(Some(1.0), None)], most: odd(), about: odd() };
        let table = ReportTable { caption: odd(), names: vec!["a", "#b"], rows: vec![vec![odd(), odd()]] };
        let blocks = vec![
            ReportBlock::Heading(odd()),
            ReportBlock::Text(odd()),
            ReportBlock::Missing(odd()),
            ReportBlock::Charts(vec![bars], odd(), odd()),
            ReportBlock::Table(table),
            ReportBlock::Finding(Box::new(finding)),
        ];
        Report {
            server: odd(),
            time: odd(),
            made: odd(),
            figures: vec![ReportFigure { name: odd(), value: odd(), note: odd() }],
            summary: vec![odd()],
            sections: vec![ReportSection { title: odd(), blocks }],
        }
    }

    #[test]
    fn no_text_becomes_markup_and_the_file_asks_no_other() {
        let page = html(&ReportPage { report: &report(), style_hash: "abc=" }).unwrap();
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
        assert!(page.matches("&#60;b&#62;").count() >= 22, "{}: {page}", page.matches("&#60;b&#62;").count());
        assert!(page.contains("default-src 'none'; style-src 'sha256-abc='; img-src data:"), "{page}");
        for outside in ["http://", "https://", "src=", "@import", "url(", "style=\""] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert_eq!(page.matches("<style>").count(), 1);
    }
}
