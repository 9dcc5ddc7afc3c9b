//! The list of a folder, for programs: links with dates and sizes, one in each line.
//!
//! Ivy takes a link whose text is its target. Renovate reads whole lines of Maven Central's form. Dependabot reads the
//! titles of links, and the date in the text that follows each.

use crate::moment::Moment;
use crate::shell::NotRendered;
use askama::Template;
use format::percent;

/// The column of the dates, as far as names leave it.
const DATES: usize = 50;

#[derive(Debug, Template)]
#[template(
    source = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Index of {{ title }}</title></head>\n<body>\n\
              <h1>Index of {{ title }}</h1>\n<pre id=\"contents\">\n<a href=\"../\">../</a>",
    ext = "html"
)]
struct Head<'a> {
    title: &'a str,
}

#[derive(Debug, Template)]
#[template(
    source = r#"<a href="{{ href }}" title="{{ name }}">{{ name }}</a>{{ gap }} {{ date }} {{ size }}"#,
    ext = "html"
)]
struct Row<'a> {
    href: &'a str,
    name: &'a str,
    gap: &'a str,
    date: String,
    size: String,
}

/// The end of the page.
pub const END: &str = "</pre>\n</body>\n</html>\n";

/// The beginning of the page of a folder, whose name is the title.
pub fn begin(title: &str) -> Result<String, NotRendered> {
    Ok(Head { title }.render()? + "\n")
}

/// A line. The name of a folder ends with a slash.
pub fn row(name: &str, at: Option<Moment>, size_bytes: Option<u64>) -> Result<String, NotRendered> {
    let href = match name.strip_suffix('/') {
        Some(folder) => percent::relative(folder) + "/",
        None => percent::relative(name),
    };
    let gap = " ".repeat(DATES.saturating_sub(name.chars().count()));
    let date = at.map_or_else(|| "-".to_owned(), |at| at.short().trim_end_matches(" UTC").to_owned());
    let size = size_bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
    let (date, size) = (format!("{date:>16}"), format!("{size:>12}"));
    Ok(Row { href: &href, name, gap: &gap, date, size }.render()? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str) -> String {
        row(name, Some(Moment("2026-01-02T03:04:05.678Z".into())), Some(7)).unwrap()
    }

    #[test]
    fn a_line_has_the_form_of_central_s_lists() {
        let gap = " ".repeat(DATES - "1.0/".len());
        let at = Some(Moment("2026-01-02T03:04:05Z".into()));
        assert_eq!(
            row("1.0/", at, None).unwrap(),
            format!("<a href=\"1.0/\" title=\"1.0/\">1.0/</a>{gap} 2026-01-02 03:04            -\n")
        );
        assert!(row("1.0/", None, None).unwrap().ends_with("               -            -\n"));
    }

    #[test]
    fn no_name_becomes_markup_or_leads_elsewhere() {
        let quoted = line("a\"><script>alert(1)</script>");
        assert!(!quoted.contains("<script") && !quoted.contains("\">a\""), "{quoted}");
        assert!(line("javascript:alert(1)").starts_with("<a href=\"./javascript:alert(1)\""));
        assert!(line("core:/").starts_with("<a href=\"./core:/\" title=\"core:/\">core:/<"));
        assert!(line("a b?c#d%e").starts_with("<a href=\"a%20b%3Fc%23d%25e\""));
        assert!(line("1.0+b~x@y,z=1;v/").starts_with("<a href=\"1.0+b~x@y,z=1;v/\" title=\"1.0+b~x@y,z=1;v/\">1.0+b"));
        assert!(!begin("</title><script>").unwrap().contains("<script>"));
    }
}
