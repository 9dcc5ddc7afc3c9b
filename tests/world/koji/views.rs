//! What a tag has at an event: its parents, its packages, its builds.

use super::model::{Archive, Build, Link, Listing, Model, Tag};
use std::collections::BTreeMap;

/// A parent of a tag, and how far it is above.
#[derive(Debug)]
pub(super) struct Parent<'a> {
    pub(super) link: &'a Link,
    pub(super) depth: u64,
}

impl Model {
    /// The parents of a tag, nearest first, each once.
    pub(super) fn parents(&self, tag: u64, event: Option<u64>) -> Vec<Parent<'_>> {
        let mut found = Vec::new();
        self.climb(&[tag], event, &mut found);
        found
    }

    fn climb<'a>(&'a self, way: &[u64], event: Option<u64>, found: &mut Vec<Parent<'a>>) {
        let here = |link: &&Link| link.child == way[way.len() - 1] && link.life.holds(event);
        let mut links: Vec<&Link> = self.links.iter().filter(here).collect();
        links.sort_by_key(|link| link.priority);
        for link in links {
            if way.contains(&link.parent) || found.iter().any(|known| known.link.parent == link.parent) {
                continue;
            }
            found.push(Parent { link, depth: way.len() as u64 });
            self.climb(&[way, &[link.parent]].concat(), event, found);
        }
    }

    /// The tag, and its parents if they are wanted.
    pub(super) fn line(&self, tag: u64, event: Option<u64>, inherit: bool) -> Vec<u64> {
        let parents = if inherit { self.parents(tag, event) } else { Vec::new() };
        std::iter::once(tag).chain(parents.iter().map(|parent| parent.link.parent)).collect()
    }

    /// The packages of a tag, its own before inherited ones, and whether they are blocked.
    pub(super) fn package_list(&self, tag: u64, event: Option<u64>) -> BTreeMap<&str, bool> {
        let mut known = BTreeMap::new();
        for tag in self.line(tag, event, true) {
            for package in self.packages.iter().filter(|package| package.tag == tag && package.life.holds(event)) {
                known.entry(package.name.as_str()).or_insert(package.blocked);
            }
        }
        known
    }

    /// The complete builds of a tag whose packages are not blocked, the builds that were tagged last first.
    pub(super) fn tagged(&self, tag: u64, event: Option<u64>, inherit: bool) -> Vec<(&Build, &Listing)> {
        let packages = self.package_list(tag, event);
        let mut found = Vec::new();
        for tag in self.line(tag, event, inherit) {
            let mut rows: Vec<&Listing> =
                self.listings.iter().filter(|row| row.tag == tag && row.life.holds(event)).collect();
            rows.sort_by_key(|row| std::cmp::Reverse((row.life.created, row.build)));
            let builds = rows.into_iter().map(|row| (self.build(row.build), row));
            found.extend(
                builds.filter(|(build, _)| build.state == 1 && packages.get(build.name.as_str()) == Some(&false)),
            );
        }
        found
    }

    /// The archives of these builds, each build's once.
    pub(super) fn archives_of(&self, builds: &[(&Build, &Listing)]) -> Vec<&Archive> {
        let is_there = |archive: &&Archive| builds.iter().any(|(build, _)| build.id == archive.build);
        self.archives.iter().filter(is_there).collect()
    }

    /// A tag that is there at an event.
    pub(super) fn find_tag(&self, wanted: &serde_json::Value, event: Option<u64>) -> Option<&Tag> {
        self.named_tag(wanted).filter(|tag| tag.life.holds(event))
    }

    /// A tag that is or was there.
    pub(super) fn named_tag(&self, wanted: &serde_json::Value) -> Option<&Tag> {
        let is_it = |tag: &&Tag| wanted.as_u64().map_or_else(|| wanted.as_str() == Some(&tag.name), |id| tag.id == id);
        self.tags.iter().rev().find(is_it)
    }

    /// A build by its number or its name, version and release.
    pub(super) fn find_build(&self, wanted: &serde_json::Value) -> Option<&Build> {
        let named = |build: &Build| wanted.as_str() == Some(&build.nvr());
        self.builds.iter().find(|build| wanted.as_u64().map_or_else(|| named(build), |id| build.id == id))
    }

    /// Whether something of these tags changed after an event.
    pub(super) fn changed(&self, event: u64, tags: &[u64]) -> bool {
        let own = |tag: u64| tags.contains(&tag);
        self.updates.iter().any(|(tag, at)| own(*tag) && *at > event)
            || self.tags.iter().any(|row| own(row.id) && row.life.changed_after(event))
            || self.listings.iter().any(|row| own(row.tag) && row.life.changed_after(event))
            || self.packages.iter().any(|row| own(row.tag) && row.life.changed_after(event))
            || self.links.iter().any(|row| own(row.child) && row.life.changed_after(event))
    }
}
