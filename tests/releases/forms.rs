//! Forms of the data folder that a version no longer reads, or from which the way back is closed.

use super::{may_remove, names::gone};
use serde_json::Value;

/// Compares the forms of two versions. Each reads all earlier forms, and compatible versions have the same, so that an upgrade between them
/// can be taken back.
pub(super) fn narrowed(before: &Value, now: &Value) -> Vec<String> {
    let mut found = gone("the feature", &before["features"], &now["features"]);
    let compatible = !may_remove(before["version"].as_str().unwrap(), now["version"].as_str().unwrap());
    for (part, was) in before["on_disk_form"].as_object().unwrap() {
        let (was, is) = (was.as_u64().unwrap(), now["on_disk_form"][part].as_u64().unwrap_or(0));
        if is < was {
            found.push(format!("the form {was} of the {part} is no longer read"));
        } else if is > was && compatible {
            found.push(format!(
                "the form {was} of the {part} became {is}, so the release before cannot open the folder"
            ));
        }
    }
    found
}
