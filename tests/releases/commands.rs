//! Commands, flags and arguments that are gone, or take less than before.

use serde_json::Value;

/// Compares two descriptions of the command line.
pub(super) fn narrowed(before: &Value, now: &Value) -> Vec<String> {
    let (before, now) = (&before["commands"], &now["commands"]);
    let mut found = Vec::new();
    for (name, was) in before.as_object().unwrap() {
        // The flags of a removed command go with it.
        match now.get(name) {
            None if above(name).is_some_and(|above| now.get(above).is_none()) => {}
            None if is_alias(name, now) => {}
            None => found.push(format!("`{name}` is gone")),
            Some(is) if was.get("alone").is_some() => found.extend(command(name, was, is)),
            Some(is) => found.extend(argument(name, was, is)),
        }
    }
    for (name, is) in now.as_object().unwrap() {
        let known = above(name).is_some_and(|above| before.get(above).is_some());
        if known && before.get(name).is_none() && is["required"] == true {
            found.push(format!("`{name}` is required"));
        }
    }
    found
}

/// Whether another command or flag has this name besides its own.
fn is_alias(name: &str, now: &Value) -> bool {
    let Some((above, last)) = name.rsplit_once(' ') else { return false };
    let beside =
        now.as_object().unwrap().iter().filter(|(other, _)| other.rsplit_once(' ').is_some_and(|(of, _)| of == above));
    let is = |alias: &Value| alias.as_str() == Some(last.trim_start_matches('-'));
    beside.into_iter().any(|(_, form)| all(&form["aliases"]).iter().any(is))
}

/// The command that this is below: of `daylight repo add --member`, `daylight repo add`.
fn above(name: &str) -> Option<&str> {
    name.rsplit_once(' ').map(|(above, _)| above)
}

fn command(name: &str, was: &Value, is: &Value) -> Vec<String> {
    let mut found = lost(name, "has no longer the alias", &was["aliases"], &is["aliases"]);
    if was["alone"] == true && is["alone"] == false {
        found.push(format!("`{name}` needs a command below it"));
    }
    found
}

fn argument(name: &str, was: &Value, is: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if was["short"].is_string() && is["short"] != was["short"] {
        found.push(format!("`{name}` has no longer the short form `-{}`", was["short"].as_str().unwrap()));
    }
    found.extend(lost(name, "has no longer the alias", &was["aliases"], &is["aliases"]));
    found.extend(takes(name, &was["takes"], &is["takes"]));
    match (all(&was["values"]).is_empty(), all(&is["values"]).is_empty()) {
        (true, false) => found.push(format!("`{name}` takes certain values only")),
        (false, false) => found.extend(lost(name, "no longer takes", &was["values"], &is["values"])),
        (_, true) => {}
    }
    if is["default"] != was["default"] {
        found.push(format!("`{name}` has another default than {}", was["default"]));
    }
    if was["required"] == false && is["required"] == true {
        found.push(format!("`{name}` is required"));
    }
    if was["repeated"] == true && is["repeated"] == false {
        found.push(format!("`{name}` can no longer be repeated"));
    }
    if was["separator"] != is["separator"] {
        found.push(format!("`{name}` has another separator of values than {}", was["separator"]));
    }
    found.extend(lost(name, "cannot be used with", &is["excludes"], &was["excludes"]));
    found
}

/// How many values a flag takes: null for a switch, otherwise the fewest and the most.
fn takes(name: &str, was: &Value, is: &Value) -> Option<String> {
    let most = |count: &Value| count[1].as_u64().unwrap_or(u64::MAX);
    let narrowed = match (was.is_null(), is.is_null()) {
        (true, true) => false,
        (false, false) => is[0].as_u64() > was[0].as_u64() || most(is) < most(was),
        // A switch may get a value that can be left out.
        (true, false) => is[0] != 0,
        (false, true) => true,
    };
    narrowed.then(|| format!("`{name}` takes another number of values than {was}"))
}

fn all(list: &Value) -> &[Value] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The members of a list that are not in another.
fn lost(name: &str, what: &str, before: &Value, now: &Value) -> Vec<String> {
    let lost = all(before).iter().filter(|value| !all(now).contains(value));
    lost.map(|value| format!("`{name}` {what} `{}`", value.as_str().unwrap_or_default())).collect()
}
