//! Globs of paths: `*` is any part of one segment, `**` any number of segments.

use super::path::decoded;
use std::borrow::Cow;

/// A glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob(Vec<Segment>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    /// `**`: any number of segments, none too.
    Any,
    /// One segment: the texts between the `*`.
    One(Vec<Vec<u8>>),
}

impl Glob {
    /// Reads a glob. The error says why it is none.
    pub(super) fn new(text: &str) -> Result<Self, &'static str> {
        let path = text.strip_prefix('/').ok_or("it does not begin with `/`")?;
        if text.contains(['?', '[', ']', '{', '}', '#', ';', '\\']) {
            return Err("only `*` and `**` have a meaning, and a path has no `?`, `#`, `;`, `\\` and no brackets");
        }
        if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
            return Err("it has a space or a control character");
        }
        path.split('/').filter(|segment| !segment.is_empty()).map(Segment::new).collect::<Result<_, _>>().map(Self)
    }

    /// Whether it matches a path.
    pub(super) fn matches(&self, path: &[Cow<'_, [u8]>]) -> bool {
        // Where the last `**` was, and how far it reaches so far.
        let (mut at, mut glob, mut any) = (0, 0, None);
        loop {
            match self.0.get(glob) {
                Some(Segment::Any) => {
                    any = Some((glob, at));
                    glob += 1;
                }
                Some(Segment::One(parts)) if path.get(at).is_some_and(|segment| is_like(parts, segment)) => {
                    (at, glob) = (at + 1, glob + 1);
                }
                None if at == path.len() => return true,
                _ => match any {
                    Some((from, to)) if to < path.len() => {
                        (at, glob, any) = (to + 1, from + 1, Some((from, to + 1)));
                    }
                    _ => return false,
                },
            }
        }
    }
}

impl Segment {
    fn new(text: &str) -> Result<Self, &'static str> {
        match text {
            "**" => Ok(Self::Any),
            "." | ".." => Err("a path has no segment `.` or `..`"),
            _ if text.contains("**") => Err("`**` is a segment of its own, as in `/reports/**`"),
            _ => {
                let parts: Vec<Vec<u8>> = text.split('*').map(|part| decoded(part.as_bytes()).into_owned()).collect();
                let bad = parts.iter().any(|part| part.contains(&b'/'))
                    || matches!(&parts[..], [one] if one == b"." || one == b"..");
                if bad { Err("an encoded slash or dot is not part of a segment") } else { Ok(Self::One(parts)) }
            }
        }
    }
}

/// Whether a segment begins with the first part, ends with the last one, and has the others in between, in order.
fn is_like(parts: &[Vec<u8>], segment: &[u8]) -> bool {
    let Some((first, others)) = parts.split_first() else { return false };
    let Some((last, between)) = others.split_last() else { return segment == first };
    let Some(mut rest) = segment.strip_prefix(first.as_slice()) else { return false };
    for part in between.iter().filter(|part| !part.is_empty()) {
        let Some(at) = rest.windows(part.len()).position(|window| window == part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::super::path::segments;
    use super::*;
    use proptest::prelude::*;

    fn is_matched(glob: &str, path: &str) -> bool {
        Glob::new(glob).unwrap().matches(&segments(path))
    }

    #[test]
    fn a_star_is_a_part_of_a_segment_and_two_are_segments() {
        for (glob, path) in [
            ("/", "/"),
            ("/**", "/"),
            ("/**", "/a/b"),
            ("/reports", "/reports/"),
            ("/reports/", "/reports"),
            ("/reports/*", "/reports/1"),
            ("/reports/**", "/reports"),
            ("/reports/**", "/reports/1/2"),
            ("/**/export.*", "/a/b/export.csv"),
            ("/**/export.*", "/export."),
            ("/a/**/b/**/c", "/a/b/x/b/c/c"),
            ("/*a*b*", "/xaxbx"),
            ("/*ab", "/aab"),
            ("/caf%C3%A9", "/café"),
            ("/café", "/caf%c3%a9"),
        ] {
            assert!(is_matched(glob, path), "{glob} {path}");
        }
        for (glob, path) in [
            ("/", "/a"),
            ("/reports", "/reports/1"),
            ("/reports", "/Reports"),
            ("/reports/*", "/reports"),
            ("/reports/*", "/reports/1/2"),
            ("/reports*", "/reports/1"),
            ("/*", "/"),
            ("/a/**/b", "/a"),
            ("/a/**/b", "/a/b/c"),
            ("/ab*ba", "/aba"),
            ("/*a*b*", "/ba"),
        ] {
            assert!(!is_matched(glob, path), "{glob} {path}");
        }
    }

    #[test]
    fn a_text_that_is_no_glob_is_refused() {
        for text in [
            "", "reports", "*", "/a**", "/**b", "/***", "/a/../b", "/.", "/a?b", "/[a]", "/{a,b}", "/a b", "/a\n",
            "/a#", "/%2e%2e", "/a%2fb", "/a;b",
        ] {
            assert!(Glob::new(text).is_err(), "{text}");
        }
    }

    /// The rule itself, as slow as it likes.
    fn oracle(glob: &[&str], path: &[&str]) -> bool {
        match (glob, path) {
            (["**", rest @ ..], _) => oracle(rest, path) || (!path.is_empty() && oracle(glob, &path[1..])),
            ([one, glob @ ..], [segment, path @ ..]) => like(one.as_bytes(), segment.as_bytes()) && oracle(glob, path),
            ([], []) => true,
            _ => false,
        }
    }

    fn like(glob: &[u8], text: &[u8]) -> bool {
        match (glob, text) {
            ([b'*', rest @ ..], _) => like(rest, text) || (!text.is_empty() && like(glob, &text[1..])),
            ([a, glob @ ..], [b, text @ ..]) => a == b && like(glob, text),
            ([], []) => true,
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn globs_match_as_their_rule_says(
            glob in prop::collection::vec("\\*\\*|[ab]{0,2}(\\*[ab]{0,2}){0,2}|[ab]{1,2}", 0..5),
            path in prop::collection::vec("[ab]{1,4}", 0..6),
        ) {
            let glob: Vec<&str> = glob.iter().map(String::as_str).filter(|segment| !segment.is_empty()).collect();
            prop_assume!(glob.iter().all(|segment| *segment == "**" || !segment.contains("**")));
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let wanted = oracle(&glob, &path);
            prop_assert_eq!(is_matched(&format!("/{}", glob.join("/")), &format!("/{}", path.join("/"))), wanted);
        }
    }
}
