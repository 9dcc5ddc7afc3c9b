//! The form to sign in, and where a browser goes afterwards.

use crate::shell::Shell;
use askama::Template;

/// The form to sign in.
#[derive(Debug, Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The page to go to afterwards: a path of this server.
    pub to: &'a str,
    /// Why the last attempt failed.
    pub problem: Option<&'a str>,
    /// What to do about it.
    pub hint: Option<&'a str>,
}

/// Whether `path` is one of this server, to which a browser may be sent after signing in: a path of plain characters, which no browser
/// reads as a host.
pub fn is_own_path(path: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>');
    let begins = path.starts_with('/') && !path.starts_with("//");
    begins && path.len() <= 2048 && path.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Links, html};

    #[test]
    fn nobody_is_sent_to_another_host() {
        for path in ["/", "/explain?repository=a&path=b/c%20d", "/browse/maven/org/x//y"] {
            assert!(is_own_path(path), "{path}");
        }
        let long = format!("/{}", "a".repeat(2048));
        for path in [
            "",
            "//evil.test",
            "/\\evil.test",
            "\\\\evil.test",
            "http://evil.test",
            "evil.test",
            "/a\r\nSet-Cookie: x=y",
            "/\t/evil.test",
            " //evil.test",
            "/\u{2f}evil.test",
            "javascript:alert(1)",
            "/ü",
            &long,
        ] {
            assert!(!is_own_path(path), "{path:?}");
        }
    }

    #[test]
    fn the_form_escapes_its_values() {
        let odd = "<script>\"'";
        let shell = Shell::new("Sign in", Links::new("http://here.test"));
        let page = html(&SignInPage { shell: &shell, to: odd, problem: Some(odd), hint: Some(odd) }).unwrap();
        assert_eq!((page.contains("<script>"), page.matches("&#60;script&#62;").count()), (false, 3), "{page}");
        assert!(page.contains("action=\"/sign-in\""), "{page}");
    }
}
