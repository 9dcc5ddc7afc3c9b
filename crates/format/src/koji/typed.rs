//! Makes values of Koji from the rows of answers. Members that a row need not have may be missing.

use crate::koji::answer::{Build, Fault, Listing};
use crate::koji::model::{Archive, BuildId, BuildState, EventId, FileDigest, KojiEvent, Nvr, Tag, TagId, TaggedBuild};
use crate::koji::row::Row;
use crate::koji::unreadable::Why;

/// The most characters of a fault that are kept.
pub(super) const FAULT_CHARACTERS: usize = 300;

pub(super) fn event(row: &Row) -> Result<KojiEvent, Why> {
    let at_ms = row.moment("ts").ok_or(Why::Member("ts"))?;
    Ok(KojiEvent { id: EventId(row.id("id")?), at_ms })
}

pub(super) fn tag(row: &Row) -> Result<Tag, Why> {
    let name = row.label("name").ok_or(Why::Member("name"))?;
    Ok(Tag { id: TagId(row.id("id")?), name })
}

pub(super) fn archive(row: &Row) -> Result<Archive, Why> {
    // The columns are named `maven_group_id` for a tag and `group_id` for a build.
    let maven = |of_tag: &str, of_build: &str| row.text(of_tag).map_or_else(|| row.words(of_build), str::to_owned);
    let size = row.int("size").and_then(|size| u64::try_from(size).ok());
    let digest = digest(row.int("checksum_type"), row.text("checksum"));
    Ok(Archive {
        id: row.id("id")?,
        build: BuildId(row.id("build_id")?),
        group: maven("maven_group_id", "group_id"),
        artifact: maven("maven_artifact_id", "artifact_id"),
        version: maven("maven_version", "version"),
        filename: row.words("filename"),
        size_bytes: size.unwrap_or(0),
        // A file of unknown size cannot be checked either.
        digest: size.and(digest),
        metadata_only: row.is("metadata_only"),
    })
}

pub(super) fn tagged(row: &Row, asked: TagId) -> Result<TaggedBuild, Why> {
    Ok(TaggedBuild {
        id: build_id(row)?,
        nvr: nvr(row),
        volume: volume(row),
        state: state(row.int("state")),
        tag: row.id("tag_id").map(TagId).unwrap_or(asked),
        tag_name: row.label("tag_name").unwrap_or_default(),
        tagged: EventId(row.id("create_event")?),
        completed_ms: row.moment("completion_ts").or_else(|| row.text("completion_time").and_then(time)),
        owner: row.label("owner_name"),
    })
}

pub(super) fn build(row: &Row) -> Result<Build, Why> {
    Ok(Build { id: build_id(row)?, nvr: nvr(row), volume: volume(row), state: state(row.int("state")) })
}

pub(super) fn parent(row: &Row) -> Result<TagId, Why> {
    row.id("parent_id").map(TagId)
}

pub(super) fn listing(row: &Row, asked: TagId) -> Result<Listing, Why> {
    let event = |id: i64, ts: &str| {
        let id = EventId(u64::try_from(id).map_err(|_| Why::Member("revoke_event"))?);
        Ok(KojiEvent { id, at_ms: row.moment(ts).unwrap_or(0) })
    };
    let revoked = row.int("revoke_event").map(|id| event(id, "revoke_ts")).transpose()?;
    Ok(Listing {
        build: BuildId(row.id("build_id")?),
        nvr: nvr(row),
        state: state(row.int("build.state")),
        tag: row.id("tag_id").or_else(|_| row.id("tag.id")).map(TagId).unwrap_or(asked),
        created: KojiEvent { id: EventId(row.id("create_event")?), at_ms: row.moment("create_ts").unwrap_or(0) },
        creator: row.label("creator_name"),
        revoked: revoked.map(|event| (event, row.label("revoker_name"))),
    })
}

/// The newest event of a row of a history.
pub(super) fn newest_event(row: &Row) -> EventId {
    let event = |name| row.id(name).unwrap_or(0);
    EventId(event("create_event").max(event("revoke_event")))
}

/// The fault of a struct that is one.
pub(super) fn fault(row: &Row) -> Option<Fault> {
    let code = row.int("faultCode")?;
    Some(Fault { code, text: cut(row.text("faultString").unwrap_or_default()) })
}

/// The beginning of a fault's text.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(FAULT_CHARACTERS).collect()
}

fn build_id(row: &Row) -> Result<BuildId, Why> {
    row.id("build_id").or_else(|_| row.id("id")).map(BuildId)
}

fn nvr(row: &Row) -> Nvr {
    let name = row.text("name").or_else(|| row.text("package_name")).or_else(|| row.text("package.name"));
    Nvr { name: name.unwrap_or_default().to_owned(), version: row.words("version"), release: row.words("release") }
}

/// Hubs before volumes had one.
fn volume(row: &Row) -> String {
    row.text("volume_name").unwrap_or("DEFAULT").to_owned()
}

fn state(number: Option<i64>) -> BuildState {
    match number {
        Some(0) => BuildState::Building,
        Some(1) => BuildState::Complete,
        Some(2) => BuildState::Deleted,
        Some(3) => BuildState::Failed,
        Some(4) => BuildState::Canceled,
        other => BuildState::Other(other.unwrap_or(-1)),
    }
}

fn digest(kind: Option<i64>, text: Option<&str>) -> Option<FileDigest> {
    let digest = FileDigest::from_hex(text?)?;
    let is = match digest {
        FileDigest::Md5(_) => 0,
        FileDigest::Sha1(_) => 1,
        FileDigest::Sha256(_) => 2,
    };
    (kind? == is).then_some(digest)
}

/// A moment that a hub wrote as a text, such as `2026-01-02 03:04:05.678901+00:00`.
fn time(text: &str) -> Option<i64> {
    let zoned = text.parse::<jiff::Timestamp>().ok();
    let moment = zoned.or_else(|| {
        Some(text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    });
    moment.map(jiff::Timestamp::as_millisecond)
}
