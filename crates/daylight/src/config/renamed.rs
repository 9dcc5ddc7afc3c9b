//! Keys that have a new name. The old name is accepted with a warning, so that a server starts after an upgrade.

use super::key::KeySpec;

/// The old and the new name of a key, both as `section.key`, in the same section.
struct Renamed {
    old: &'static str,
    new: &'static str,
}

const RENAMED: &[Renamed] = &[
    Renamed { old: "telemetry.events_max_bytes", new: "telemetry.json_lines_file_bytes" },
    Renamed { old: "telemetry.events_files", new: "telemetry.json_lines_files" },
];

/// The key whose old name this is.
pub(super) fn key_of<'k>(keys: &'k [KeySpec], old: &str) -> Option<&'k KeySpec> {
    let renamed = RENAMED.iter().find(|renamed| renamed.old == old)?;
    keys.iter().find(|key| key.path == renamed.new)
}

/// The variable that set this key under its old name.
pub(super) fn old_variable(key: &KeySpec) -> Option<String> {
    RENAMED.iter().find(|renamed| renamed.new == key.path).map(|renamed| variable(renamed.old))
}

/// The old name of a key, as `section.key`.
pub(super) fn old_name(key: &KeySpec) -> Option<&'static str> {
    RENAMED.iter().find(|renamed| renamed.new == key.path).map(|renamed| renamed.old)
}

/// The key that a variable sets by its old name.
pub(super) fn key_of_variable<'k>(keys: &'k [KeySpec], name: &str) -> Option<&'k KeySpec> {
    let renamed = RENAMED.iter().find(|renamed| variable(renamed.old) == name)?;
    key_of(keys, renamed.old)
}

/// The warning about an old name.
pub(super) fn warning(place: &str, old: &str, new: &str) -> String {
    format!("{place}: `{old}` has a new name: write `{new}`")
}

fn variable(path: &str) -> String {
    format!("DAYLIGHT_{}", path.replace('.', "_")).to_uppercase()
}
