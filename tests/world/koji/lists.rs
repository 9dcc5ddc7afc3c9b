//! Lists of the stand-in that are made by several conditions: builds, archives, history.

use super::calls::{Arguments, is_on};
use super::model::{Archive, Build, Life, Listing, Model};
use super::rows;
use super::xml::Fault;
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Model {
    /// The builds in a tag by the conditions of a call.
    pub(super) fn builds_in(
        &self,
        tag: u64,
        event: Option<u64>,
        given: &Arguments,
    ) -> Result<Vec<(&Build, &Listing)>, Fault> {
        if let Some(kind) = given.text("type").filter(|kind| *kind != "maven") {
            return Err((1000, format!("unsupported build type: {kind}")));
        }
        let is_on = |name: &str| given.get(name).is_some_and(is_on);
        let mut builds = self.tagged(tag, event, is_on("inherit"));
        if let Some(package) = given.text("package") {
            builds.retain(|(build, _)| build.name == package);
        }
        if is_on("latest") {
            let most = given.get("latest").and_then(Value::as_u64).unwrap_or(1);
            let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
            builds.retain(|(build, _)| {
                let count = seen.entry(&build.name).or_default();
                *count += 1;
                *count <= most
            });
        }
        Ok(builds)
    }

    /// The archives of the most recently tagged version of each artifact, deleted ones too.
    pub(super) fn latest_archives(&self, tag: u64, event: Option<u64>, inherit: bool) -> Vec<Value> {
        let packages = self.package_list(tag, event);
        let mut taken: BTreeMap<(&str, &str), (&str, u64)> = BTreeMap::new();
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        for tag in self.line(tag, event, inherit) {
            let mut listings: Vec<&Listing> =
                self.listings.iter().filter(|row| row.tag == tag && row.life.holds(event)).collect();
            listings.sort_by_key(|row| std::cmp::Reverse(row.life.created));
            for row in listings {
                let build = self.build(row.build);
                if packages.get(build.name.as_str()) != Some(&false) {
                    continue;
                }
                for archive in self.archives.iter().filter(|archive| archive.build == build.id) {
                    let [group, artifact, version] = &archive.maven;
                    let first = taken.entry((group, artifact)).or_insert((version, build.id));
                    if *first == (version.as_str(), build.id) && !seen.contains(&archive.id) {
                        seen.push(archive.id);
                        found.push(rows::latest(self, archive, build, row));
                    }
                }
            }
        }
        found
    }

    /// The archives by the conditions of a call.
    pub(super) fn archives_by(&self, given: &Arguments) -> Vec<Value> {
        let maven = given.text("type") == Some("maven");
        let coordinates = given.get("typeInfo");
        let is_wanted = |archive: &&Archive| {
            let number = |name: &str, is: u64| given.get(name).is_none_or(|wanted| wanted == &json!(is));
            let text = |name: &str, is: &str| given.get(name).is_none_or(|wanted| wanted == &json!(is));
            let (kind, checksum) = archive.checksum();
            let coordinate = |(name, is): (&str, &String)| {
                coordinates.and_then(|wanted| wanted.get(name)).is_none_or(|wanted| wanted == &json!(is))
            };
            number("buildID", archive.build)
                && number("archiveID", archive.id)
                && number("checksum_type", kind)
                && text("checksum", &checksum)
                && text("filename", &archive.filename)
                && ["group_id", "artifact_id", "version"].into_iter().zip(&archive.maven).all(coordinate)
        };
        let found: Vec<&Archive> = self.archives.iter().filter(is_wanted).collect();
        let (skipped, most) = paged(given);
        found.into_iter().skip(skipped).take(most).map(|archive| rows::archive(archive, maven)).collect()
    }

    /// The builds by type and coordinates, which are those of the build and not of its archives.
    pub(super) fn builds_by(&self, given: &Arguments) -> Vec<Value> {
        let coordinates = given.get("typeInfo");
        let is_wanted = |build: &&Build| {
            let same = |(name, is): (&str, &String)| {
                coordinates.and_then(|wanted| wanted.get(name)).is_none_or(|wanted| wanted == &json!(is))
            };
            ["group_id", "artifact_id", "version"].into_iter().zip(&build.maven).all(same)
                && given.get("state").is_none_or(|wanted| wanted == &json!(build.state))
        };
        let (skipped, most) = paged(given);
        let found = self.builds.iter().filter(is_wanted).skip(skipped).take(most);
        found.map(|build| rows::build(self, build)).collect()
    }

    /// The rows of the tables of a tag, or only the rows that began or ended after an event.
    pub(super) fn history(&self, given: &Arguments) -> Result<Value, Fault> {
        let wanted = |name: &str| given.get(name).filter(|value| !value.is_null());
        let tag = match wanted("tag") {
            Some(tag) => {
                let found = self.named_tag(tag).ok_or_else(|| (1000, format!("No such entry in table tag: {tag}")))?;
                Some(found.id)
            }
            None => None,
        };
        let after = wanted("afterEvent").and_then(Value::as_u64);
        let is_of = |own: u64, life: Life| {
            tag.is_none_or(|tag| tag == own) && after.is_none_or(|after| life.changed_after(after))
        };
        let all = ["tag_config", "tag_inheritance", "tag_listing", "tag_package_owners", "tag_packages"]
            .map(|table| json!(table));
        let tables = wanted("tables").and_then(Value::as_array).cloned().unwrap_or_else(|| all.to_vec());
        let mut answer = json!({});
        for table in tables.iter().map(|table| table.as_str().unwrap_or_default()) {
            // Tables without builds are left out where a build is asked for.
            if wanted("build").is_some() && table != "tag_listing" {
                continue;
            }
            let rows: Vec<Value> = match table {
                "tag_listing" => {
                    let build = wanted("build").and_then(|build| self.find_build(build)).map(|build| build.id);
                    let own = |row: &&Listing| is_of(row.tag, row.life) && build.is_none_or(|build| build == row.build);
                    self.listings.iter().filter(own).map(|row| rows::listing(self, row, after)).collect()
                }
                "tag_packages" => {
                    let own = self.packages.iter().filter(|row| is_of(row.tag, row.life));
                    own.map(|row| rows::package(self, row, after)).collect()
                }
                "tag_inheritance" => {
                    let own = self.links.iter().filter(|row| is_of(row.child, row.life) || is_of(row.parent, row.life));
                    own.map(|row| rows::link(self, row, after)).collect()
                }
                "tag_config" => {
                    let own = self.tags.iter().filter(|row| is_of(row.id, row.life));
                    own.map(|row| rows::config(self, row, after)).collect()
                }
                "tag_package_owners" => {
                    let own = self.packages.iter().filter(|row| is_of(row.tag, row.life));
                    own.map(|row| rows::owner(self, row, after)).collect()
                }
                // Tables that nothing here fills.
                "tag_extra" | "tag_external_repos" | "build_target_config" => Vec::new(),
                _ => return Err((1000, format!("No such history table: {table}"))),
            };
            answer[table] = json!(rows);
        }
        Ok(answer)
    }
}

/// How many to leave out first, and how many to give at most.
fn paged(given: &Arguments) -> (usize, usize) {
    let options = given.get("queryOpts").cloned().unwrap_or_default();
    let number = |name: &str| options[name].as_u64().map(|number| number as usize);
    (number("offset").unwrap_or(0), number("limit").unwrap_or(usize::MAX))
}
