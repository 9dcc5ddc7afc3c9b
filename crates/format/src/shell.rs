//! Words of a command that people copy into a shell.

use std::borrow::Cow;

/// `text` as one word of a POSIX shell. Text that has another meaning for a shell, or that no terminal shows, is quoted; control
/// characters become `?`, as a terminal would run a line at a line end.
pub fn word(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+:/@,=".contains(&byte);
    if !text.is_empty() && !text.starts_with('-') && text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    let shown: String = text.chars().map(|one| if one.is_control() { '?' } else { one }).collect();
    Cow::Owned(format!("'{}'", shown.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word_and_runs_nothing() {
        for (text, expected) in [
            ("org.example:lamp:1.0", "org.example:lamp:1.0"),
            ("a b", "'a b'"),
            ("$(reboot)", "'$(reboot)'"),
            ("it's;x", "'it'\\''s;x'"),
            ("a\nb\u{1b}[2J", "'a?b?[2J'"),
            ("", "''"),
            ("--data", "'--data'"),
        ] {
            assert_eq!(word(text), expected, "{text}");
        }
    }
}
