//! What a path below a gem repository's root asks for.

use super::name::{MAX, plain};

/// What a client asks for. Which methods make sense is not decided here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// The root, which RubyGems 3.2.3 to 3.5.18 probe with HEAD and which must not redirect.
    Root,
    /// All changes of all gems; RubyGems since 3.5.19 probe it with HEAD.
    Versions,
    /// The names of all gems.
    Names,
    /// The versions of the gem of this name.
    Info(&'a str),
    /// The package with this full name.
    Gem(&'a str),
    /// Where packages are pushed to.
    Push,
    /// Where versions are yanked.
    Yank,
}

/// Longest full name: name, number and platform with two dashes.
const FULL_NAME_MAX: usize = 3 * MAX + 2;

/// Reads a path without its leading slash, percent-decoded, duplicate slashes collapsed. `None`: nothing is there.
pub fn read(path: &str) -> Option<Question<'_>> {
    match path {
        "" => Some(Question::Root),
        "versions" => Some(Question::Versions),
        "names" => Some(Question::Names),
        "api/v1/gems" => Some(Question::Push),
        "api/v1/gems/yank" => Some(Question::Yank),
        _ => match path.split_once('/')? {
            ("info", name) if safe(name, MAX) => Some(Question::Info(name)),
            ("gems", file) => file.strip_suffix(".gem").filter(|name| safe(name, FULL_NAME_MAX)).map(Question::Gem),
            _ => None,
        },
    }
}

fn safe(name: &str, max: usize) -> bool {
    name.len() <= max && !name.starts_with('.') && plain(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_that_clients_use_is_a_question() {
        for (path, question) in [
            ("", Question::Root),
            ("versions", Question::Versions),
            ("names", Question::Names),
            ("info/net-http", Question::Info("net-http")),
            ("gems/nokogiri-1.18.9-x86_64-linux.gem", Question::Gem("nokogiri-1.18.9-x86_64-linux")),
            ("api/v1/gems", Question::Push),
            ("api/v1/gems/yank", Question::Yank),
        ] {
            assert_eq!(read(path), Some(question), "{path}");
        }
    }

    #[test]
    fn anything_odd_is_nothing() {
        for path in [
            "/",
            "/versions",
            "versions/",
            "Versions",
            "info",
            "info/",
            "info/a/b",
            "info/..",
            "info/.a",
            "info/a b",
            "info/a\n",
            "info/\u{e4}",
            "gems/a-1",
            "gems/.gem",
            "gems/../a-1.gem",
            "gems/a-1.gem/",
            "api/v1",
            "info/a%2fb",
            "info\\a",
            "info/a\0",
        ] {
            assert_eq!(read(path), None, "{path:?}");
        }
        assert_eq!(read(&format!("info/{}", "a".repeat(256))), None);
        assert!(read(&format!("gems/{}.gem", "a".repeat(767))).is_some());
        assert_eq!(read(&format!("gems/{}.gem", "a".repeat(768))), None);
    }
}
