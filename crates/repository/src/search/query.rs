//! The text of a search, and how well a name matches it.

use crate::error::{Error, Result};
use memchr::memmem::Finder;
use memchr::memrchr2;

/// The longest text of a search, in bytes.
pub const LONGEST_QUERY: usize = 256;
/// Most words of a search.
const WORDS: usize = 16;
/// The digits of a SHA-1 and of a SHA-256.
const DIGESTS: [usize; 2] = [40, 64];

/// A search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchQuery {
    /// Names that have all these words, in lower case. Never empty.
    Words(Vec<String>),
    /// The files with this SHA-1 or SHA-256, hexadecimal in lower case.
    Digest(String),
}

/// How well a name matches, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// It is the text, or its part behind the last colon or slash is.
    Exact,
    /// It, or that part, begins with the text.
    Prefix,
    /// Each word of the text is at the beginning of a word of it.
    Word,
    /// It contains each word of the text.
    Substring,
}

impl Rank {
    /// All ranks, in order.
    pub(crate) const ALL: [Self; 4] = [Self::Exact, Self::Prefix, Self::Word, Self::Substring];
}

/// A word of a search, prepared for being found in many names.
#[derive(Debug)]
pub(crate) struct Word<'q> {
    pub(crate) text: &'q str,
    finder: Finder<'q>,
}

impl<'q> Word<'q> {
    /// A word in lower case.
    pub(crate) fn new(text: &'q str) -> Self {
        Self { text, finder: Finder::new(text) }
    }

    /// Where it first is in a text in lower case.
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        self.finder.find(text)
    }

    /// Whether it is at the beginning of a word of a name, or only inside of one; `None`: the name lacks it.
    fn begins_in(&self, name: &str) -> Option<bool> {
        let is_beginning = |at: usize| !name[..at].ends_with(|c: char| c.is_alphanumeric());
        let mut at = self.find(name.as_bytes())?;
        loop {
            if is_beginning(at) {
                return Some(true);
            }
            match self.find(&name.as_bytes()[at + 1..]) {
                Some(next) => at += 1 + next,
                None => return Some(false),
            }
        }
    }
}

impl SearchQuery {
    /// Reads the text of a search. `None`: it has no words.
    pub fn read(text: &str) -> Result<Option<Self>> {
        if text.len() > LONGEST_QUERY {
            return Err(Error::Input(format!("the text of a search is at most {LONGEST_QUERY} bytes long")));
        }
        let text = text.to_ascii_lowercase();
        let digest = text.trim();
        if DIGESTS.contains(&digest.len()) && digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Some(Self::Digest(digest.to_owned())));
        }
        let words: Vec<String> = text
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
            .map(without_version)
            .collect();
        if words.len() > WORDS {
            return Err(Error::Input(format!("a search has at most {WORDS} words")));
        }
        Ok((!words.is_empty()).then_some(Self::Words(words)))
    }
}

/// `GROUP:ARTIFACT` of `GROUP:ARTIFACT:VERSION`; any other word is unchanged.
fn without_version(word: &str) -> String {
    let fields: Vec<&str> = word.split(':').collect();
    match fields[..] {
        [group, artifact, _, ..] if !group.is_empty() && !artifact.is_empty() => format!("{group}:{artifact}"),
        _ => word.to_owned(),
    }
}

/// How well a name in lower case matches words in lower case; `None`: it lacks one of them.
pub(crate) fn rank(name: &str, words: &[Word<'_>]) -> Option<Rank> {
    if let [Word { text, .. }] = words {
        let last = memrchr2(b':', b'/', name.as_bytes()).map_or(name, |at| &name[at + 1..]);
        if name == *text || last == *text {
            return Some(Rank::Exact);
        }
        if name.starts_with(text) || last.starts_with(text) {
            return Some(Rank::Prefix);
        }
    }
    let mut worst = Rank::Word;
    for word in words {
        if !word.begins_in(name)? {
            worst = Rank::Substring;
        }
    }
    Some(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        match SearchQuery::read(text).unwrap() {
            Some(SearchQuery::Words(words)) => words,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_name_is_exact_then_begins_so_then_has_the_word_then_contains_it() {
        let rank = |name: &str, text: &str| {
            let words = words(text);
            rank(name, &words.iter().map(|word| Word::new(word)).collect::<Vec<_>>())
        };
        for (name, text, expected) in [
            ("rack", "Rack", Some(Rank::Exact)),
            ("org.example:lamp", "lamp", Some(Rank::Exact)),
            ("org.example:lamp", "org.example:lamp", Some(Rank::Exact)),
            ("org.example:lamp", "org.example:lamp:1.0", Some(Rank::Exact)),
            ("org.example:lamp", "org.ex", Some(Rank::Prefix)),
            ("org.example:lamp", "lam", Some(Rank::Prefix)),
            ("rack-test", "rack", Some(Rank::Prefix)),
            ("a-rack-b", "rack", Some(Rank::Word)),
            ("track", "rack", Some(Rank::Substring)),
            ("org.example:lamp", "lamp example", Some(Rank::Word)),
            ("org.example:lamp", "lamp ample", Some(Rank::Substring)),
            ("rack", "racks", None),
            ("rack", "rack test", None),
            ("ra%k", "%", Some(Rank::Substring)),
        ] {
            assert_eq!(rank(name, text), expected, "{name}: {text}");
        }
    }

    #[test]
    fn a_digest_is_no_word_and_control_characters_separate_words() {
        assert_eq!(
            SearchQuery::read(&format!(" {} ", "Aa".repeat(20))).unwrap(),
            Some(SearchQuery::Digest("aa".repeat(20)))
        );
        assert!(matches!(SearchQuery::read(&"ab".repeat(32)).unwrap(), Some(SearchQuery::Digest(_))));
        assert!(matches!(SearchQuery::read(&"ab".repeat(21)).unwrap(), Some(SearchQuery::Words(_))));
        assert_eq!(words("a\0b\n%_*"), ["a", "b", "%_*"]);
        assert_eq!(SearchQuery::read(" \u{1}\t").unwrap(), None);
        assert!(SearchQuery::read(&"a".repeat(LONGEST_QUERY + 1)).is_err());
        assert!(SearchQuery::read(&"a ".repeat(WORDS + 1)).is_err());
    }
}
