//! One level of the content of a repository, as its readers see it.

use crate::app::App;
use crate::error::{Error, Result};
use crate::lookup::read_repository::ReadRepository;
use format::tree::media;
use repository::{LevelItem, PageRequest};
use store::RepositoryKind;
use telemetry::Event;
use web::{Browse, BrowseItem, HiddenReason, Moment};

/// The longest path and the longest key after which a level continues, in bytes.
const LONGEST: usize = format::tree::LONGEST + 1;

/// The part of a level, for a caller who may read the repository.
pub(crate) async fn level(
    app: &App,
    read: &ReadRepository,
    part: PageRequest<'_>,
    event: &mut Event,
) -> Result<Browse> {
    if part.path.len() > LONGEST || part.after.len() > LONGEST {
        return Err(Error::Input(format!("a path is at most {LONGEST} bytes long")));
    }
    let repository = &read.repository;
    let found = app.repositories.browse(repository, read.settings(), part, event).await?;
    Ok(Browse {
        repository: repository.record.name.clone(),
        as_of: read.segment.split_once('@').map(|(_, moment)| moment.to_owned()),
        format: repository.format.as_str(),
        kind: repository.record.kind.as_str(),
        path: part.path.trim_matches('/').to_owned(),
        items: found.items.into_iter().map(|item| shown(item, read)).collect(),
        next: found.next,
    })
}

fn shown(item: LevelItem, read: &ReadRepository) -> BrowseItem {
    let is_group = read.repository.record.kind == RepositoryKind::Group;
    let readable = item.members.iter().filter(|member| read.may_read(member));
    let members = readable.map(|member| member.record.name.clone()).collect();
    let (size_bytes, sha1, sha256) = match item.hashes {
        Some(hashes) => (Some(hashes.size_bytes), Some(hashes.sha1), Some(hashes.sha256.to_string())),
        None => (None, None, None),
    };
    BrowseItem {
        name: item.key.trim_end_matches('/').to_owned(),
        folder: item.is_folder,
        media: (!item.is_folder).then(|| media(&item.path)),
        path: item.path,
        package: item.package,
        version: item.version,
        state: item.place.as_str(),
        size_bytes,
        sha1,
        sha256,
        at: item.at.map(|at| Moment(at.to_string())),
        hidden: item
            .hidden
            .map(|why| HiddenReason { reason: why.reason, until: why.until.map(|at| Moment(at.to_string())) }),
        members: is_group.then_some(members),
    }
}
