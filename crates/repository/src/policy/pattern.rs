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

/// Whether capital and small letters (of ASCII) are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Ignored,
    Exact,
}

impl Case {
    /// For what hides names of a format. What makes something visible is always exact.
    pub(crate) fn of(format: Format) -> Self {
        if format.rules().names_ignore_case() { Self::Ignored } else { Self::Exact }
    }

    /// Whether two bytes are the same.
    pub(crate) fn same(self, one: u8, other: u8) -> bool {
        one == other || self == Self::Ignored && one.eq_ignore_ascii_case(&other)
    }
}

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
        self.matches(what, Case::Exact)
    }

    /// The same for what hides a version: in whatever case the name is written, if an upstream may answer for it.
    pub(crate) fn denies(&self, what: &PackageVersion<'_>) -> bool {
        self.matches(what, Case::of(what.format))
    }

    fn matches(&self, what: &PackageVersion<'_>, case: Case) -> bool {
        self.is_of(what, case) || what.summed().is_some_and(|file| self.is_of(&file, case))
    }

    /// Whether it may match a version of this package, or the file whose checksum this is.
    pub(crate) fn may_be_about(&self, what: &PackageVersion<'_>) -> bool {
        self.may_be_of(what) || what.summed().is_some_and(|file| self.may_be_of(&file))
    }

    fn is_of(&self, what: &PackageVersion<'_>, case: Case) -> bool {
        let mut patterns = self.patterns(what.format);
        what.fields().all(|field| match patterns.next() {
            None => true,
            Some(pattern) => pattern == "*" || !field.is_empty() && is_like(field, pattern, case),
        })
    }

    fn may_be_of(&self, what: &PackageVersion<'_>) -> bool {
        what.fields()
            .zip(self.patterns(what.format))
            .all(|(field, pattern)| field.is_empty() || is_like(field, pattern, Case::Exact))
    }

    fn patterns(&self, format: Format) -> impl Iterator<Item = &str> {
        self.text.splitn(format.rules().patterns().fields, ':')
    }
}

/// Whether `text` matches `pattern`, in which each `*` stands for any text.
fn is_like(text: &str, pattern: &str, case: Case) -> bool {
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let (mut at, mut next) = (0, 0);
    // Behind the last star, and where the text that it stands for ends so far.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(next) {
            Some(b'*') => {
                next += 1;
                star = Some((next, at));
            }
            Some(byte) if case.same(*byte, text[at]) => (at, next) = (at + 1, next + 1),
            _ => {
                let Some((behind, end)) = star else { return false };
                star = Some((behind, end + 1));
                (at, next) = (end + 1, behind);
            }
        }
    }
    pattern[next..].iter().all(|byte| *byte == b'*')
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
        let is_like = |text, pattern| is_like(text, pattern, Case::Exact);
        assert!(is_like("aXbXc", "a*b*c") && is_like("ab", "a**b") && !is_like("ab", "ab*b"));
        assert!(is_like("aXbYb", "a*b") && is_like("", "*") && !is_like("", "a") && !is_like("A", "a"));
    }

    #[test]
    fn a_denied_name_of_a_path_is_denied_in_any_case_and_an_exception_is_of_one_spelling() {
        let [small, capital] = ["com.acme:lamp", "COM.Acme:lamp"].map(|package| what(package, "1.0-RC1"));
        for pattern in ["com.acme", "Com.ACME:*:1.0-rc*"] {
            let pattern = read(pattern).unwrap();
            assert!(pattern.denies(&small) && pattern.denies(&capital), "{pattern:?}");
        }
        let pattern = read("com.acme").unwrap();
        assert!(pattern.is_about(&small) && !pattern.is_about(&capital));
        let gem = |name: &'static str| {
            let names = crate::format::rules::Coordinates { package: name.into(), version: "1.0".into() };
            PackageVersion::new(Format::Gem, names, Since::Always)
        };
        let rack = Pattern::known("rack");
        assert!(rack.denies(&gem("rack")) && !rack.denies(&gem("Rack")), "a gem has one spelling in its index");
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
