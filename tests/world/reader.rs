//! A client that keeps what it saw last under each path, as those do that ask whether it is still so.

use super::{Answer, Connection, Person};
use std::collections::BTreeMap;

/// Somebody with one connection, and what they saw over it.
pub(crate) struct Reader {
    person: Person,
    pub(crate) connection: Connection,
    seen: BTreeMap<String, Answer>,
}

impl Reader {
    /// Has seen nothing yet.
    pub(crate) fn new(person: &Person) -> Self {
        Self { person: person.clone(), connection: person.connect().unwrap(), seen: BTreeMap::new() }
    }

    /// Reads: a 304 stands for what was seen last.
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
