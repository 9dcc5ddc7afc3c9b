//! Joins the matches of all repositories, in order, and describes the ones that are shown.

use crate::browse::tree::why_cached_is_hidden;
use crate::browse::{HiddenItem, ItemPlace};
use crate::error::Result;
use crate::face::Face;
use crate::formats::face;
use crate::package::standing::Standing;
use crate::repositories::Repositories;
use crate::repositories::packages::PackagesAsk;
use crate::repositories::packages::package_rows;
use crate::repository::Repository;
use crate::search::index::{NameSource, NamesNow};
use crate::search::names::{Names, Place};
use crate::search::query::{Rank, SearchQuery, Word};
use crate::services::Services;
use crate::visible::shown;
use crate::workers::aside;
use std::sync::Arc;
use store::{Hashes, Lane, RepositoryKind, Stamp};
use telemetry::{Event, Op};

/// About as many bytes of names are searched in the time of a thread switch.
const BYTES_OF_A_ROW: u64 = 1_000;

/// A part of the answers to a search.
#[derive(Debug, Clone, Copy)]
pub struct SearchRequest<'a> {
    /// The text after it was read.
    pub query: &'a SearchQuery,
    /// The `next` of the part before; empty: this is the first part.
    pub after: &'a str,
    /// The most answers.
    pub limit: usize,
}

/// The answers to a search.
#[derive(Debug, Default)]
pub struct SearchAnswer {
    /// The number of all answers, in all parts.
    pub count: u64,
    /// The answers of this part, the best first.
    pub hits: Vec<SearchHit>,
    /// Where the next part begins; `None`: this is the last one.
    pub next: Option<String>,
    /// The repositories of which not all names were searched, because they are still being read.
    pub building: Vec<Arc<Repository>>,
}

/// A package or a file that was found.
#[derive(Debug, Clone)]
pub struct SearchHit {
    /// Its repository.
    pub repository: Arc<Repository>,
    /// `G:A`, the name of a gem, or the path of a file.
    pub name: String,
    /// The package, if it is one or belongs to one.
    pub package: Option<String>,
    /// The path of the file, if it is one.
    pub path: Option<String>,
    /// Where its bytes are.
    pub place: ItemPlace,
    /// The latest version that clients get; of a file its version.
    pub version: Option<String>,
    /// Why clients get no version of it, or not the file.
    pub hidden: Option<HiddenItem>,
    /// Of a file: its size and digests.
    pub hashes: Option<Hashes>,
}

/// The matches in all repositories: the number, and the first ones in order, each with the position of its repository.
type Joined = (u64, Vec<(Rank, String, usize)>);

impl Repositories {
    /// Searches these repositories, which the caller may read. The names of a group are those of its members.
    pub async fn search(
        &self,
        readable: &[Arc<Repository>],
        settings: Stamp,
        request: SearchRequest<'_>,
        event: &mut Event,
    ) -> Result<SearchAnswer> {
        let members = readable.iter().filter(|one| one.record.kind != RepositoryKind::Group);
        let mut members: Vec<Arc<Repository>> = members.cloned().collect();
        members.sort_by(|one, other| one.record.name.cmp(&other.record.name));
        match request.query {
            SearchQuery::Digest(digest) => files_of_digest(&self.services, &members, digest, request, event).await,
            SearchQuery::Words(words) => self.named(members, settings, words, request, event).await,
        }
    }

    async fn named(
        &self,
        members: Vec<Arc<Repository>>,
        settings: Stamp,
        words: &[String],
        request: SearchRequest<'_>,
        event: &mut Event,
    ) -> Result<SearchAnswer> {
        let table = self.table(event).await?;
        self.searched.retain(|id| table.by_name.values().any(|one| one.id == id));
        let (mut texts, mut building) = (Vec::new(), Vec::new());
        for repository in &members {
            let now = self.names_now(repository, &settings, event).await?;
            if !now.complete {
                building.push(repository.clone());
            }
            texts.push((repository.record.name.clone(), now.names.unwrap_or_default()));
        }
        let bytes: u64 = texts.iter().map(|(_, names)| names.weight()).sum();
        let (words, after, limit) = (words.to_vec(), request.after.to_owned(), request.limit);
        let find = move || Ok(join(&texts, &words, &after, limit + 1));
        let rows = usize::try_from(bytes / BYTES_OF_A_ROW).unwrap_or(usize::MAX);
        let (count, mut found) =
            aside(&self.services.context.workers, Lane::Index, Op::IndexRender, rows, event, find).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let place =
            |(rank, name, at): &(Rank, String, usize)| format!("{}:{}:{name}", *rank as u8, members[*at].record.name);
        let next = found.last().filter(|_| more).map(place);
        let mut hits = Vec::with_capacity(found.len());
        for (_, name, at) in found {
            hits.push(self.describe_hit(&members[at], settings, name, event).await?);
        }
        Ok(SearchAnswer { count, hits, next, building })
    }

    async fn names_now(&self, repository: &Arc<Repository>, settings: &Stamp, event: &mut Event) -> Result<NamesNow> {
        let kept = self.searched.of(repository.id, &self.services.room);
        match face!(repository.format, names(self.served(repository, settings), event).await)? {
            NameSource::Rows => {
                kept.of_files(&self.services.context, repository, self.services.clock.now(), event).await
            }
            NameSource::Index(index) => kept.of_index(&self.services.context, index, event).await,
            NameSource::Nothing => Ok(NamesNow { names: None, complete: true }),
        }
    }

    /// A package with its latest version, or a file.
    async fn describe_hit(
        &self,
        repository: &Arc<Repository>,
        settings: Stamp,
        name: String,
        event: &mut Event,
    ) -> Result<SearchHit> {
        let is_remote = repository.record.kind == RepositoryKind::Remote;
        let rules = repository.format.rules();
        let place = match (is_remote, rules.is_tree()) {
            (false, _) => ItemPlace::Hosted,
            (true, false) => ItemPlace::Known,
            (true, true) if repository.is_koji() => ItemPlace::Known,
            (true, true) => ItemPlace::Cached,
        };
        if !rules.is_package(&name) {
            let found = match is_remote {
                true => cached_hit(&self.services, repository, &name, event).await?,
                false => published_hit(&self.services, repository, &name, event).await?,
            };
            let (package, path, version, hashes) = (None, Some(name.clone()), None, None);
            let gone =
                SearchHit { repository: repository.clone(), path, name, package, place, version, hidden: None, hashes };
            return Ok(found.unwrap_or(gone));
        }
        let ask = PackagesAsk::new(repository, settings);
        let rows = package_rows(&self.services, &ask, &name, event).await?;
        let cached = rows.rows.iter().any(|row| row.cached.is_some());
        let hidden = match rows.latest {
            Some(_) => None,
            None => rows.rows.iter().find_map(|row| match &row.standing {
                Standing::Hidden(why) => Some(HiddenItem::from((**why).clone())),
                _ => None,
            }),
        };
        Ok(SearchHit {
            repository: repository.clone(),
            package: Some(name.clone()),
            path: None,
            place: if cached { ItemPlace::Cached } else { place },
            version: rows.latest,
            hidden,
            hashes: None,
            name,
        })
    }
}

/// The files with a digest, by repository, then by key.
async fn files_of_digest(
    services: &Services,
    members: &[Arc<Repository>],
    digest: &str,
    request: SearchRequest<'_>,
    event: &mut Event,
) -> Result<SearchAnswer> {
    let mut all: Vec<(&Arc<Repository>, String)> = Vec::new();
    for repository in members {
        let keys = match repository.record.kind {
            RepositoryKind::Remote => services.store.cached_paths_of_digest(repository.origin, digest, event).await?,
            _ => services.store.keys_of_digest(repository.id, digest, event).await?,
        };
        all.extend(keys.into_iter().map(|key| (repository, key)));
    }
    let place = |(repository, key): &(&Arc<Repository>, String)| format!("{}:{key}", repository.record.name);
    let from = match request.after {
        "" => 0,
        after => all.iter().position(|one| place(one) == after).map_or(all.len(), |at| at + 1),
    };
    let count = all.len() as u64;
    let part: Vec<_> = all.into_iter().skip(from).take(request.limit).collect();
    let next = part.last().filter(|_| ((from + part.len()) as u64) < count).map(place);
    let mut hits = Vec::with_capacity(part.len());
    for (repository, key) in part {
        let hit = match repository.record.kind {
            RepositoryKind::Remote => cached_hit(services, repository, &key, event).await?,
            _ => published_hit(services, repository, &key, event).await?,
        };
        hits.extend(hit);
    }
    Ok(SearchAnswer { count, hits, next, building: Vec::new() })
}

/// A published file, also a hidden one. `None`: it was withdrawn meanwhile.
async fn published_hit(
    services: &Services,
    repository: &Arc<Repository>,
    key: &str,
    event: &mut Event,
) -> Result<Option<SearchHit>> {
    let Some(entry) = services.store.entry(repository.id, key, event).await? else { return Ok(None) };
    let hidden = match shown(&entry, repository.view(services.clock.now())) {
        Ok(_) => None,
        Err(None) => return Ok(None),
        Err(Some(why)) => Some(why.into()),
    };
    let (path, named) = repository.format.rules().published_at(&entry);
    Ok(Some(SearchHit::of_file(repository, path, named, ItemPlace::Hosted, hidden, entry.hashes)))
}

/// A cached file, also a hidden one. `None`: it was evicted meanwhile.
async fn cached_hit(
    services: &Services,
    repository: &Arc<Repository>,
    path: &str,
    event: &mut Event,
) -> Result<Option<SearchHit>> {
    let rows = services.store.cached_files(repository.origin, path, "", 1, event).await?;
    let Some((path, cached)) = rows.into_iter().find(|(at, _)| at == path) else { return Ok(None) };
    let why = why_cached_is_hidden(services, repository, &path, &cached, event).await?;
    let Ok(why) = why else { return Ok(None) };
    let named = repository.file(&path).package().map(|(_, package, version)| (package, version));
    let (place, hidden) = (ItemPlace::Cached, why.map(Into::into));
    Ok(Some(SearchHit::of_file(repository, path.to_owned(), named, place, hidden, cached.hashes)))
}

impl SearchHit {
    fn of_file(
        repository: &Arc<Repository>,
        path: String,
        named: Option<(String, String)>,
        place: ItemPlace,
        hidden: Option<HiddenItem>,
        hashes: Hashes,
    ) -> Self {
        let (package, version) = named.unzip();
        let (repository, name) = (repository.clone(), path.clone());
        Self { repository, name, package, path: Some(path), place, version, hidden, hashes: Some(hashes) }
    }
}

/// The matches in the names of all repositories after a place, at most `limit`, and the number of all.
pub(crate) fn join(texts: &[(String, Arc<Names>)], words: &[String], after: &str, limit: usize) -> Joined {
    let mut fields = after.splitn(3, ':');
    let rank = fields.next().and_then(|rank| rank.parse::<usize>().ok()).and_then(|at| Rank::ALL.get(at).copied());
    let after = match (rank, fields.next(), fields.next()) {
        (Some(rank), Some(repository), Some(name)) => Some(Place { rank, name, repository }),
        _ => None,
    };
    let words: Vec<Word<'_>> = words.iter().map(|word| Word::new(word)).collect();
    let (mut count, mut found) = (0, Vec::new());
    for (at, (repository, names)) in texts.iter().enumerate() {
        let follows = |rank, name: &str| {
            let place = Place { rank, name, repository };
            after.as_ref().is_none_or(|after| place.order(after).is_gt())
        };
        for (rank, matches) in Rank::ALL.into_iter().zip(names.matches(&words, limit, follows)) {
            count += matches.count;
            found.extend(matches.first.into_iter().map(|name| (rank, name, at)));
        }
    }
    // Repositories are in the order of their names.
    found.sort_unstable();
    found.truncate(limit);
    (count, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::query::rank;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_of_any_size_are_all_names_of_all_repositories_filtered_and_sorted(
            repositories in proptest::collection::vec(proptest::collection::btree_set("[aB:-]{1,4}", 0..12), 0..4),
            words in proptest::collection::vec("[ab:-]{1,2}", 1..3),
            limit in 1_usize..5,
        ) {
            let name = |at: usize| format!("r{at}");
            let texts: Vec<_> = repositories.iter().enumerate()
                .map(|(at, names)| (name(at), Arc::new(Names::new(names.iter().map(String::as_str))))).collect();
            let mut all: Vec<(Rank, String, usize)> = Vec::new();
            for (at, names) in repositories.iter().enumerate() {
                let prepared: Vec<Word<'_>> = words.iter().map(|word| Word::new(word)).collect();
                let ranked = names.iter().filter_map(|name| Some((rank(&name.to_ascii_lowercase(), &prepared)?, name.clone(), at)));
                all.extend(ranked);
            }
            all.sort();
            let (mut together, mut after) = (Vec::new(), String::new());
            loop {
                let (count, part) = join(&texts, &words, &after, limit);
                prop_assert_eq!(count, all.len() as u64);
                let Some((rank, last, at)) = part.last() else { break };
                after = format!("{}:{}:{last}", *rank as u8, name(*at));
                together.extend(part);
            }
            prop_assert_eq!(together, all);
        }
    }
}
