//! The names that several members of a group of gems have, as `repo show` and `repo set --preview` tell of them.

use super::{REPOSITORIES, decode};
use crate::cli::api::Api;
use crate::cli::context::Context;
use crate::cli::failure::plain;
use crate::cli::table;
use format::percent::segment;
use repository::{ClaimedOver, OwnerChanges};
use serde::Deserialize;
use serde_json::Value;

/// Names of one call.
const PAGE: usize = 1_000;
/// The most waiting names that are shown, and the most of the other names.
const SHOWN: usize = 10;

/// An answer of the API, or the part of one that was asked for.
#[derive(Debug, Deserialize)]
struct Collisions {
    names: u64,
    waiting: u64,
    unknown: Vec<String>,
    collisions: Vec<Collision>,
}

#[derive(Debug, Deserialize)]
struct Collision {
    name: String,
    owner: String,
    because: String,
    members: Vec<String>,
    waiting: Vec<String>,
}

/// All names that several members of a group have, as the API lists them, in one object.
pub(super) fn all(api: &Api, group: &str) -> anyhow::Result<Value> {
    let path = format!("{REPOSITORIES}/{}/collisions?limit={PAGE}", segment(group));
    let (mut all, mut rows) = (Value::Null, Vec::new());
    api.pages(&path, |page| {
        rows.extend(page["collisions"].as_array().cloned().unwrap_or_default());
        let next = page["next"].as_str().map(str::to_owned);
        if all.is_null() {
            all = page;
        }
        Ok(next)
    })?;
    all["collisions"] = rows.into();
    if let Some(all) = all.as_object_mut() {
        all.remove("next");
    }
    Ok(all)
}

/// Shows the names that several members of a group have: how many there are, the first ones, and the commands that decide waiting names.
pub(super) fn show(api: &Api, group: &str, context: &mut Context<'_>) -> anyhow::Result<()> {
    let path = format!("{REPOSITORIES}/{}/collisions?limit={SHOWN}", segment(group));
    let Collisions { names, waiting, unknown, collisions } = decode(api.get(&path)?)?;
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        writeln!(context.out, "indexes not fetched yet: {}", plain(&unknown))?;
    }
    writeln!(context.out, "names in several members: {names}")?;
    if names == 0 {
        return Ok(());
    }
    let rows = collisions.into_iter().map(|one| [one.name, one.owner, one.because, one.members.join(", ")]);
    table::write(context.out, ["NAME", "OWNER", "BECAUSE", "MEMBERS"], rows.collect())?;
    if waiting == 0 {
        return Ok(());
    }
    writeln!(context.out, "names that wait for a decision: {waiting}")?;
    let Collisions { collisions, .. } = decode(api.get(&format!("{path}&waiting=true"))?)?;
    for Collision { name, owner, waiting, .. } in collisions {
        let (name, owner) = (plain(&name), plain(&owner));
        for member in &waiting {
            let member = plain(member);
            writeln!(
                context.out,
                "`{name}` belongs to `{owner}`, and `{member}` lists it, too: `daylight repo set {member} --claim {name}` gives it to \
                 `{member}`, `daylight repo set {owner} --claim {name}` keeps it with `{owner}`"
            )?;
        }
    }
    Ok(())
}

/// Says which versions of upstreams new claims of the repository hide in its groups.
pub(super) fn tell_claimed_over(answer: &Value, repository: &str, context: &mut Context<'_>) -> anyhow::Result<()> {
    let Some(all) = answer.get("claimed_over") else { return Ok(()) };
    for ClaimedOver { name, group, repository: of, versions } in decode::<Vec<ClaimedOver>>(all.clone())? {
        let [name, group, of] = [&name, &group, &of].map(|text| plain(text));
        writeln!(
            context.err,
            "`{name}`: the {versions} versions of `{of}` are not in `{group}` any more; to have your build beside them instead: \
             `daylight repo set {group} --shared {name}` and `daylight repo set {repository} --unclaim {name}`"
        )?;
    }
    Ok(())
}

/// Shows what a change of settings would do.
pub(super) fn preview(changes: OwnerChanges, context: &mut Context<'_>) -> anyhow::Result<()> {
    let OwnerChanges { count, names } = changes;
    if count == 0 {
        return Ok(());
    }
    let listed = names.len();
    let rows = names
        .into_iter()
        .map(|one| [one.name, one.group, one.before, one.after.unwrap_or_else(|| "nobody".to_owned())]);
    table::write(context.out, ["NAME", "GROUP", "OWNER", "THEN"], rows.collect())?;
    let first = if count > listed { format!("; the first {listed} are shown") } else { String::new() };
    Ok(writeln!(context.err, "gem names that would belong to another member: {count}{first}")?)
}
