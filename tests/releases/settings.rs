//! Settings that are gone, or take less than before.

use super::names::gone;
use serde_json::Value;
use std::collections::BTreeSet;

/// Compares two lists of settings.
pub(super) fn narrowed(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let keys = now["keys"].as_object().unwrap();
    for (name, was) in before["keys"].as_object().unwrap() {
        // An old name that is accepted is as good.
        let found_as = keys.get(name).or_else(|| keys.values().find(|key| key["formerly"] == name.as_str()));
        let Some(is) = found_as else {
            found.push(format!("the setting `{name}` is gone"));
            continue;
        };
        if is["variable"] != was["variable"] && keys.contains_key(name) {
            found.push(format!("the setting `{name}` has another variable than {}", was["variable"]));
        }
        found.extend(form(name, &was["expects"], &is["expects"]));
        found.extend(limits(name, &was["limits"], &is["limits"]));
        if was["formerly"].is_string() && is["formerly"] != was["formerly"] {
            found.push(format!("the former name {} of the setting `{name}` is gone", was["formerly"]));
        }
    }
    found.extend(gone("the key of tables", &before["keys of tables"], &now["keys of tables"]));
    found.extend(gone("the variable", &before["variables"], &now["variables"]));
    found
}

/// The words of a closed list, such as "`text` or `json`". `None`: the form is another one.
fn words(expects: &str) -> Option<BTreeSet<&str>> {
    let outside: String = expects.split('`').step_by(2).collect();
    let is_list = outside.split([' ', ',']).all(|word| ["", "or"].contains(&word));
    (is_list && expects.contains('`')).then(|| expects.split('`').skip(1).step_by(2).collect())
}

/// The form without its examples, which are not promised.
fn plain(expects: &str) -> &str {
    expects.split(", such as ").next().unwrap_or_default()
}

fn form(name: &str, was: &Value, is: &Value) -> Vec<String> {
    let (was, is) = (was.as_str().unwrap(), is.as_str().unwrap());
    match (words(was), words(is)) {
        (Some(before), Some(now)) => {
            let lost = before.difference(&now);
            lost.map(|word| format!("the setting `{name}` no longer takes `{word}`")).collect()
        }
        _ if plain(was) == plain(is) => Vec::new(),
        _ => vec![format!("the setting `{name}` takes another form than {}", plain(was))],
    }
}

fn limits(name: &str, was: &Value, is: &Value) -> Vec<String> {
    let (Some(low), Some(high)) = (is[0].as_u64(), is[1].as_u64()) else { return Vec::new() };
    let (least, most) = (was[0].as_u64().unwrap_or(0), was[1].as_u64().unwrap_or(u64::MAX));
    let mut found = Vec::new();
    if low > least {
        found.push(format!("the setting `{name}` no longer takes values below {low}"));
    }
    if high < most {
        found.push(format!("the setting `{name}` no longer takes values above {high}"));
    }
    found
}
