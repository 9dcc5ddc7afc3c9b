//! Percent-encoding (RFC 3986 section 2.1) in paths, forms and queries. A broken escape is refused, not passed on.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;

/// The characters that are escaped in a segment of a path, including the dot.
const SEGMENT_AND_DOT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~').remove(b'@').remove(b':');
/// The characters that are escaped in a segment of a path.
const SEGMENT: &AsciiSet = &SEGMENT_AND_DOT.remove(b'.');

/// The characters that are escaped in a link: no segment of a path can hold them (RFC 3986 3.3).
const LINK: &AsciiSet = &SEGMENT
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// The decoded bytes of `text`. `None` for a broken escape, which the library would leave unchanged.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = |at: usize| text.as_bytes().get(at + 1..at + 3);
    let whole = |(at, _)| digits(at).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    text.match_indices('%').all(whole).then(|| Cow::from(percent_decode_str(text)).into_owned())
}

/// Encodes `text` as one segment of a URL's path.
pub fn segment(text: &str) -> String {
    // A segment that consists of dots would mean the folder itself or its parent.
    let dots = text.bytes().all(|byte| byte == b'.');
    utf8_percent_encode(text, if dots { SEGMENT_AND_DOT } else { SEGMENT }).to_string()
}

/// A link to the file of this name in the same folder. As few characters as possible are escaped, because Ivy ignores
/// links that differ from their texts. The part of a name before a colon would be a scheme (RFC 3986 4.2).
pub fn relative(name: &str) -> String {
    let here = if name.contains(':') { "./" } else { "" };
    format!("{here}{}", utf8_percent_encode(name, LINK))
}

/// The pairs of an `application/x-www-form-urlencoded` text: a body that `gem` sends, or a query.
#[derive(Debug, Clone, Copy)]
pub struct Form<'a>(pub &'a str);

impl Form<'_> {
    /// The first value of `key`. `None`: there is none, or it cannot be decoded.
    pub fn value(self, key: &str) -> Option<String> {
        self.0.split('&').find_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            (plain(name)? == key).then(|| plain(value))?
        })
    }
}

/// Decodes a name or a value of a form, where a plus is a space. The form parsers of libraries replace broken escapes
/// and invalid UTF-8, so they cannot report a broken value.
fn plain(text: &str) -> Option<String> {
    String::from_utf8(decode(&text.replace('+', " "))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms_are_read_as_gem_writes_them() {
        let form = Form("gem_name=a%2Db&version=1.0+x&platform=");
        assert_eq!(form.value("gem_name").as_deref(), Some("a-b"));
        assert_eq!(form.value("version").as_deref(), Some("1.0 x"));
        assert_eq!(form.value("platform").as_deref(), Some(""));
        assert_eq!(form.value("nothing"), None);
        for broken in ["%zz", "%4", "%", "%+1", "%ff"] {
            assert_eq!(Form(&format!("version={broken}")).value("version"), None, "{broken}");
        }
    }

    #[test]
    fn a_segment_has_its_slashes_escaped_and_a_broken_escape_is_refused() {
        for (text, escaped) in
            [("a.b-c_d~e@f:g", "a.b-c_d~e@f:g"), ("a/b \u{fc}%", "a%2Fb%20%C3%BC%25"), ("..", "%2E%2E")]
        {
            assert_eq!(segment(text), escaped);
        }
        assert_eq!(decode("%00%2f%2F").unwrap(), b"\0//");
        for broken in ["%", "a%4", "%zz", "%%41", "%4%31", "%+1", "%\u{fc}"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn a_link_leads_to_the_name_in_the_same_folder(name in "[^/]{1,12}") {
            let link = relative(&name);
            prop_assert!(!link.starts_with(|c| "/?#".contains(c)) && !link.split('/').next().unwrap().contains(':'));
            prop_assert_eq!(decode(link.strip_prefix("./").unwrap_or(&link)).unwrap(), name.as_bytes());
        }

        #[test]
        fn what_is_written_as_a_segment_is_read_again(text in any::<String>()) {
            prop_assert_eq!(decode(&segment(&text)).unwrap(), text.as_bytes());
        }
    }
}
