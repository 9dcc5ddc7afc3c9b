//! The names that stay with a repository although nothing of them is left, in the answers of the calls that remove something.

use repository::KeptName;
use serde_json::{Value, json};

/// The answer with these names, and the commands that give them back to upstreams.
pub(super) fn with_kept_names(mut answer: Value, kept: &[KeptName]) -> Value {
    let one =
        |kept: &KeptName| json!({ "name": kept.name, "group": kept.group.record.name, "commands": kept.commands });
    answer["kept_names"] = kept.iter().map(one).collect();
    answer
}
