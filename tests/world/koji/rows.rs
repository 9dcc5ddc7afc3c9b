//! The rows of a hub's answers, with all the members that a hub gives them.

use super::model::{Archive, Build, Life, Link, Listing, Model, Package, Tag};
use super::views::Parent;
use jiff::Timestamp;
use serde_json::{Value, json};

/// When each build began and ended.
const BEGUN: f64 = 1_767_322_800.0;
const COMPLETED: f64 = 1_767_322_860.0;

/// A moment as the hub writes it.
fn text(at: f64) -> String {
    let at = Timestamp::from_microsecond((at * 1e6) as i64).unwrap();
    let fraction = if at.subsec_nanosecond() == 0 { "" } else { ".%6f" };
    at.strftime(&format!("%Y-%m-%d %H:%M:%S{fraction}+00:00")).to_string()
}

/// Adds the members of one struct to another.
fn with(mut row: Value, more: Value) -> Value {
    let Value::Object(more) = more else { unreachable!() };
    row.as_object_mut().unwrap().extend(more);
    row
}

pub(super) fn tag(tag: &Tag) -> Value {
    json!({
        "id": tag.id, "name": tag.name, "arches": "", "locked": false, "maven_include_all": false,
        "maven_support": true, "perm": null, "perm_id": null,
    })
}

/// What lists of tagged builds and facts of a build share.
fn known(model: &Model, build: &Build) -> Value {
    let package = model.builds.iter().position(|known| known.name == build.name).unwrap() + 1;
    let volume = model.volumes.iter().position(|known| *known == build.volume).unwrap();
    json!({
        "id": build.id, "build_id": build.id, "name": build.name, "version": build.version, "release": build.release,
        "nvr": build.nvr(), "epoch": null, "state": build.state, "task_id": null, "draft": false,
        "volume_id": volume, "volume_name": build.volume, "package_id": package, "package_name": build.name,
        "owner_id": 1, "owner_name": "admin", "promoter_id": null, "promoter_name": null, "promotion_time": null,
        "creation_event_id": build.created, "creation_time": text(model.events[&build.created]),
        "start_time": text(BEGUN), "completion_time": text(COMPLETED),
    })
}

pub(super) fn tagged(model: &Model, build: &Build, row: &Listing, maven: bool) -> Value {
    let name = &model.tags.iter().find(|tag| tag.id == row.tag).unwrap().name;
    let row = json!({ "tag_id": row.tag, "tag_name": name, "create_event": row.life.created });
    let row = with(known(model, build), row);
    if !maven {
        return row;
    }
    let [group, artifact, version] = &build.maven;
    with(row, json!({ "maven_group_id": group, "maven_artifact_id": artifact, "maven_version": version }))
}

pub(super) fn build(model: &Model, build: &Build) -> Value {
    let [group, artifact, version] = &build.maven;
    let coordinates = json!({ "group_id": group, "artifact_id": artifact, "version": version });
    let more = json!({
        "cg_id": 1, "cg_name": "lamps", "source": "none", "promotion_ts": null, "start_ts": BEGUN,
        "completion_ts": COMPLETED, "creation_ts": model.events[&build.created],
        "extra": { "typeinfo": { "maven": coordinates } },
    });
    with(known(model, build), more)
}

pub(super) fn maven_build(build: &Build) -> Value {
    let [group, artifact, version] = &build.maven;
    json!({ "build_id": build.id, "group_id": group, "artifact_id": artifact, "version": version })
}

/// What all lists of archives share.
fn archived(archive: &Archive) -> Value {
    let (kind, checksum) = archive.checksum();
    json!({
        "id": archive.id, "build_id": archive.build, "buildroot_id": null, "filename": archive.filename,
        "size": archive.bytes.len(), "checksum": checksum, "checksum_type": kind,
        "metadata_only": archive.metadata_only, "type_id": if archive.filename.ends_with(".pom") { 3 } else { 1 },
    })
}

pub(super) fn tagged_archive(archive: &Archive, maven: bool, extra: bool) -> Value {
    let mut row = with(archived(archive), json!({ "btype": "maven", "btype_id": 2 }));
    if maven {
        let [group, artifact, version] = &archive.maven;
        let names = json!({ "maven_group_id": group, "maven_artifact_id": artifact, "maven_version": version });
        row = with(row, names);
    }
    if extra {
        row["extra"] = Value::Null;
    }
    row
}

pub(super) fn archive(archive: &Archive, maven: bool) -> Value {
    let is_pom = archive.filename.ends_with(".pom");
    let more = json!({
        "btype": "maven", "btype_id": 2, "extra": null, "compression_type": if is_pom { json!(null) } else { json!("zip") },
        "type_name": if is_pom { "pom" } else { "jar" }, "type_description": "A file", "type_extensions": "jar war",
    });
    let row = with(archived(archive), more);
    if !maven {
        return row;
    }
    let [group, artifact, version] = &archive.maven;
    with(row, json!({ "group_id": group, "artifact_id": artifact, "version": version }))
}

pub(super) fn latest(model: &Model, archive: &Archive, build: &Build, row: &Listing) -> Value {
    let [group, artifact, version] = &archive.maven;
    let place = tagged(model, build, row, false);
    let more = json!({
        "extra": null, "group_id": group, "artifact_id": artifact, "version": version, "build_epoch": null,
        "build_name": build.name, "build_version": build.version, "build_release": build.release, "owner": 1,
        "pkg_id": place["package_id"], "state": build.state, "task_id": null, "tag_id": row.tag,
        "tag_name": place["tag_name"], "tag_event": row.life.created, "volume_id": place["volume_id"],
        "volume_name": build.volume,
    });
    with(archived(archive), more)
}

pub(super) fn parent(model: &Model, parent: &Parent<'_>) -> Value {
    let link = parent.link;
    let name = &model.tags.iter().find(|tag| tag.id == link.parent).unwrap().name;
    json!({
        "parent_id": link.parent, "name": name, "child_id": link.child, "priority": link.priority, "maxdepth": null,
        "intransitive": false, "noconfig": false, "pkg_filter": "", "nextdepth": null, "currdepth": parent.depth,
        "filter": [],
    })
}

/// What all rows of history share.
fn lived(model: &Model, tag: u64, life: Life, after: Option<u64>) -> Value {
    let name = &model.tags.iter().find(|known| known.id == tag).unwrap().name;
    let ended = |value: Value| if life.revoked.is_some() { value } else { Value::Null };
    let mut row = json!({
        "tag_id": tag, "tag.name": name, "active": if life.revoked.is_some() { Value::Null } else { json!(true) },
        "create_event": life.created, "create_ts": model.events[&life.created], "creator_id": 1,
        "creator_name": "admin", "revoke_event": life.revoked,
        "revoke_ts": life.revoked.map(|event| model.events[&event]), "revoker_id": ended(json!(1)),
        "revoker_name": ended(json!("admin")),
    });
    if let Some(after) = after {
        row["_created_after_event"] = json!(life.created > after);
        row["_revoked_after_event"] = json!(life.revoked.map(|revoked| revoked > after));
    }
    row
}

pub(super) fn listing(model: &Model, row: &Listing, after: Option<u64>) -> Value {
    let build = model.build(row.build);
    let more = json!({
        "build_id": build.id, "name": build.name, "version": build.version, "release": build.release, "epoch": null,
        "build.state": build.state,
    });
    with(lived(model, row.tag, row.life, after), more)
}

pub(super) fn package(model: &Model, row: &Package, after: Option<u64>) -> Value {
    let id = model.builds.iter().position(|known| known.name == row.name).map(|at| at + 1);
    let more = json!({ "package_id": id, "package.name": row.name, "blocked": row.blocked, "extra_arches": null });
    with(lived(model, row.tag, row.life, after), more)
}

/// A package's owner has a row of the same life.
pub(super) fn owner(model: &Model, row: &Package, after: Option<u64>) -> Value {
    let id = model.builds.iter().position(|known| known.name == row.name).map(|at| at + 1);
    let more = json!({ "package_id": id, "package.name": row.name, "owner": 1, "owner.name": "admin" });
    with(lived(model, row.tag, row.life, after), more)
}

pub(super) fn link(model: &Model, row: &Link, after: Option<u64>) -> Value {
    let name = &model.tags.iter().find(|tag| tag.id == row.parent).unwrap().name;
    let more = json!({
        "parent_id": row.parent, "parent.name": name, "priority": row.priority, "maxdepth": null,
        "intransitive": false, "noconfig": false, "pkg_filter": "",
    });
    with(lived(model, row.child, row.life, after), more)
}

pub(super) fn config(model: &Model, row: &Tag, after: Option<u64>) -> Value {
    let more = json!({
        "arches": "", "locked": false, "maven_include_all": false, "maven_support": true, "perm_id": null,
        "permission.name": null,
    });
    with(lived(model, row.id, row.life, after), more)
}

/// Whether a name is like a pattern of `*` and `?`. Case does not matter, nor do brackets.
pub(super) fn like(pattern: &str, name: &str) -> bool {
    fn matches(pattern: &[char], name: &[char]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some(('*', rest)), _) => (0..=name.len()).any(|at| matches(rest, &name[at..])),
            (Some((wanted, rest)), Some((found, after))) => (*wanted == '?' || wanted == found) && matches(rest, after),
            _ => false,
        }
    }
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    matches(&letters(pattern), &letters(name))
}
