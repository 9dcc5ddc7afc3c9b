//! The specification of a configuration key, from which it is read, checked and described.

/// A key of the configuration.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeySpec {
    pub(super) section: &'static str,
    pub(super) name: &'static str,
    /// `section.name`.
    pub(super) path: &'static str,
    pub(super) doc: &'static str,
    /// The form of its value, for messages.
    pub(super) expects: &'static str,
    /// Whether its value is a string in the file.
    pub(super) quoted: bool,
    /// Whether its value may also be of the other form.
    pub(super) either: bool,
    /// The smallest and the largest value of a number.
    pub(super) limits: Option<(u64, u64)>,
}

impl KeySpec {
    /// The variable that sets it: `DAYLIGHT_SECTION_KEY`, or `DAYLIGHT_SECTION_SUBSECTION_KEY`.
    pub(super) fn variable(&self) -> String {
        format!("DAYLIGHT_{}_{}", self.section, self.name).replace('.', "_").to_uppercase()
    }

    /// The form of its value with the limits, for messages.
    pub(super) fn expected(&self) -> String {
        match self.limits {
            Some((low, high)) => format!("{} from {low} to {high}", self.expects),
            None => self.expects.to_owned(),
        }
    }
}
