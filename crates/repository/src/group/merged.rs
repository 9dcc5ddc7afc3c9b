//! A document that is merged from the documents of all members.
//!
//! A member that fails contributes its last document. If it has none, the answer is merged from the other members, is
//! marked as incomplete, and does not become a page, because a later answer may be complete.

use crate::content::{Content, Source};
use crate::content::{Freshness, How, rows_of};
use crate::error::{Error, Result};
use crate::group::gather::{Wait, gather};
use crate::group::member;
use crate::group::member::MemberAnswer;
use crate::group::namespace_guard::GuardedName;
use crate::group::not_found::NotFound;
use crate::group::{Group, is_hosted};
use crate::late_digests::LateDigests;
use crate::repository::Repository;
use crate::tree::document::{Document, LeftOut, MemberDocument};
use crate::tree::file::File;
use crate::upstream::PATIENCE;
use crate::upstream::failure::Failure;
use crate::workers::aside;
use std::collections::HashSet;
use std::sync::Arc;
use store::{Hashes, Lane};
use telemetry::{Event, Millis, Op, Reason};

/// Returns the merged document or its checksum.
pub(crate) async fn fetch(
    group: Group<'_>,
    asked: &File<'_>,
    document: &'static dyn Document,
    now: Millis,
    event: &mut Event,
) -> Result<Content> {
    Ok(merge(group, asked, document, now, event).await?.0)
}

/// Returns the merged document if it has the parts of all members; otherwise the failure of one of them.
pub(crate) async fn fetch_whole(
    group: Group<'_>,
    asked: &File<'_>,
    document: &'static dyn Document,
    now: Millis,
    event: &mut Event,
) -> Result<Content> {
    match merge(group, asked, document, now, event).await? {
        (content, None) => Ok(content),
        (_, Some(failed)) => Err(failed),
    }
}

/// The merged document, and why it lacks parts, if it does.
async fn merge(
    group: Group<'_>,
    asked: &File<'_>,
    document: &'static dyn Document,
    now: Millis,
    event: &mut Event,
) -> Result<(Content, Option<Error>)> {
    let leaves: Vec<_> = group.hosted().chain(group.remote()).collect();
    let (file, checksum) = match asked.checksum() {
        Some((of, checksum)) => (of, Some(checksum)),
        None => (*asked, None),
    };
    let before = event.runs_so_far();
    let guard = group.guard(&file, now, event).await?;
    if !leaves.iter().any(|leaf| guard.blocks(leaf)) {
        event.was_vain_since(&before);
    }
    let gathered = ask_members(group, &leaves, &guard, &file, now, event).await;
    if gathered.parts.is_empty() {
        return Err(gathered.nothing.error(asked.path));
    }
    let (content, failed) = together(group, &file, document, gathered, now, event).await?;
    let Some(checksum) = checksum else { return Ok((content, failed)) };
    let late = LateDigests { workers: &group.context.workers, store: group.store };
    let sum = content.sum(checksum, late, event).await?;
    Ok((sum.ok_or_else(|| Error::NoSuchFile(asked.path.to_owned()))?, failed))
}

/// The documents of the members, in order.
struct Gathered {
    parts: Vec<MemberDocument>,
    nothing: NotFound,
    /// Whether an upstream did not answer in time.
    late: bool,
}

async fn ask_members(
    group: Group<'_>,
    leaves: &[&Arc<Repository>],
    guard: &GuardedName<'_>,
    file: &File<'_>,
    now: Millis,
    event: &mut Event,
) -> Gathered {
    let asked: Vec<_> = leaves.iter().copied().filter(|leaf| !guard.blocks(leaf)).collect();
    event.more_mut().sized(asked.len());
    let hosted = asked.iter().filter(|leaf| is_hosted(leaf)).count();
    let all = asked.iter().map(|leaf| group.ask(leaf, file, now));
    let has = |answer: &MemberAnswer| answer.content.is_ok();
    // The answers of late members are cached for later requests.
    let late = |at: usize| group.upstream(asked[at]).see_through(file.path);
    let wait = Wait { width: group.remotes.width, patience: PATIENCE, surely: hosted };
    let asking = gather(all, asked.len(), wait, has, late);
    let mut answers = event.during(Op::MembersAsk, asking).await.into_iter();
    let mut gathered = Gathered { parts: Vec::new(), nothing: NotFound::default(), late: false };
    for leaf in leaves {
        if guard.blocks(leaf) {
            event.absorb(guard.blocked_record(leaf));
            gathered.nothing.guarded = guard.for_clients(group);
            continue;
        }
        let Some(answer) = answers.next().flatten() else {
            event.absorb(member::late(leaf, PATIENCE));
            gathered.late = true;
            continue;
        };
        event.absorb(answer.record);
        match answer.content {
            Ok(content) => gathered.parts.push(MemberDocument {
                member: leaf.record.name.clone(),
                hosted: is_hosted(leaf),
                content,
            }),
            Err(error) => gathered.nothing.add(error, &answer.detail, event),
        }
    }
    gathered
}

/// Merges the documents. A single document is returned unchanged if nothing in it is guarded.
async fn together(
    group: Group<'_>,
    file: &File<'_>,
    document: &'static dyn Document,
    Gathered { parts, nothing, late }: Gathered,
    now: Millis,
    event: &mut Event,
) -> Result<(Content, Option<Error>)> {
    let failed = nothing.failed.or_else(|| late.then(|| Failure::late().into()));
    let first = parts.first().ok_or(Error::GivenUp)?.content.clone();
    let untils = parts
        .iter()
        .filter_map(|part| part.content.fresh_until)
        .chain(nothing.missing_until)
        .chain(nothing.hidden_until);
    let until = untils.min();
    let said: Vec<Freshness> = parts.iter().filter_map(|part| part.content.freshness).collect();
    let is_hosted = parts.iter().all(|part| part.hosted);
    let sizes = parts.iter().filter_map(|part| part.content.hashes.as_ref()).map(|known| known.size_bytes);
    let bytes = sizes.sum::<u64>();
    let (parts, merging) = (Arc::new(parts), group.merging.clone());
    let hold = move || merging.hold(bytes.min(document.longest_together() as u64)).map_err(store::Error::from);
    let guarded = match is_hosted || group.hosted().next().is_none() {
        true => HashSet::new(),
        false => {
            let before = event.runs_so_far();
            let guarded = if document.is_rendered() {
                let (parts, hold) = (parts.clone(), hold.clone());
                let list = move || hold().map(|_held| document.listed(&parts)).map_err(Error::from);
                let listed = aside(&group.context.workers, Lane::Index, Op::Merge, rows_of(bytes), event, list).await?;
                group.guarded_among(document, listed, now, event).await?
            } else {
                group.guarded_below(document, file.folder, event).await?
            };
            if guarded.is_empty() {
                event.was_vain_since(&before);
            }
            guarded
        }
    };
    let is_one = parts.len() == 1 && guarded.is_empty() && (is_hosted || !document.is_rendered());
    let (content, lacks) = if is_one {
        (first, None)
    } else {
        let folder = file.folder.to_owned();
        let merge = move || {
            let _held = hold()?;
            let merged = document.merge(&folder, &parts, &guarded);
            Ok(merged.map(|merged| (Hashes::of(&merged.bytes), merged)))
        };
        let before = event.runs_so_far();
        match aside(&group.context.workers, Lane::Index, Op::Merge, rows_of(bytes), event, merge).await? {
            Some((hashes, merged)) => {
                // No other member has anything that the first one lacks.
                if first.hashes.as_ref().is_some_and(|first| first.sha256 == hashes.sha256) {
                    event.was_vain_since(&before);
                }
                merged.left_out.iter().for_each(|left_out| tell(event, left_out));
                let (source, hashes) = (Source::Memory(merged.bytes), Some(hashes));
                (Content { source, hashes, ..first }, merged.left_out.first().map(|left_out| left_out.reason))
            }
            // If the documents cannot be merged, the answer is that of the first member.
            None => (first, Some(Reason::TooLarge)),
        }
    };
    let reason = failed.as_ref().map(Error::reason).or(lacks);
    let failed = failed.or_else(|| lacks.map(lacking));
    let content = Content {
        // The document of another member may have an earlier date. A client that compares dates would take the new
        // answer for unchanged.
        modified: None,
        lasting: false,
        fresh_until: if reason.is_some() { Some(now) } else { until },
        freshness: freshness(&said, reason),
        ..content
    };
    Ok((content, failed))
}

/// The error where the whole document is needed, and a part of it is missing for this reason.
fn lacking(reason: Reason) -> Error {
    match reason {
        Reason::TooLarge => Error::Unsupported("the documents of the members are too large to be merged".into()),
        _ => Failure::new(reason, "the document of a member cannot be merged".into()).into(),
    }
}

/// Records what the merged document lacks of the document of a member.
fn tell(event: &mut Event, left_out: &LeftOut) {
    if let Some(record) = event.members.iter_mut().find(|record| record.member == left_out.member) {
        let and = if record.detail.is_empty() { "" } else { "; " };
        record.detail += &format!("{and}{}", left_out.text);
    }
}

/// The most expensive way in which a part was obtained, and the age of the oldest part.
fn freshness(parts: &[Freshness], lacks: Option<Reason>) -> Option<Freshness> {
    let rank = |how: &How| match how {
        How::Kept => 0,
        How::Confirmed => 1,
        How::Fetched => 2,
        How::Stale(_) => 3,
    };
    let how = lacks.map(How::Stale).or_else(|| parts.iter().map(|part| part.how).max_by_key(rank))?;
    Some(Freshness { how, age_s: parts.iter().map(|part| part.age_s).max().unwrap_or(0) })
}
