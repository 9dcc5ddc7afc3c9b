//! The words and signs of the text form, each with its place.

use super::mistake::{Mistake, Position};

/// The longest text, in bytes.
pub(super) const TEXT_MAX: usize = 16 * 1024;

/// A word or a sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word. Without quotes it may be a name.
    Word {
        /// The word, without its quotes.
        text: String,
        /// Whether it was in quotes.
        quoted: bool,
    },
    /// A comparison.
    Sign(&'static str),
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
}

impl Token {
    /// The token as a person wrote it, for messages.
    pub(super) fn shown(&self) -> &str {
        match self {
            Token::Word { text, .. } => text,
            Token::Sign(sign) => sign,
            Token::Open => "(",
            Token::Close => ")",
            Token::Comma => ",",
        }
    }
}

/// Signs, each before the ones that begin it. The last two are of other languages; a comparison reports them.
const SIGNS: &[&str] = &["!=", "<=", ">=", "==", "<>", "=", "<", ">"];

/// Whether a word without quotes may have this character.
fn in_word(c: char) -> bool {
    !c.is_whitespace() && !"()\"',=<>!".contains(c)
}

/// The tokens of a text, each with its first character, counted from 1. `part`: the part of the JSON form that has the text.
pub(super) fn read(text: &str, part: Option<&str>) -> Result<Vec<(usize, Token)>, Mistake> {
    if text.len() > TEXT_MAX {
        let message = format!("a question has at most {TEXT_MAX} bytes; this has {}", text.len());
        return Err(Mistake::new(&part.map_or(Position::Whole, Position::part), message));
    }
    let mut tokens = Vec::new();
    let mut rest = text.chars();
    let mut at = 1;
    while let Some(c) = rest.clone().next() {
        let before = rest.as_str();
        let place = || Position::Character(at, part.map(Into::into));
        let token = match c {
            _ if c.is_whitespace() => None,
            '(' => Some(Token::Open),
            ')' => Some(Token::Close),
            ',' => Some(Token::Comma),
            '"' | '\'' => {
                rest.next();
                let text =
                    quoted(&mut rest, c).ok_or_else(|| Mistake::new(&place(), format!("there is no closing `{c}`")))?;
                Some(Token::Word { text, quoted: true })
            }
            _ if in_word(c) => {
                let end = before.find(|c| !in_word(c)).unwrap_or(before.len());
                rest = before[end..].chars();
                Some(Token::Word { text: before[..end].to_owned(), quoted: false })
            }
            _ => {
                let sign = SIGNS.iter().find(|sign| before.starts_with(**sign));
                let sign = sign.ok_or_else(|| {
                    Mistake::new(&place(), format!("`{c}` has no meaning here; put a text with it in quotes"))
                })?;
                rest = before[sign.len()..].chars();
                Some(Token::Sign(sign))
            }
        };
        if rest.as_str().len() == before.len() {
            rest.next();
        }
        tokens.extend(token.map(|token| (at, token)));
        at += before[..before.len() - rest.as_str().len()].chars().count();
    }
    Ok(tokens)
}

/// The text up to the closing quote. A backslash precedes a quote or a backslash of the text. `None`: it has no end.
fn quoted(rest: &mut std::str::Chars<'_>, quote: char) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            c if c == quote => return Some(text),
            '\\' => text.push(rest.next()?),
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Token {
        Token::Word { text: text.to_owned(), quoted: false }
    }

    #[test]
    fn a_text_is_words_signs_and_quoted_texts_with_their_places() {
        let quoted = |text: &str| Token::Word { text: text.to_owned(), quoted: true };
        assert_eq!(
            read("p95(a) where b>='x \\' y'\u{e9}, -1h", None).unwrap(),
            [
                (1, word("p95")),
                (4, Token::Open),
                (5, word("a")),
                (6, Token::Close),
                (8, word("where")),
                (14, word("b")),
                (15, Token::Sign(">=")),
                (17, quoted("x ' y")),
                (25, word("\u{e9}")),
                (26, Token::Comma),
                (28, word("-1h")),
            ]
        );
    }

    #[test]
    fn a_quote_without_an_end_and_a_sign_without_meaning_are_named_with_their_place() {
        assert_eq!(read("a = 'b", None).unwrap_err().to_string(), "character 5: there is no closing `'`");
        assert!(read("a ! b", Some("where")).unwrap_err().to_string().starts_with("`where`, character 3: `!`"));
        assert!(read(&"x".repeat(TEXT_MAX + 1), None).unwrap_err().to_string().contains("at most 16384 bytes"));
    }
}
