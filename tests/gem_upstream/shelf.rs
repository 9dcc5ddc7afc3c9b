//! An upstream of gems that counts its requests: the files of a static mirror, and a server that uses it as its
//! upstream.

use super::{REMOTE, START};
use crate::world::{Gem, Says, Upstream, World, hex};
use format::gem::info::md5_hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// An upstream with the compact index and the packages, and nothing else.
pub(crate) struct Shelf {
    pub(crate) upstream: Upstream,
    gems: BTreeMap<String, Vec<Gem>>,
    /// `/versions`.
    pub(crate) versions: String,
}

impl Shelf {
    pub(crate) fn new(gems: &[Gem]) -> Self {
        let versions = "created_at: 2026-10-01T00:00:00Z\n---\n".to_owned();
        let mut shelf = Self { upstream: Upstream::start(), gems: BTreeMap::new(), versions };
        gems.iter().for_each(|gem| shelf.push(gem));
        shelf
    }

    pub(crate) fn push(&mut self, gem: &Gem) {
        self.gems.entry(gem.name.clone()).or_default().push(gem.clone());
        self.upstream.says(&format!("/gems/{}", gem.file()), Says::bytes(gem.bytes()));
        self.change(&gem.name, &gem.number());
    }

    pub(crate) fn yank(&mut self, name: &str, version: &str) {
        self.gems.get_mut(name).unwrap().retain(|gem| gem.number() != version);
        self.upstream.forget(&format!("/gems/{name}-{version}.gem"));
        self.change(name, &format!("-{version}"));
    }

    /// An upstream that lists these versions, each `NAME VERSION`, or `NAME -VERSION` for a yank.
    pub(crate) fn with(versions: &[&str]) -> Self {
        let mut shelf = Self::new(&[]);
        shelf.lists(versions);
        shelf
    }

    /// Adds these versions.
    pub(crate) fn lists(&mut self, more: &[&str]) {
        for (name, version) in more.iter().filter_map(|one| one.split_once(' ')) {
            match version.strip_prefix('-') {
                Some(gone) => self.yank(name, gone),
                None => self.push(&Gem::new(name, version)),
            }
        }
    }

    /// The paths of the requests that it received, each once.
    pub(crate) fn asked(&self) -> Vec<String> {
        let paths: BTreeSet<String> = self.upstream.asked().into_iter().map(|asked| asked.path).collect();
        paths.into_iter().collect()
    }

    /// Replaces the bytes of a version.
    pub(crate) fn replace(&mut self, gem: &Gem) {
        let gems = self.gems.get_mut(&gem.name).unwrap();
        *gems.iter_mut().find(|other| other.number() == gem.number()).unwrap() = gem.clone();
        self.upstream.says(&format!("/gems/{}", gem.file()), Says::bytes(gem.bytes()));
        self.change(&gem.name, &format!("-{0},{0}", gem.number()));
    }

    /// Compacts `/versions` to one line for each gem.
    pub(crate) fn compact(&mut self) {
        self.versions = "created_at: 2026-10-02T00:00:00Z\n---\n".to_owned();
        for (name, gems) in &self.gems {
            let versions: Vec<String> = gems.iter().map(Gem::number).collect();
            writeln!(self.versions, "{name} {} {}", versions.join(","), md5(&self.info(name))).unwrap();
        }
        self.publish();
    }

    /// `/info` of a gem.
    pub(crate) fn info(&self, name: &str) -> String {
        let line = |gem: &Gem| {
            let needs: Vec<String> = gem.dependencies.iter().map(|(name, range)| format!("{name}:{range}")).collect();
            format!("{} {}|checksum:{}\n", gem.number(), needs.join(","), hex(&Sha256::digest(gem.bytes())))
        };
        "---\n".to_owned() + &self.gems[name].iter().map(line).collect::<String>()
    }

    /// Sets the `/info` of a gem.
    pub(crate) fn set_info(&mut self, name: &str, version: &str, info: &str) {
        self.upstream.says(&format!("/info/{name}"), good(info));
        writeln!(self.versions, "{name} {version} {}", md5(info)).unwrap();
        self.publish();
    }

    fn change(&mut self, name: &str, change: &str) {
        let info = self.info(name);
        self.set_info(name, change, &info);
    }

    fn publish(&self) {
        self.upstream.says("/versions", good(&self.versions));
    }
}

pub(crate) fn md5(text: &str) -> String {
    md5_hex(text.as_bytes())
}

/// A file with the ETag of gem servers.
pub(crate) fn good(text: &str) -> Says {
    Says::bytes(text).header("ETag", &format!("\"{}\"", md5(text)))
}

/// A server whose clock stands still, with a remote gem repository of this upstream.
pub(crate) fn before(upstream: &Upstream) -> World {
    before_with(upstream, &[], &json!({}))
}

/// The same with these variables, and these settings of the upstream.
pub(crate) fn before_with(
    upstream: &Upstream,
    variables: &'static [(&'static str, &'static str)],
    settings: &Value,
) -> World {
    let world = World::start_in_conformance(variables);
    world.set_time(START);
    let mut remote = json!({"urls": [upstream.url()]});
    remote.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    world.make(&json!({"name": REMOTE, "format": "gem", "kind": "remote", "private": false, "remote": remote}));
    world
}

/// Lamp 1.0.0, which depends on oil.
pub(crate) fn lamp_and_oil() -> Shelf {
    Shelf::new(&[Gem::new("oil", "1.0.0"), Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")])
}

/// The same, from an upstream whose index was compacted before it was first seen: all its versions are old.
pub(crate) fn lamp_and_oil_of_long_ago() -> Shelf {
    let mut shelf = lamp_and_oil();
    ["0.1.0", "0.2.0"].into_iter().for_each(|version| shelf.push(&Gem::new("wick", version)));
    shelf.compact();
    shelf
}
