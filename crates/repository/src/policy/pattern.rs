//! Patterns of packages and versions, as settings write them: `org.example.*`, `org.example:lamp:1.*`, `rack:3.0.0`.
//!
//! A pattern has as many fields as a format has names for a version (Maven: group, artifact, version; gems: name, version; raw
//! files: the path), with colons between them. A field that is left out at the end matches anything, and `*` matches any text.

use crate::bad_setting::BadSetting;
use crate::format::Format;
use crate::policy::package_version::PackageVersion;
use telemetry::Event;

/// Maximum length, in bytes.
const TEXT_MAX: usize = 512;

/// A pattern of packages or of versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    text: String,
}

impl Pattern {
    /// Reads a pattern of the setting with this name.
    pub(crate) fn read(setting: &str, format: Format, text: &str) -> Result<Self, BadSetting> {
        let syntax = format.rules().patterns();
        let refused = |why: &str| {
            let text = format!("`{setting}`: `{}` {why}", Event::text(text));
            BadSetting::new(text, &format!("such as {}", syntax.examples))
        };
        let odd = |c: char| c.is_whitespace() || c.is_control();
        if text.is_empty() || text.len() > TEXT_MAX || text.contains(odd) {
            return Err(refused("is no pattern"));
        }
        if !syntax.last_holds_colons && text.split(':').count() > syntax.fields {
            return Err(refused("has too many colons"));
        }
        if text.splitn(syntax.fields, ':').any(str::is_empty) {
            return Err(refused("has nothing between its colons"));
        }
        Ok(Self { text: text.to_owned() })
    }

    /// A pattern from stored settings, which was checked before.
    pub(crate) fn known(text: &str) -> Self {
        Self { text: text.to_owned() }
    }

    /// The text of the pattern.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The one package that it can match, in formats whose first field is the package; `None`: it may match several.
    pub(crate) fn package(&self) -> Option<&str> {
        self.text.split(':').next().filter(|name| !name.contains('*'))
    }

    /// Whether it matches this version, or the file whose checksum this is. For a whole package: whether it matches all
    /// versions.
    pub(crate) fn is_about(&self, what: &PackageVersion<'_>) -> bool {
        self.is_of(what) || what.summed().is_some_and(|file| self.is_of(&file))
    }

    /// Whether it may match a version of this package, or the file whose checksum this is.
    pub(crate) fn may_be_about(&self, what: &PackageVersion<'_>) -> bool {
        self.may_be_of(what) || what.summed().is_some_and(|file| self.may_be_of(&file))
    }

    fn is_of(&self, what: &PackageVersion<'_>) -> bool {
        let mut patterns = self.patterns(what.format);
        what.fields().all(|field| match patterns.next() {
            None => true,
            Some(pattern) => pattern == "*" || !field.is_empty() && is_like(field, pattern),
        })
    }

    fn may_be_of(&self, what: &PackageVersion<'_>) -> bool {
        what.fields()
            .zip(self.patterns(what.format))
            .all(|(field, pattern)| field.is_empty() || is_like(field, pattern))
    }

    fn patterns(&self, format: Format) -> impl Iterator<Item = &str> {
        self.text.splitn(format.rules().patterns().fields, ':')
    }
}

/// Whether `text` matches `pattern`, in which each `*` stands for any text.
fn is_like(text: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = text.split_once(part) else { return false };
        text = after;
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::package_version::Since;

    fn what<'a>(package: &'a str, version: &'a str) -> PackageVersion<'a> {
        let (group, artifact) = package.split_once(':').unwrap();
        PackageVersion::maven(group, artifact, version, Since::Always)
    }

    fn read(pattern: &str) -> Result<Pattern, BadSetting> {
        Pattern::read("deny", Format::named("maven").unwrap(), pattern)
    }

    #[test]
    fn a_star_stands_for_any_text_and_what_is_left_out_for_anything() {
        let lamp = |pattern| read(pattern).unwrap().is_about(&what("org.example:lamp", "1.2"));
        for pattern in ["org.example", "org.*", "*", "org.example:lamp", "*:l*p", "org.example:lamp:1.2", "*:*:1.*"] {
            assert!(lamp(pattern), "{pattern}");
        }
        for pattern in ["org", "org.example.*", "example", "org.example:lam", "*:lamp:1", "*:lamp:1.2*2", "*:lamp:*.3"]
        {
            assert!(!lamp(pattern), "{pattern}");
        }
        assert!(is_like("aXbXc", "a*b*c") && is_like("ab", "a**b") && !is_like("ab", "ab*b"));
    }

    #[test]
    fn of_a_whole_package_only_what_is_about_all_its_versions_is_about_it() {
        let package = |pattern| read(pattern).unwrap().is_about(&what("org.example:lamp", ""));
        assert!(package("org.example:lamp") && package("org.*") && package("org.*:*:*"));
        assert!(!package("org.example:lamp:1.2"));
        let one = Pattern::known("org.example:lamp:1.2");
        assert!(one.may_be_about(&what("org.example:lamp", "")));
        assert!(!one.may_be_about(&what("org.example:lantern", "")));
        assert!(!one.may_be_about(&what("org.example:lamp", "1.3")));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in ["", "a b", "a:", ":a", "a:b:c:d"] {
            assert!(read(text).unwrap_err().to_string().starts_with("`deny`: "), "{text}");
        }
    }
}
