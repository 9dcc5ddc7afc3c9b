//! The upstream that a cached file came from. Files from a former upstream are not used for the current one.

use crate::journal::record::RepositoryId;
use sha2::{Digest as _, Sha256};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A repository together with its upstream. Files that the repository cached from another upstream are not visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The repository.
    pub repository: RepositoryId,
    /// A hash of the upstream's URL.
    pub(super) urls: i64,
}

impl Origin {
    /// The hash of the URL, as it is stored.
    pub fn number(self) -> i64 {
        self.urls
    }

    /// The hash of one of its paths, for the counts of caches.
    pub fn hash_of(self, path: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self, path).hash(&mut hasher);
        hasher.finish()
    }

    /// The origin of a repository whose content all of these URLs decide, such as one that says what there is, and one that has
    /// the files.
    pub fn of_all(repository: RepositoryId, urls: &[&str]) -> Self {
        Self::hashed(repository, urls)
    }

    /// The origin of a repository with these URLs. Only the first one counts: mirrors have the same files.
    pub fn new(repository: RepositoryId, urls: &[String]) -> Self {
        let first: Vec<&str> = urls.first().map(String::as_str).into_iter().collect();
        Self::hashed(repository, &first)
    }

    fn hashed(repository: RepositoryId, urls: &[&str]) -> Self {
        let mut hashing = Sha256::new();
        for url in urls {
            hashing.update((url.len() as u64).to_be_bytes());
            hashing.update(url);
        }
        let digest: [u8; 32] = hashing.finalize().into();
        Self { repository, urls: i64::from_be_bytes(std::array::from_fn(|at| digest[at])) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_come_and_go_and_what_is_cached_stays() {
        let origin =
            |urls: &[&str]| Origin::new(RepositoryId(1), &urls.iter().map(|url| (*url).into()).collect::<Vec<_>>());
        assert_eq!(origin(&["one", "mirror"]), origin(&["one"]));
        assert_ne!(origin(&["mirror"]), origin(&["one"]));
        assert_eq!(Origin::of_all(RepositoryId(1), &["one"]), origin(&["one"]));
    }

    #[test]
    fn each_of_several_urls_decides_where_all_of_them_do() {
        let origin = |urls: &[&str]| Origin::of_all(RepositoryId(1), urls);
        let all = [origin(&["hub", "files"]), origin(&["hub", "other"]), origin(&["other", "files"]), origin(&["hub"])];
        assert!((1..all.len()).all(|at| !all[..at].contains(&all[at])), "{all:?}");
    }
}
