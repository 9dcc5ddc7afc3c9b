//! Patterns for the names of Koji's tags: `*`, `?`, and `[...]` with ranges, or `[!...]` for all other characters, with case.

/// One part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Any characters, or none.
    Any,
    /// One character, whichever it is.
    One,
    /// One character of these ranges, or one of all others.
    Set {
        ranges: Vec<(char, char)>,
        others: bool,
    },
    Literal(char),
}

/// Why a pattern cannot be read; `None`: it can.
pub(crate) fn fault(pattern: &str) -> Option<&'static str> {
    parts(pattern).err()
}

/// Whether a pattern names a tag. A pattern that cannot be read names none.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Ok(parts) = parts(pattern) else { return false };
    let name: Vec<char> = name.chars().collect();
    let (mut part, mut at) = (0, 0);
    // Where the last `*` is, and up to where it was tried.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match parts.get(part) {
            Some(Part::Any) => {
                star = Some((part, at));
                part += 1;
            }
            Some(one) if one.takes(name[at]) => (part, at) = (part + 1, at + 1),
            _ => {
                let Some((any, tried)) = star else { return false };
                star = Some((any, tried + 1));
                (part, at) = (any + 1, tried + 1);
            }
        }
    }
    parts[part..].iter().all(|part| *part == Part::Any)
}

/// The pattern with `?` in place of each `[...]`. It names at least the same tags.
pub(crate) fn widened(pattern: &str) -> String {
    let shown = |part: Part| match part {
        Part::Any => '*',
        Part::One | Part::Set { .. } => '?',
        Part::Literal(character) => character,
    };
    parts(pattern).into_iter().flatten().map(shown).collect()
}

impl Part {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Any => false,
            Self::One => true,
            Self::Set { ranges, others } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&character)) != *others
            }
            Self::Literal(literal) => *literal == character,
        }
    }
}

fn parts(pattern: &str) -> Result<Vec<Part>, &'static str> {
    let (mut parts, mut rest) = (Vec::new(), pattern.chars());
    while let Some(character) = rest.next() {
        parts.push(match character {
            '*' => Part::Any,
            '?' => Part::One,
            '[' => {
                let (set, after) = set(rest.as_str())?;
                rest = after.chars();
                set
            }
            literal => Part::Literal(literal),
        });
    }
    Ok(parts)
}

/// Reads a set behind its `[`. A `]` or `-` at its beginning stands for itself.
fn set(text: &str) -> Result<(Part, &str), &'static str> {
    let (others, inside) = text.strip_prefix('!').map_or((false, text), |inside| (true, inside));
    let end = inside.char_indices().skip(1).find(|(_, character)| *character == ']').map(|(at, _)| at);
    let end = end.ok_or("has a `[` without its `]`")?;
    let (mut ranges, mut rest) = (Vec::new(), &inside[..end]);
    while let Some(from) = rest.chars().next() {
        rest = &rest[from.len_utf8()..];
        let to = rest.strip_prefix('-').and_then(|after| after.chars().next());
        if let Some(to) = to {
            rest = &rest[1 + to.len_utf8()..];
        }
        let to = to.unwrap_or(from);
        if from > to {
            return Err("has a range that ends before it begins");
        }
        ranges.push((from, to));
    }
    Ok((Part::Set { ranges, others }, &inside[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_question_marks_and_sets_stand_for_parts_of_a_name() {
        for (pattern, names, others) in [
            ("app-1.0", &["app-1.0"][..], &["App-1.0", "app-1.00", "app-1", ""][..]),
            ("app-*", &["app-", "app-1", "app-1-released"], &["app", "xapp-1"]),
            ("*-released", &["-released", "a-released", "a-released-released"], &["a-release"]),
            ("a*b*c", &["abc", "axbxc", "abcbc"], &["ab", "acb", "abcd"]),
            ("app-?", &["app-1", "app-ü"], &["app-", "app-12"]),
            ("app-[0-9ab]", &["app-0", "app-9", "app-b"], &["app-c", "app-", "app-10"]),
            ("app-[!0-9]", &["app-a", "app-]"], &["app-0"]),
            ("[]x]", &["]", "x"], &["y", "[]x]"]),
            ("[-a]", &["-", "a"], &["b"]),
            ("[a-]", &["-", "a"], &["b"]),
            ("*", &["", "a"], &[]),
            ("**", &["", "a"], &[]),
            ("a]", &["a]"], &["a"]),
        ] {
            assert_eq!(fault(pattern), None, "{pattern}");
            let widened = widened(pattern);
            for name in names {
                assert!(matches(pattern, name), "{pattern} {name}");
                assert!(matches(&widened, name), "{widened} {name}");
            }
            for name in others {
                assert!(!matches(pattern, name), "{pattern} {name}");
            }
        }
        assert_eq!(widened("app-[!0-9]-*[ab]?"), "app-?-*??");
    }

    #[test]
    fn a_set_that_does_not_end_or_has_a_wrong_range_is_refused_and_names_nothing() {
        for (pattern, why) in [
            ("a[", "`[` without"),
            ("a[b", "`[` without"),
            ("a[]", "`[` without"),
            ("a[!", "`[` without"),
            ("[z-a]", "range"),
        ] {
            assert!(fault(pattern).unwrap().contains(why), "{pattern}");
            assert!(!matches(pattern, pattern), "{pattern}");
        }
    }
}
