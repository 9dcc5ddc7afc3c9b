//! Computes the lines that a log needs when only the end of its upstream's file changed: the state of each name in the
//! new end, on top of all lines before it.

use super::difference::{Difference, says};
use super::entry::Entry;
use super::said::Sum;
use super::versions::{Versions, name_of};
use std::borrow::Cow;
use std::collections::HashMap;

/// The lines that `log` needs when in its upstream's file the last lines `before` were replaced by `after`. `wrong` is
/// that of [`difference`](super::difference()). `None` if this cannot be computed without the rest of the file: because
/// a line that only `before` has may hide an earlier state, or because a line is held back or unreadable.
pub fn splice(
    log: &Versions,
    before: &Versions,
    after: &Versions,
    wrong: impl Fn(&str, &str) -> bool,
) -> Option<Difference> {
    if !before.is_clean() || !after.is_clean() {
        return None;
    }
    let mut difference = Difference { names: log.names(), ..Difference::default() };
    for lines in after.each() {
        let Some(name) = name_of(&lines) else { continue };
        let earlier = before.lines_of(name);
        if earlier == lines {
            continue;
        }
        let (listed, earlier) = (Listed::of(&lines), Listed::of(&earlier));
        if earlier.offered.keys().any(|token| !listed.offered.contains_key(token)) {
            return None;
        }
        let logged = log.lines_of(name);
        let said = Sum::of(&logged).unwrap_or_default();
        let is_wrong = !said.md5.is_empty() && wrong(name, listed.md5);
        let md5 = if is_wrong { said.md5 } else { listed.md5 };
        let stay = said.tokens.iter().filter(|token| !listed.offered.contains_key(*token));
        let tokens = stay.copied().chain(listed.tokens()).collect();
        let earlier = said.md5 != md5 && says(&logged, md5);
        difference.take(name, &logged, &said, &Sum { tokens, md5, ..Sum::default() }, earlier);
    }
    // The state of a vanished name before these lines is unknown.
    let vanished = |lines: Vec<Cow<'_, [u8]>>| name_of(&lines).is_some_and(|name| !after.lists(name));
    (!before.each().any(vanished)).then_some(difference)
}

/// The state of one name after some lines, whatever lines come before them.
#[derive(Debug, Default)]
struct Listed<'a> {
    /// For each token in these lines: whether it is listed at their end, and the position of its last mention.
    offered: HashMap<&'a str, (bool, usize)>,
    md5: &'a str,
}

impl<'a> Listed<'a> {
    fn of(lines: &'a [Cow<'a, [u8]>]) -> Self {
        let mut listed = Self::default();
        let entries = lines.iter().filter_map(|line| Entry::read(line));
        let mut mentions = 0;
        for entry in entries {
            listed.md5 = entry.md5.unwrap_or(listed.md5);
            for (gone, token) in entry.tokens() {
                mentions += 1;
                listed.offered.insert(token, (!gone, mentions));
            }
        }
        listed
    }

    /// The listed tokens, in the order of their mentions.
    fn tokens(&self) -> impl Iterator<Item = &'a str> {
        let mut tokens: Vec<(usize, &'a str)> =
            self.offered.iter().filter(|(_, (offered, _))| *offered).map(|(token, (_, at))| (*at, *token)).collect();
        tokens.sort_unstable();
        tokens.into_iter().map(|(_, token)| token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    const MD5: &str = "0123456789abcdef0123456789abcdef";
    const OTHER: &str = "ffffffffffffffffffffffffffffffff";

    fn of(lines: &[&str]) -> Versions {
        let mut versions = Versions::appended();
        versions
            .push(Bytes::from(lines.concat().replace(';', &format!(" {MD5}\n")).replace('!', &format!(" {OTHER}\n"))))
            .unwrap();
        versions
    }

    /// The lines that a log with `base` and `before` needs when `before` is replaced by `after`.
    fn gained(base: &str, before: &str, after: &str) -> Option<String> {
        let gained = splice(&of(&[base, before]), &of(&[before]), &of(&[after]), |_, _| false)?;
        Some(
            String::from_utf8(gained.lines)
                .unwrap()
                .replace(&format!(" {MD5}\n"), ";")
                .replace(&format!(" {OTHER}\n"), "!"),
        )
    }

    #[test]
    fn a_line_among_the_last_ones_is_told_as_one_behind_them() {
        let base = "a 1,2;b 1;";
        for (before, after, expected) in [
            ("b 2;", "c 1;b 2;", "c 1;"),
            ("b 2;c 1;", "b 2;a -2;c 1;", "a -2;"),
            ("b 2;", "b 3;b 2;", "b 3;"),
            ("b 2;", "b 2!", "b -2,2!"),
            ("b 2;b 3;", "b -1;b 3;b 2!", "b -1!"),
            ("b -1;", "b -1,1;", "b 1;"),
            ("b 2;a 3;", "a 3;b 2;", ""),
            ("b 2;", "b 2;b 3;a -1,-2;", "b 3;a -1,-2;"),
        ] {
            assert_eq!(gained(base, before, after).as_deref(), Some(expected), "{before} {after}");
        }
    }

    #[test]
    fn what_the_last_lines_hid_is_not_guessed() {
        for (before, after) in
            [("b 2;", "c 1;"), ("b 2;b 3;", "b 2;"), ("b -1;", "b 2;"), ("b 2;", "b 2;c 1 \n"), ("b 2;", "b 2;?;")]
        {
            assert_eq!(gained("a 1;b 1;", before, after), None, "{before} {after}");
        }
    }

    #[test]
    fn an_md5_that_is_known_to_be_wrong_is_not_said_again() {
        let (log, before, after) = (of(&["a 1;", "a 2!"]), of(&["a 2;"]), of(&["b 1;a 3;a 2;"]));
        let wrong = |name: &str, md5: &str| name == "a" && md5 == MD5;
        let gained = splice(&log, &before, &after, wrong).unwrap();
        assert_eq!(gained.lines, of(&["b 1;", "a 3!"]).text().pieces().concat());
    }
}
