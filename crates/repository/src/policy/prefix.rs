//! Beginnings of names that are private: no upstream is asked for them, as the question alone would tell strangers of them.

use crate::bad_setting::BadSetting;
use crate::format::Format;
use crate::policy::named::Named;
use telemetry::Event;

/// Longest beginning, in bytes.
const TEXT_MAX: usize = 256;

/// A beginning of names. Maven's are groups, with all groups below them; paths of raw files are folders; names of gems have no
/// parts, so any that begins so is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefix {
    text: String,
    format: Format,
}

impl Prefix {
    /// Reads one of a setting, without a separator at its end.
    pub(crate) fn read(text: &str, format: Format) -> Result<Self, BadSetting> {
        let ends = |c: char| Some(c) == separator(format);
        let good = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, ':' | '*');
        let known = text.trim_end_matches(ends);
        if known.is_empty() || text.len() > TEXT_MAX || !text.chars().all(good) || known.starts_with(ends) {
            let refused = format!("`private_prefixes`: `{}` is no beginning of names", Event::text(text));
            let hint = match format {
                Format::Maven => "a group such as `com.example`, which stands for those below it, too",
                Format::Gem => "such as `example-`: any name that begins so is private",
                Format::Raw => "a folder such as `example/tools`",
            };
            return Err(BadSetting::new(refused, hint));
        }
        Ok(Self::known(known, format))
    }

    /// One that was read before.
    pub(crate) fn known(text: &str, format: Format) -> Self {
        Self { text: text.to_owned(), format }
    }

    /// As it is kept.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the name of the package begins so, or that of the file that it is a checksum of.
    pub(crate) fn begins(&self, what: &Named<'_>) -> bool {
        self.is_of(what) || what.summed().is_some_and(|file| self.is_of(&file))
    }

    fn is_of(&self, what: &Named<'_>) -> bool {
        // A group may be the folder of an artifact of the group above it.
        let name = what.package.replace(':', ".");
        let name = if self.format == Format::Maven { &name } else { &*what.package };
        let Some(rest) = name.strip_prefix(&self.text) else { return false };
        separator(self.format).is_none_or(|separator| rest.is_empty() || rest.starts_with(separator))
    }
}

fn separator(format: Format) -> Option<char> {
    match format {
        Format::Maven => Some('.'),
        Format::Raw => Some('/'),
        Format::Gem => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::named::Since;

    #[test]
    fn a_group_stands_for_those_below_it_and_not_for_those_that_are_spelt_alike() {
        let begins = |text: &str, package: (&str, &str)| {
            Prefix::read(text, Format::Maven).unwrap().begins(&Named::maven(package, "", Since::Always))
        };
        assert!(begins("com.example", ("com/example", "lamp")) && begins("com.example.", ("com/example/core", "lamp")));
        assert!(begins("com.example", ("com", "example")));
        assert!(!begins("com.example", ("com/examples", "lamp")) && !begins("com.example", ("com", "exam")));
    }

    #[test]
    fn gems_begin_as_text_does_and_files_as_folders_do() {
        let gem = |name| Prefix::read("acme-", Format::Gem).unwrap().begins(&Named::gem(name, "", Since::Always));
        assert!(gem("acme-lamp") && !gem("acme"));
        let raw = |path| {
            Prefix::read("tools/", Format::Raw).unwrap().begins(&Named::file(Format::Raw, path, Since::Always).unwrap())
        };
        assert!(raw("tools/a") && !raw("toolset/a"));
    }

    #[test]
    fn what_begins_no_name_is_refused() {
        for text in ["", ".", ".com", "com:example", "com.*", "a b"] {
            assert!(Prefix::read(text, Format::Maven).is_err(), "{text}");
        }
    }
}
