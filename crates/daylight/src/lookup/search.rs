//! The search: packages and files in all repositories that the caller may read.

use crate::app::App;
use crate::error::{Error, Result};
use crate::lookup::pagination::{self, PageQuery};
use format::percent::Form;
use front::Request;
use repository::{Repository, SearchHit, SearchQuery, SearchRequest};
use std::sync::Arc;
use telemetry::Event;
use web::{HiddenReason, Moment, Search, SearchResult};

/// Most answers of a part.
const LIMIT_MAX: usize = 100;
/// Most answers on a page, and of a call, unless they ask for another number.
const LIMIT: usize = 20;
/// The longest `after`, in bytes.
const AFTER_MAX: usize = 2048;

/// The answers to the search in the query of a request. `None`: its text is empty.
pub(crate) async fn search(app: &App, request: &Request, event: &mut Event) -> Result<Option<Search>> {
    let query = request.query().unwrap_or_default().to_owned();
    let PageQuery { after, limit } = pagination::read_or(&query, LIMIT)?;
    if limit > LIMIT_MAX || after.len() > AFTER_MAX {
        return Err(Error::Input(format!(
            "`limit` is a number from 1 to {LIMIT_MAX}, and `after` the `next` of a search"
        )));
    }
    let text = Form(&query).value("q").unwrap_or_default();
    let Some(read) = SearchQuery::read(&text)? else { return Ok(None) };
    let caller = app.access.anyone(request, event).await?;
    let table = app.repositories.table(event).await?;
    let only = Form(&query).value("repository").filter(|name| !name.is_empty());
    let readable: Vec<Arc<Repository>> = table
        .by_name
        .values()
        .filter(|one| caller.reads(one))
        .filter(|one| only.as_ref().is_none_or(|only| one.record.name == *only))
        .cloned()
        .collect();
    let asked = SearchRequest { query: &read, after: &after, limit };
    let found = app.repositories.search(&readable, table.stamp, asked, event).await?;
    Ok(Some(Search {
        query: text,
        count: found.count,
        results: found.hits.into_iter().map(shown).collect(),
        next: found.next,
        incomplete: found.building.iter().map(|one| one.record.name.clone()).collect(),
    }))
}

fn shown(hit: SearchHit) -> SearchResult {
    let hidden =
        hit.hidden.map(|why| HiddenReason { reason: why.reason, until: why.until.map(|at| Moment(at.to_string())) });
    SearchResult {
        repository: hit.repository.record.name.clone(),
        format: hit.repository.format.as_str(),
        state: hit.place.as_str(),
        name: hit.name,
        package: hit.package,
        version: hit.version,
        path: hit.path,
        size_bytes: hit.hashes.map(|hashes| hashes.size_bytes),
        hidden,
    }
}
