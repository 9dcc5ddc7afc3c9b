//! A hub of Koji on loopback with the files below its TOP, and what a test does to both. It is a stand-in; where
//! `KOJI_HUB_SOURCE` names the source of the real hub, it is that one behind the same front.
//!
//! In reading order: [`model`] is what the stand-in knows, [`views`] what a tag has at an event, [`calls`] and [`lists`]
//! the answers, [`rows`] their members, [`xml`] the protocol, [`front`] what listens, and [`real`] the real hub.

mod calls;
mod front;
mod lists;
mod model;
mod real;
mod rows;
mod views;
mod xml;

pub(crate) use front::{Counted, FileTrouble, Trouble};
pub(crate) use xml::Fault;

use super::World;
use front::Front;
use model::{BuildFile, Model};
use real::Real;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use xml::Call;

/// The longest request that a hub reads, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

/// A hub and its files. Dropping it ends both.
pub(crate) struct KojiHub {
    front: Arc<Front>,
    hub: SocketAddr,
    files: SocketAddr,
}

/// What answers behind the front.
enum Backing {
    StandIn(Box<Mutex<Model>>),
    Real(Real),
}

impl Backing {
    /// The status, the media type and the body of an answer to a request.
    fn reply(&self, method: &str, body: &[u8]) -> (u16, &'static str, Vec<u8>) {
        let model = match self {
            Self::StandIn(model) => model,
            Self::Real(real) => return real.reply(method, body),
        };
        let refused = |status, why: &str| (status, "text/plain", format!("{why}\n").into_bytes());
        if method != "POST" {
            return refused(405, "only POST is for calls");
        }
        if body.is_empty() || body.len() > LONGEST {
            return refused(400, "Invalid request: its length");
        }
        match Call::read(body) {
            Ok(call) => (200, "text/xml", xml::answer(&model.lock().unwrap().answer(&call))),
            Err(why) => refused(400, &format!("Invalid request: {why}")),
        }
    }

    /// A file by its path below TOP.
    fn file(&self, path: &str) -> Option<Vec<u8>> {
        match self {
            Self::StandIn(model) => model.lock().unwrap().file(path),
            Self::Real(real) => real.file(path),
        }
    }
}

impl KojiHub {
    /// Starts an empty one.
    pub(crate) fn start() -> Self {
        match std::env::var_os("KOJI_HUB_SOURCE") {
            Some(source) => Self::on(Backing::Real(Real::start(&source))),
            None => Self::stand_in(),
        }
    }

    /// Starts an empty stand-in, also where there is the source of the real one.
    pub(crate) fn stand_in() -> Self {
        Self::on(Backing::StandIn(Box::new(Mutex::new(Model::new()))))
    }

    fn on(backing: Backing) -> Self {
        let front = Front::new(backing);
        let (hub, files) = (front.listen(Front::hub), front.listen(Front::file));
        Self { front, hub, files }
    }

    /// Whether it is the real hub.
    pub(crate) fn is_real(&self) -> bool {
        matches!(self.front.backing, Backing::Real(_))
    }

    /// The URL of the hub.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/kojihub", self.hub)
    }

    /// The URL of the files, TOP.
    pub(crate) fn files(&self) -> String {
        format!("http://{}/kojifiles", self.files)
    }

    /// Carries out an operation: on the stand-in by its model, on the real hub by its name.
    fn act<T: serde::de::DeserializeOwned>(&self, operation: Value, act: impl FnOnce(&mut Model) -> T) -> T {
        match &self.front.backing {
            Backing::StandIn(model) => act(&mut model.lock().unwrap()),
            Backing::Real(real) => serde_json::from_value(real.act(&operation)).unwrap(),
        }
    }

    /// Creates a tag that Maven's builds can be in. Returns its number.
    pub(crate) fn tag(&self, name: &str) -> u64 {
        self.act(json!(["tag", name]), |model| model.create_tag(name))
    }

    /// Begins a build of this name, version and release.
    pub(crate) fn build(&self, name: &str, version: &str, release: &str) -> NewBuild<'_> {
        let nvr = [name, version, release].map(str::to_owned);
        NewBuild { hub: self, nvr, digest: "md5", files: Vec::new() }
    }

    /// Tags a build, and puts its package into the list of the tag if it is not there. Returns the event.
    pub(crate) fn tag_build(&self, tag: u64, build: u64) -> u64 {
        self.act(json!(["tag_build", tag, build]), |model| model.tag_build(tag, build))
    }

    /// Untags a build. Returns the event.
    pub(crate) fn untag_build(&self, tag: u64, build: u64) -> u64 {
        self.act(json!(["untag_build", tag, build]), |model| model.untag_build(tag, build))
    }

    /// Tags a build in a transaction that stays open. Returns its event.
    pub(crate) fn tag_late(&self, tag: u64, build: u64) -> u64 {
        self.act(json!(["late_change", tag, build, true]), |model| model.late(tag, build, true))
    }

    /// Untags a build in a transaction that stays open. Returns its event.
    pub(crate) fn untag_late(&self, tag: u64, build: u64) -> u64 {
        self.act(json!(["late_change", tag, build, false]), |model| model.late(tag, build, false))
    }

    /// Commits the open transaction of this event.
    pub(crate) fn commit(&self, event: u64) {
        self.act(json!(["commit", event]), |model| model.commit(event));
    }

    /// Blocks a package in a tag. Returns the event.
    pub(crate) fn block(&self, tag: u64, package: &str) -> u64 {
        self.act(json!(["block", tag, package]), |model| model.block(tag, package, true))
    }

    /// Ends that. Returns the event.
    pub(crate) fn unblock(&self, tag: u64, package: &str) -> u64 {
        self.act(json!(["unblock", tag, package]), |model| model.block(tag, package, false))
    }

    /// Makes a tag inherit from another one; lower numbers come first. Returns the event.
    pub(crate) fn inherit(&self, child: u64, parent: u64, priority: i64) -> u64 {
        self.act(json!(["inherit", child, parent, priority]), |model| model.inherit(child, parent, priority))
    }

    /// Ends that. Returns the event.
    pub(crate) fn disinherit(&self, child: u64, parent: u64) -> u64 {
        self.act(json!(["disinherit", child, parent]), |model| model.disinherit(child, parent))
    }

    /// Deletes a build, after it is untagged everywhere, as Koji wants it.
    pub(crate) fn delete_build(&self, build: u64) {
        self.act(json!(["delete_build", build]), |model| model.delete_build(build));
    }

    /// Moves the files of a build to another volume, which is made if it is not there.
    pub(crate) fn move_build(&self, build: u64, volume: &str) {
        self.act(json!(["move_build", build, volume]), |model| model.move_build(build, volume));
    }

    /// Adds a file to a build that exists; no event tells of it.
    pub(crate) fn add_file(&self, build: u64, path: &str, bytes: &[u8]) {
        let file = BuildFile { path: path.to_owned(), bytes: bytes.to_vec(), digest: "sha256", metadata_only: false };
        self.act(json!(["add_file", build, path, super::hex(bytes)]), |model| model.add_file(build, file));
    }

    /// Gives a tag another name; no event tells of it.
    pub(crate) fn rename_tag(&self, tag: u64, name: &str) {
        self.act(json!(["rename_tag", tag, name]), |model| model.rename_tag(tag, name));
    }

    /// Deletes a tag. Returns the event.
    pub(crate) fn delete_tag(&self, tag: u64) -> u64 {
        self.act(json!(["delete_tag", tag]), |model| model.delete_tag(tag))
    }

    /// The newest event that is committed.
    pub(crate) fn last_event(&self) -> u64 {
        self.act(json!(["last_event"]), |model| model.last_event())
    }

    /// Calls it, past the front: without trouble, and uncounted. `named` has the named arguments.
    pub(crate) fn call(&self, method: &str, params: Value, mut named: Value) -> Result<Value, Fault> {
        let Value::Array(mut params) = params else { panic!("the positional arguments are a list") };
        if named.as_object().is_some_and(|named| !named.is_empty()) {
            named["__starstar"] = json!(true);
            params.push(named);
        }
        let (status, _, body) = self.front.backing.reply("POST", &Call { method: method.to_owned(), params }.write());
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        xml::read_answer(&body)
    }

    /// What was asked by method; `multiCall/METHOD` counts the calls inside.
    pub(crate) fn said(&self) -> BTreeMap<String, Counted> {
        self.front.seen().said.clone()
    }

    /// How often it was asked, whatever for.
    pub(crate) fn rounds(&self) -> u64 {
        self.said().iter().filter(|(method, _)| !method.contains('/')).map(|(_, counted)| counted.calls).sum()
    }

    /// The bytes of each answer, in order.
    pub(crate) fn round_bytes(&self) -> Vec<u64> {
        self.front.seen().rounds.clone()
    }

    /// How many requests had something of a login: a method, a header, a cookie, a session in the path.
    pub(crate) fn logins(&self) -> usize {
        self.front.seen().logins
    }

    /// The paths below TOP that were asked for, in order.
    pub(crate) fn file_gets(&self) -> Vec<String> {
        self.front.seen().gets.clone()
    }

    /// Counts from nothing again.
    pub(crate) fn forget_counts(&self) {
        self.front.make(|seen| {
            seen.said.clear();
            seen.rounds.clear();
            seen.gets.clear();
            seen.logins = 0;
        });
    }

    /// From now on this is wrong with each answer.
    pub(crate) fn trouble(&self, trouble: Trouble) {
        self.front.make(|seen| seen.trouble = Some(trouble));
    }

    /// Nothing is wrong with answers any more.
    pub(crate) fn well(&self) {
        self.front.make(|seen| seen.trouble = None);
    }

    /// From now on this is wrong with each file.
    pub(crate) fn file_trouble(&self, trouble: FileTrouble) {
        self.front.make(|seen| seen.file_trouble = Some(trouble));
    }

    /// Nothing is wrong with files any more.
    pub(crate) fn files_well(&self) {
        self.front.make(|seen| seen.file_trouble = None);
    }

    /// Whether it compresses answers for callers that accept it, as a front before a hub may.
    pub(crate) fn compresses(&self, compresses: bool) {
        self.front.make(|seen| seen.compresses = compresses);
    }
}

impl Drop for KojiHub {
    fn drop(&mut self) {
        self.front.close(&[self.hub, self.files]);
        // A thread of a connection may keep the front a while, so that its end is not that of the hub.
        if let Backing::Real(real) = &self.front.backing {
            real.stop();
        }
    }
}

/// A build that is not imported yet.
pub(crate) struct NewBuild<'a> {
    hub: &'a KojiHub,
    nvr: [String; 3],
    digest: &'static str,
    files: Vec<BuildFile>,
}

impl NewBuild<'_> {
    /// The form of the digest of the files that follow: `md5` (as without this), `sha1` or `sha256`.
    pub(crate) fn digest(self, digest: &'static str) -> Self {
        Self { digest, ..self }
    }

    /// A file at a path of a Maven repository.
    pub(crate) fn file(mut self, path: &str, bytes: &[u8]) -> Self {
        let file =
            BuildFile { path: path.to_owned(), bytes: bytes.to_vec(), digest: self.digest, metadata_only: false };
        self.files.push(file);
        self
    }

    /// A POM at this path, with the coordinates that it says.
    pub(crate) fn pom(self, path: &str) -> Self {
        let mut parts = path.rsplitn(4, '/').skip(1);
        let [version, artifact, group] = std::array::from_fn(|_| parts.next().unwrap());
        let group = group.replace('/', ".");
        let text = format!(
            "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
             <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></project>\n"
        );
        self.file(path, text.as_bytes())
    }

    /// A file of which the hub has only facts.
    pub(crate) fn metadata_only(self, path: &str, bytes: &[u8]) -> Self {
        let mut build = self.file(path, bytes);
        build.files.last_mut().unwrap().metadata_only = true;
        build
    }

    /// Imports it. Returns its number.
    pub(crate) fn make(self) -> u64 {
        let file = |file: &BuildFile| {
            json!({
                "path": file.path, "hex": super::hex(&file.bytes), "digest": file.digest,
                "metadata_only": file.metadata_only,
            })
        };
        let [name, version, release] = &self.nvr;
        let files: Vec<Value> = self.files.iter().map(file).collect();
        let operation = json!(["build", name, version, release, files]);
        self.hub.act(operation, |model| model.create_build(name, version, release, self.files))
    }
}

impl World {
    /// Creates a remote Maven repository of the builds in the tags of a hub.
    pub(crate) fn koji(&self, name: &str, hub: &KojiHub, tags: &[&str]) {
        let koji = json!({ "hub": hub.url(), "files": hub.files(), "tags": tags });
        self.make(&json!({ "name": name, "format": "maven", "kind": "remote", "remote": { "koji": koji } }));
    }
}
