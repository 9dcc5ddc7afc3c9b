//! What the stand-in of a hub knows, and the changes of it. Each change has an event, as a hub's has.

use crate::world::hex;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::Sha256;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// From which event a row holds, and since which no longer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Life {
    pub(super) created: u64,
    pub(super) revoked: Option<u64>,
}

impl Life {
    /// Whether a row holds at this event, or now.
    pub(super) fn holds(self, event: Option<u64>) -> bool {
        match event {
            None => self.revoked.is_none(),
            Some(event) => self.created <= event && self.revoked.is_none_or(|revoked| event < revoked),
        }
    }

    /// Whether it began or ended after this event.
    pub(super) fn changed_after(self, event: u64) -> bool {
        self.created > event || self.revoked.is_some_and(|revoked| revoked > event)
    }
}

#[derive(Debug)]
pub(super) struct Tag {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) life: Life,
}

/// A time of a build in a tag.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) tag: u64,
    pub(super) build: u64,
    pub(super) life: Life,
}

/// A time of a package in the list of a tag.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) tag: u64,
    pub(super) name: String,
    pub(super) blocked: bool,
    pub(super) life: Life,
}

/// A time that a tag inherits from another one.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) child: u64,
    pub(super) parent: u64,
    pub(super) priority: i64,
    pub(super) life: Life,
}

#[derive(Debug)]
pub(super) struct Build {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) release: String,
    /// 1 complete, 2 deleted.
    pub(super) state: u64,
    pub(super) volume: String,
    pub(super) created: u64,
    /// Group, artifact and version of Maven.
    pub(super) maven: [String; 3],
}

impl Build {
    pub(super) fn nvr(&self) -> String {
        format!("{}-{}-{}", self.name, self.version, self.release)
    }
}

#[derive(Debug)]
pub(super) struct Archive {
    pub(super) id: u64,
    pub(super) build: u64,
    pub(super) maven: [String; 3],
    pub(super) filename: String,
    pub(super) digest: &'static str,
    pub(super) metadata_only: bool,
    pub(super) bytes: Vec<u8>,
}

impl Archive {
    /// The digest, with Koji's number of its form.
    pub(super) fn checksum(&self) -> (u64, String) {
        match self.digest {
            "md5" => (0, hex(&Md5::digest(&self.bytes))),
            "sha1" => (1, hex(&Sha1::digest(&self.bytes))),
            _ => (2, hex(&Sha256::digest(&self.bytes))),
        }
    }

    /// Its path below the folder `maven/` of its build.
    fn path(&self) -> String {
        let [group, artifact, version] = &self.maven;
        format!("{}/{artifact}/{version}/{}", group.replace('.', "/"), self.filename)
    }
}

/// A file that a build is made with.
#[derive(Debug, Clone)]
pub(crate) struct BuildFile {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) digest: &'static str,
    pub(super) metadata_only: bool,
}

/// A change that has its event, and is not committed.
#[derive(Debug)]
struct Late {
    tag: u64,
    build: u64,
    tags: bool,
}

#[derive(Debug)]
pub(super) struct Model {
    /// The committed events with their moments, in seconds.
    pub(super) events: BTreeMap<u64, f64>,
    newest: u64,
    pub(super) tags: Vec<Tag>,
    pub(super) listings: Vec<Listing>,
    pub(super) packages: Vec<Package>,
    pub(super) links: Vec<Link>,
    pub(super) builds: Vec<Build>,
    pub(super) archives: Vec<Archive>,
    pub(super) volumes: Vec<String>,
    /// Events of tags that no row of theirs tells, such as that a build of theirs moved.
    pub(super) updates: Vec<(u64, u64)>,
    late: BTreeMap<u64, Late>,
}

impl Model {
    pub(super) fn new() -> Self {
        let (events, late) = (BTreeMap::from([(1, now())]), BTreeMap::new());
        let (tags, listings, packages, links) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (builds, archives, updates) = (Vec::new(), Vec::new(), Vec::new());
        let volumes = vec!["DEFAULT".to_owned()];
        Self { events, newest: 1, tags, listings, packages, links, builds, archives, volumes, updates, late }
    }

    /// The number of the next event, which is committed.
    fn event(&mut self) -> u64 {
        let event = self.number();
        self.events.insert(event, now());
        event
    }

    /// The number of the next event, which is not.
    fn number(&mut self) -> u64 {
        self.newest += 1;
        self.newest
    }

    fn begins(&mut self) -> Life {
        Life { created: self.event(), revoked: None }
    }

    pub(super) fn last_event(&self) -> u64 {
        *self.events.last_key_value().unwrap().0
    }

    pub(super) fn build(&self, id: u64) -> &Build {
        self.builds.iter().find(|build| build.id == id).unwrap()
    }

    pub(super) fn create_tag(&mut self, name: &str) -> u64 {
        let (id, life) = (self.tags.len() as u64 + 1, self.begins());
        self.tags.push(Tag { id, name: name.to_owned(), life });
        id
    }

    pub(super) fn create_build(&mut self, name: &str, version: &str, release: &str, files: Vec<BuildFile>) -> u64 {
        let (id, created) = (self.builds.len() as u64 + 1, self.event());
        let none = || ["none", name, version].map(str::to_owned);
        let maven = files.first().map_or_else(none, |file| split(&file.path).0);
        let [name, version, release] = [name, version, release].map(str::to_owned);
        let volume = "DEFAULT".to_owned();
        self.builds.push(Build { id, name, version, release, state: 1, volume, created, maven });
        for file in files {
            self.add_file(id, file);
        }
        id
    }

    /// Adds a file to a build; there is no event of it.
    pub(super) fn add_file(&mut self, build: u64, file: BuildFile) {
        let (maven, filename) = split(&file.path);
        let (id, digest, metadata_only) = (self.archives.len() as u64 + 1, file.digest, file.metadata_only);
        self.archives.push(Archive { id, build, maven, filename, digest, metadata_only, bytes: file.bytes });
    }

    fn list_package(&mut self, tag: u64, name: &str) {
        if !self.package_list(tag, None).contains_key(name) {
            self.set_package(tag, name, false);
        }
    }

    fn set_package(&mut self, tag: u64, name: &str, blocked: bool) -> u64 {
        let life = self.begins();
        for old in self.packages.iter_mut().filter(|old| old.tag == tag && old.name == name) {
            old.life.revoked.get_or_insert(life.created);
        }
        self.packages.push(Package { tag, name: name.to_owned(), blocked, life });
        life.created
    }

    pub(super) fn tag_build(&mut self, tag: u64, build: u64) -> u64 {
        self.list_package(tag, &self.build(build).name.clone());
        let event = self.event();
        self.list(tag, build, event);
        event
    }

    pub(super) fn untag_build(&mut self, tag: u64, build: u64) -> u64 {
        let event = self.event();
        self.revoke(tag, build, event);
        event
    }

    /// Tagged again, a build has a row of its own, and the one before ends.
    fn list(&mut self, tag: u64, build: u64, event: u64) {
        self.revoke(tag, build, event);
        self.listings.push(Listing { tag, build, life: Life { created: event, revoked: None } });
    }

    fn revoke(&mut self, tag: u64, build: u64, event: u64) {
        for old in self.listings.iter_mut().filter(|old| old.tag == tag && old.build == build) {
            old.life.revoked.get_or_insert(event);
        }
    }

    /// Tags or untags in a transaction that stays open.
    pub(super) fn late(&mut self, tag: u64, build: u64, tags: bool) -> u64 {
        if tags {
            self.list_package(tag, &self.build(build).name.clone());
        }
        let event = self.number();
        self.late.insert(event, Late { tag, build, tags });
        event
    }

    pub(super) fn commit(&mut self, event: u64) {
        let late = self.late.remove(&event).unwrap();
        self.events.insert(event, now());
        match late.tags {
            true => self.list(late.tag, late.build, event),
            false => self.revoke(late.tag, late.build, event),
        }
    }

    pub(super) fn block(&mut self, tag: u64, package: &str, blocked: bool) -> u64 {
        if blocked {
            self.list_package(tag, package);
        }
        self.set_package(tag, package, blocked)
    }

    pub(super) fn inherit(&mut self, child: u64, parent: u64, priority: i64) -> u64 {
        let life = self.begins();
        self.links.push(Link { child, parent, priority, life });
        life.created
    }

    pub(super) fn disinherit(&mut self, child: u64, parent: u64) -> u64 {
        let event = self.event();
        for link in self.links.iter_mut().filter(|link| link.child == child && link.parent == parent) {
            link.life.revoked.get_or_insert(event);
        }
        event
    }

    pub(super) fn delete_build(&mut self, build: u64) {
        let tagged = self.listings.iter().filter(|row| row.build == build && row.life.holds(None));
        for tag in tagged.map(|row| row.tag).collect::<Vec<_>>() {
            self.untag_build(tag, build);
        }
        self.builds.iter_mut().find(|known| known.id == build).unwrap().state = 2;
    }

    pub(super) fn move_build(&mut self, build: u64, volume: &str) {
        if !self.volumes.iter().any(|known| known == volume) {
            self.volumes.push(volume.to_owned());
        }
        let tagged = self.listings.iter().filter(|row| row.build == build && row.life.holds(None));
        let tagged: Vec<u64> = tagged.map(|row| row.tag).collect();
        if !tagged.is_empty() {
            let event = self.event();
            self.updates.extend(tagged.into_iter().map(|tag| (tag, event)));
        }
        self.builds.iter_mut().find(|known| known.id == build).unwrap().volume = volume.to_owned();
    }

    /// Gives a tag another name; there is no event of it.
    pub(super) fn rename_tag(&mut self, tag: u64, name: &str) {
        self.tags.iter_mut().find(|known| known.id == tag).unwrap().name = name.to_owned();
    }

    pub(super) fn delete_tag(&mut self, tag: u64) -> u64 {
        let event = self.event();
        let tags = self.tags.iter_mut().filter(|row| row.id == tag).map(|row| &mut row.life);
        let listings = self.listings.iter_mut().filter(|row| row.tag == tag).map(|row| &mut row.life);
        let packages = self.packages.iter_mut().filter(|row| row.tag == tag).map(|row| &mut row.life);
        let links = self.links.iter_mut().filter(|row| row.child == tag || row.parent == tag).map(|row| &mut row.life);
        for life in tags.chain(listings).chain(packages).chain(links) {
            life.revoked.get_or_insert(event);
        }
        event
    }

    /// A file by its path below TOP. The path of before a move still has it.
    pub(super) fn file(&self, path: &str) -> Option<Vec<u8>> {
        let (path, made) = match path.rsplit_once('.') {
            Some((path, kind @ ("md5" | "sha1"))) => (path, Some(kind)),
            _ => (path, None),
        };
        let archive = self.archives.iter().find(|archive| {
            let build = self.build(archive.build);
            let [name, version, release] = [&build.name, &build.version, &build.release];
            let place = format!("packages/{name}/{version}/{release}/maven/{}", archive.path());
            build.state == 1
                && !archive.metadata_only
                && (path == place || path == format!("vol/{}/{place}", build.volume))
        })?;
        Some(match made {
            None => archive.bytes.clone(),
            Some("md5") => hex(&Md5::digest(&archive.bytes)).into_bytes(),
            Some(_) => hex(&Sha1::digest(&archive.bytes)).into_bytes(),
        })
    }
}

/// The coordinates and the name of a file, from its path.
fn split(path: &str) -> ([String; 3], String) {
    let mut parts = path.rsplitn(4, '/');
    let [filename, version, artifact, group] = std::array::from_fn(|_| parts.next().unwrap().to_owned());
    ([group.replace('/', "."), artifact, version], filename)
}

/// Seconds since 1970, to the microsecond.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as f64 / 1e6
}
