//! A client with a cache: it sends conditional requests for the paths that it has read.

use super::{Answer, Connection, Person};
use std::collections::BTreeMap;

/// A caller with one connection, and its cache.
pub(crate) struct Reader {
    person: Person,
    pub(crate) connection: Connection,
    seen: BTreeMap<String, Answer>,
}

impl Reader {
    /// With an empty cache.
    pub(crate) fn new(person: &Person) -> Self {
        Self { person: person.clone(), connection: person.connect().unwrap(), seen: BTreeMap::new() }
    }

    /// Reads a path: a 304 stands for the cached answer.
    pub(crate) fn read(&mut self, path: &str) -> Answer {
        let last = self.seen.get(path).filter(|last| last.status == 200);
        let tag = last.and_then(|last| last.header("etag")).map(|tag| ("If-None-Match", tag));
        let headers: Vec<_> = tag.into_iter().collect();
        let answer = self.person.on(&mut self.connection, "GET", path, &headers, b"").unwrap();
        if answer.status != 304 {
            self.seen.insert(path.to_owned(), answer);
        }
        self.seen[path].clone()
    }
}
