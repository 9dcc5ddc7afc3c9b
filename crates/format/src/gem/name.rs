//! Rules for the names of gems and platforms. These names are part of index lines and URLs, so a newline, a space, a
//! comma or a slash in one could forge a line or reach another file.

use super::Invalid;
use super::invalid::quoted;

/// The longest name, version or platform, in bytes.
pub const MAX: usize = 255;

/// Whether `text` is not empty and has only ASCII letters, digits, `.`, `_` and `-`.
pub fn plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// The rules for the name of a published gem.
pub fn check(name: &str) -> Result<(), Invalid> {
    let lower = name.to_ascii_lowercase();
    let why = if name.is_empty() {
        "can't be blank"
    } else if name.len() > MAX {
        "is too long (maximum is 255 characters)"
    } else if !plain(name) {
        "can only include letters, numbers, dashes, periods, and underscores"
    } else if !name.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        "must include at least one letter"
    } else if name.starts_with(['.', '-', '_']) {
        "can not begin with a period, dash, or underscore"
    } else if name.ends_with(['.', '-', '_']) {
        "can not end with a period, dash, or underscore"
    } else if [".gem", ".gemspec", ".json", ".html"].iter().any(|ending| lower.ends_with(ending)) {
        "can not end with .gem, .gemspec, .json or .html"
    } else {
        return Ok(());
    };
    Err(Invalid::BadName { name: quoted(name), why })
}

/// The rule for the name of a dependency, which need not be published here.
pub(crate) fn check_dependency(name: &str) -> Result<(), Invalid> {
    let why = "can only include letters, numbers, dashes, periods, and underscores";
    if plain(name) && name.len() <= MAX { Ok(()) } else { Err(Invalid::BadName { name: quoted(name), why }) }
}

/// The rule for a platform: `ruby`, `java`, `x86_64-linux`.
pub fn check_platform(platform: &str) -> Result<(), Invalid> {
    if plain(platform)
        && platform.len() <= MAX
        && platform.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
    {
        return Ok(());
    }
    Err(Invalid::BadPlatform(quoted(platform)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_are_in_use_are_allowed() {
        for name in ["rack", "RedCloth", "net-http", "a.b_c-d", "3scale", "x"] {
            assert!(check(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_refused_name_says_which_rule_it_breaks() {
        for (name, why) in [
            ("", "the gem name `` can't be blank"),
            ("12.3", "the gem name `12.3` must include at least one letter"),
            ("-a", "the gem name `-a` can not begin with a period, dash, or underscore"),
            ("a_", "the gem name `a_` can not end with a period, dash, or underscore"),
            ("a.GEM", "the gem name `a.GEM` can not end with .gem, .gemspec, .json or .html"),
            (
                "a\n1.0 |",
                r"the gem name `a\n1.0 |` can only include letters, numbers, dashes, periods, and underscores",
            ),
        ] {
            assert_eq!(check(name).unwrap_err().to_string(), why);
        }
        assert!(check(&"a".repeat(255)).is_ok());
        assert!(check(&"a".repeat(256)).is_err());
        for bad in ["..", "a/b", "a b", "a,b", "ä", "a\0", "../a"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn an_allowed_name_cannot_leave_its_line_or_its_folder(name in any::<String>()) {
            if check(&name).is_ok() {
                prop_assert!(!name.contains(|c: char| c.is_whitespace() || c.is_control() || ",/\\|:&".contains(c)));
                prop_assert!(!name.starts_with('.'));
            }
        }

        #[test]
        fn every_name_of_the_pattern_is_allowed(name in "[A-Za-z][A-Za-z0-9._-]{0,60}x") {
            prop_assert!(check(&name).is_ok());
        }
    }
}
