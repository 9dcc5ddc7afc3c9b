//! Keys of former versions. A configuration that sets one still loads, with a warning.

use super::key;

/// The section and the name of each.
const RETIRED: [(&str, &str); 1] = [("upstream", "rubygems")];

/// Whether a key in the file is one.
pub(super) fn is_key(section: &str, name: &str) -> bool {
    RETIRED.contains(&(section, name))
}

/// Whether a variable of the environment sets one.
pub(super) fn is_variable(variable: &str) -> bool {
    RETIRED.iter().any(|(section, name)| key::variable(section, name) == variable)
}

/// The warning about one, set at this place.
pub(super) fn warning(place: &str, name: &str) -> String {
    format!("{place}: `{name}` is ignored: it has no effect any more, so leave it out")
}
