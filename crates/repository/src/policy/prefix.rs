//! Private prefixes of names. No upstream is called for a name with such a prefix, because the request alone would
//! disclose the name.

use crate::bad_setting::BadSetting;
use crate::format::Format;
use crate::policy::package_version::PackageVersion;
use crate::policy::pattern::Case;
use telemetry::Event;

/// Maximum length, in bytes.
const TEXT_MAX: usize = 256;

/// A private prefix. It ignores the case of ASCII letters where an upstream may. In Maven it is a group, including all groups below it; in raw repositories it is a folder; names
/// of gems have no parts, so there it matches any name that begins with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefix {
    text: String,
    format: Format,
}

impl Prefix {
    /// Reads a prefix of a setting, and removes a separator at its end.
    pub(crate) fn read(text: &str, format: Format) -> Result<Self, BadSetting> {
        let syntax = format.rules().prefixes();
        let ends = |c: char| Some(c) == syntax.separator;
        let good = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, ':' | '*');
        let known = text.trim_end_matches(ends);
        if known.is_empty() || text.len() > TEXT_MAX || !text.chars().all(good) || known.starts_with(ends) {
            let refused = format!("`private_prefixes`: `{}` is no beginning of names", Event::text(text));
            return Err(BadSetting::new(refused, syntax.example));
        }
        Ok(Self::known(known, format))
    }

    /// A prefix from stored settings, which was checked before.
    pub(crate) fn known(text: &str, format: Format) -> Self {
        Self { text: text.to_owned(), format }
    }

    /// The stored form.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the name of the package, or of the file whose checksum this is, has this prefix.
    pub(crate) fn begins(&self, what: &PackageVersion<'_>) -> bool {
        self.is_of(what) || what.summed().is_some_and(|file| self.is_of(&file))
    }

    fn is_of(&self, what: &PackageVersion<'_>) -> bool {
        let rules = self.format.rules();
        let name = rules.prefixed(&what.package);
        let Some((begin, rest)) = name.split_at_checked(self.text.len()) else { return false };
        let case = Case::of(self.format);
        if !begin.bytes().zip(self.text.bytes()).all(|(one, other)| case.same(one, other)) {
            return false;
        }
        rules.prefixes().separator.is_none_or(|separator| rest.is_empty() || rest.starts_with(separator))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_no_name_is_refused() {
        for text in ["", ".", ".com", "com:example", "com.*", "a b"] {
            assert!(Prefix::read(text, Format::named("maven").unwrap()).is_err(), "{text}");
        }
    }
}
