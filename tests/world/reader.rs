//! Clients with a cache: they send conditional requests for what they have read.

use super::{Answer, Connection, Person, World};
use format::gem::info::md5_hex;
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

/// A client that reads the appended part of `/versions`, as Bundler does.
pub(crate) struct Follower {
    repository: &'static str,
    pub(crate) file: String,
}

impl Follower {
    /// With the present file.
    pub(crate) fn new(world: &World, repository: &'static str) -> Self {
        Self { repository, file: world.anon().file(repository, "versions").expect(200).text().to_owned() }
    }

    /// Requests what follows its file.
    pub(crate) fn ask(&self, world: &World) -> Answer {
        let (path, tag) = (format!("/repository/{}/versions", self.repository), self.tag());
        let range = format!("bytes={}-", self.file.len() - 1);
        world.anon().ask("GET", &path, &[("Range", &range), ("If-None-Match", &tag)], b"")
    }

    /// The appended lines. Fails if the answer is not partial.
    #[track_caller]
    pub(crate) fn news(&mut self, world: &World) -> Vec<String> {
        let answer = self.ask(world);
        if answer.status == 304 {
            return Vec::new();
        }
        let answer = answer.expect(206);
        self.file.push_str(&answer.text()[1..]);
        assert_eq!(answer.header("etag"), Some(&*self.tag()));
        answer.text().lines().skip(1).map(str::to_owned).collect()
    }

    fn tag(&self) -> String {
        format!("\"{}\"", md5_hex(self.file.as_bytes()))
    }
}
