//! Decides what becomes of the query of a request for a file.
//!
//! An upstream may have other bytes for each query (`?platform=linux`). Without the query in the name of the cached
//! file, the first bytes would be the answer to all of them. So a remote repository refuses queries, unless its setting
//! makes them a part of the name. Hosted repositories have one file at a path and ignore queries.

use crate::error::Result;
use crate::error::query_refused::QueryRefused;
use crate::group::is_hosted;
use crate::repository::Repository;
use format::tree;
use store::RepositoryKind;
use telemetry::Event;

impl Repository {
    /// Whether upstreams are asked with the queries of requests.
    pub(crate) fn keeps_queries(&self) -> bool {
        let own = self.record.remote.as_ref().is_some_and(|remote| remote.query.is_some());
        own || self.leaves.iter().any(|leaf| leaf.keeps_queries())
    }

    /// Whether this query of a request for the file at `path` is a part of its name. Otherwise it is ignored.
    pub fn keeps_query(&self, path: &str, query: &str) -> Result<bool> {
        let is_remote = match self.record.kind {
            RepositoryKind::Hosted => false,
            RepositoryKind::Remote => true,
            RepositoryKind::Group => !self.leaves.iter().all(|leaf| is_hosted(leaf)),
        };
        if !is_remote || !self.format.has_queries() {
            return Ok(false);
        }
        let path = path.to_owned();
        if !self.keeps_queries() {
            let is_group = self.record.kind == RepositoryKind::Group;
            return Err(QueryRefused::NotKept { repository: self.record.name.clone(), path, is_group }.into());
        }
        if !tree::is_query(query) {
            return Err(QueryRefused::Odd { path }.into());
        }
        // After a `=`, as a value: a token may be the whole query.
        if Event::has_secret(&format!("?={query}")) {
            return Err(QueryRefused::Secret { path }.into());
        }
        Ok(true)
    }
}
