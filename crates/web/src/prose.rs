//! Text with words in backticks, as the messages of the server have them, in HTML.

use askama::filters::{Html, escape};

/// The text as HTML, with `<code>` in place of each pair of backticks. A backtick without a partner stays.
pub(crate) fn html(text: &str) -> String {
    let mut parts: Vec<&str> = text.split('`').collect();
    let last = if parts.len().is_multiple_of(2) { parts.pop() } else { None };
    let mut html = String::with_capacity(text.len() + 16);
    for (at, part) in parts.iter().enumerate() {
        let part = escaped(part);
        html.push_str(&if at % 2 == 1 { format!("<code>{part}</code>") } else { part });
    }
    if let Some(last) = last {
        html.push('`');
        html.push_str(&escaped(last));
    }
    html
}

/// The text without its backticks, for titles.
pub(crate) fn plain(text: &str) -> String {
    text.replace('`', "")
}

fn escaped(text: &str) -> String {
    escape(text, Html).map(|text| text.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_become_code_and_no_text_becomes_markup() {
        assert_eq!(html("a `b` c"), "a <code>b</code> c");
        assert_eq!(html("`<i>`&"), "<code>&#60;i&#62;</code>&#38;");
        assert_eq!((html("a ` b"), html("`a` ` <")), ("a ` b".into(), "<code>a</code> ` &#60;".into()));
        assert_eq!((html(""), html("``")), (String::new(), "<code></code>".into()));
        assert_eq!(plain("the scope `write`"), "the scope write");
    }
}
