//! What a row of a Koji repository changed, in a few words, for the journal that people read.

use crate::maven::koji::change::{Change, Gone};
use crate::maven::koji::rows::form::{Decoded, KojiRow};
use crate::maven::koji::words::{at, by, name};
use serde_json::Value;
use store::Seq;
use telemetry::Millis;

/// The name of the unit of these rows, without the number of the upstream.
pub(crate) const UNIT: &str = "koji";
/// Most changes that are told of one row.
const TOLD_MAX: usize = 3;

/// The changes of a row. `None`: it says nothing to people, or cannot be read. A build that an earlier row named has its number.
pub(crate) fn told(seen: &Value) -> Option<String> {
    let row: KojiRow = serde_json::from_value(seen.clone()).ok()?;
    let Ok(decoded) = Decoded::of(Seq(0), Millis(0), row) else {
        return Some("more files of the build before".to_owned());
    };
    let all: Vec<String> = decoded.changes.iter().filter_map(one).collect();
    let mut text = all.get(..TOLD_MAX.min(all.len()))?.join("; ");
    if let Some(more) = all.len().checked_sub(TOLD_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("; and {more} more"));
    }
    Some(text).filter(|text| !text.is_empty())
}

fn one(change: &Change) -> Option<String> {
    Some(match change {
        Change::Build(build) => {
            let (number, nvr) = (build.id.0, name(&build.nvr));
            let deleted = if build.deleted { ", which the hub has deleted" } else { "" };
            match build.files.len() {
                1 => format!("build {number} is {nvr}, 1 file{deleted}"),
                files => format!("build {number} is {nvr}, {files} files{deleted}"),
            }
        }
        Change::Facts { build, deleted: true, .. } => format!("the hub has deleted build {}", build.0),
        Change::Facts { build, volume, .. } => format!("build {} is on the volume {volume}", build.0),
        Change::Tagged(of) => {
            let who = by(of.tagged_by.as_deref());
            format!("build {} in {} since {}{who}", of.build.0, of.tag_name, at(of.tagged))
        }
        Change::Gone { build, tag, why, event, by: who } => {
            let since = event.map(|event| format!(" at {}", at(event))).unwrap_or_default();
            let what = match why {
                Gone::Untagged => "was untagged from",
                Gone::Hidden => "is hidden in",
                Gone::Deleted => "was deleted, and is no longer in",
                Gone::TagLeft => "is no longer here with",
            };
            format!("build {} {what} tag {}{since}{}", build.0, tag.0, by(who.as_deref()))
        }
        Change::Past { tagging: of, ended, .. } => {
            format!("build {} was in {} from {} to {}", of.build.0, of.tag_name, at(of.tagged), at(*ended))
        }
        Change::Tag { tag, name } => format!("tag {} is {name}", tag.0),
        Change::Rule { oldest: true } => "of several builds the first one has a version".to_owned(),
        Change::Rule { oldest: false } => "of several builds the one that was tagged last has a version".to_owned(),
        Change::Settled { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maven::koji::change::{MappedBuild, MappedFile, Tagging};
    use crate::maven::koji::rows::form::encode;
    use format::koji::model::{BuildId, EventId, FileDigest, KojiEvent, Nvr, TagId};

    fn words(changes: &[Change]) -> Vec<Option<String>> {
        encode(changes).unwrap().rows.iter().map(told).collect()
    }

    #[test]
    fn a_row_tells_its_build_and_the_first_changes_of_tags() {
        let nvr = Nvr { name: "lamp".into(), version: "1.0".into(), release: "2".into() };
        let file = MappedFile {
            folder: "org/lamp/1.0".into(),
            name: "lamp-1.0.pom".into(),
            size_bytes: 1,
            digest: FileDigest::Md5([7; 16]),
        };
        let (id, volume) = (BuildId(4), "DEFAULT".to_owned());
        let build = Change::Build(MappedBuild { id, nvr, volume, files: vec![file], deleted: false });
        let tagging = Tagging {
            build: id,
            tag: TagId(1),
            tag_name: "release".into(),
            tagged: KojiEvent { id: EventId(6), at_ms: 0 },
            tagged_by: Some("ann".into()),
        };
        let gone = |why| Change::Gone { build: id, tag: TagId(1), why, event: None, by: None };
        let said = words(&[
            build,
            Change::Tagged(tagging),
            Change::Settled { event: EventId(6), seen: EventId(6), full: false },
        ]);
        assert_eq!(
            said,
            [
                Some("build 4 is lamp-1.0-2, 1 file".to_owned()),
                Some("build 4 in release since event 6 by ann".to_owned())
            ]
        );
        assert_eq!(words(&[Change::Settled { event: EventId(6), seen: EventId(6), full: false }]), [None]);
        let many = vec![gone(Gone::Untagged); 5];
        let said: String = words(&many).into_iter().flatten().collect();
        assert!(said.starts_with("build 4 was untagged from tag 1; ") && said.ends_with("; and 2 more"), "{said}");
    }
}
