//! Gems and their versions as JSON, with the keys of the API of gem servers.
//!
//! Unknown values are null: the number of downloads, the digest of the gemspec, the page, and what an upstream's index
//! does not tell.

use super::{Kind, Package, Requirement};
use serde_json::{Map, Value, json};

/// Fields that no index has.
const UNKNOWN: [&str; 7] = ["authors", "info", "licenses", "description", "summary", "built_at", "requirements"];
/// Fields that only some lines of an index have.
const MAY_BE_UNKNOWN: [&str; 3] = ["sha", "created_at", "version_created_at"];

/// A published version.
#[derive(Debug)]
pub struct Published {
    /// The known facts.
    pub package: Package,
    /// SHA-256 of the gem, hexadecimal.
    pub sha256: String,
    /// The time of publication, in RFC 3339.
    pub at: String,
    /// The source of the facts.
    pub of: FactsOf,
}

/// The source of the facts about a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactsOf {
    /// Its gemspec.
    Gemspec,
    /// A line of `/info`.
    Info,
    /// `/versions`, which has no dependencies.
    Versions,
}

impl FactsOf {
    fn leave_out_unknown(self, mut told: Value) -> Value {
        if let (Self::Info | Self::Versions, Value::Object(told)) = (self, &mut told) {
            let unknown = |key: &str, value: &Value| {
                UNKNOWN.contains(&key)
                    || MAY_BE_UNKNOWN.contains(&key) && value.as_str() == Some("")
                    || self == Self::Versions && key == "dependencies"
            };
            told.iter_mut().filter(|(key, value)| unknown(key, value)).for_each(|(_, value)| *value = Value::Null);
        }
        told
    }
}

/// The version that represents the gem: the highest, preferring released versions, and `ruby` before other platforms.
pub fn latest(versions: &[Published]) -> Option<&Published> {
    versions.iter().max_by(|a, b| {
        let rank = |of: &Published| (!of.package.number.prerelease(), of.package.platform == "ruby");
        let (a_rank, b_rank) = (rank(a), rank(b));
        let order = a_rank.0.cmp(&b_rank.0).then_with(|| a.package.number.cmp(&b.package.number));
        order.then_with(|| a_rank.1.cmp(&b_rank.1))
    })
}

/// Sorts versions for a listing: the highest first.
pub fn sort(versions: &mut [Published]) {
    versions.sort_by(|a, b| b.package.number.cmp(&a.package.number).then(a.package.platform.cmp(&b.package.platform)));
}

/// A gem, represented by one of its versions. `base` is the URL of its repository, without a slash at the end.
pub fn gem(version: &Published, base: &str) -> Value {
    let package = &version.package;
    let link = |key: &str| package.metadata.get(key).filter(|uri| !uri.is_empty());
    let of = |kind| {
        let deps = package.dependencies.iter().filter(|dependency| dependency.kind == kind);
        deps.map(|dependency| json!({ "name": dependency.name, "requirements": words(&dependency.requirement) }))
            .collect::<Vec<_>>()
    };
    let told = json!({
        "name": package.name,
        "downloads": null,
        "version": package.number.as_str(),
        "version_created_at": version.at,
        "version_downloads": null,
        "platform": package.platform,
        "authors": package.authors.join(", "),
        "info": package.description.as_ref().unwrap_or(&package.summary),
        "licenses": package.licenses,
        "metadata": package.metadata,
        "yanked": false,
        "sha": version.sha256,
        "spec_sha": null,
        "project_uri": null,
        "gem_uri": format!("{base}/gems/{}.gem", package.full_name()),
        "homepage_uri": link("homepage_uri").or(package.homepage.as_ref()),
        "wiki_uri": link("wiki_uri"),
        "documentation_uri": link("documentation_uri"),
        "mailing_list_uri": link("mailing_list_uri"),
        "source_code_uri": link("source_code_uri"),
        "bug_tracker_uri": link("bug_tracker_uri"),
        "changelog_uri": link("changelog_uri"),
        "funding_uri": link("funding_uri"),
        "dependencies": { "development": of(Kind::Development), "runtime": of(Kind::Runtime) },
    });
    version.of.leave_out_unknown(told)
}

/// One version.
pub fn version(version: &Published) -> Value {
    let package = &version.package;
    let told = json!({
        "authors": package.authors.join(", "),
        "built_at": package.date.as_ref().map(|day| format!("{day}T00:00:00.000Z")),
        "created_at": version.at,
        "description": package.description,
        "downloads_count": null,
        "metadata": package.metadata,
        "number": package.number.as_str(),
        "summary": package.summary,
        "platform": package.platform,
        "rubygems_version": words(&package.required_rubygems),
        "ruby_version": words(&package.required_ruby),
        "prerelease": package.number.prerelease(),
        "licenses": package.licenses,
        "requirements": package.requirements,
        "sha": version.sha256,
        "spec_sha": null,
    });
    version.of.leave_out_unknown(told)
}

/// A gem and one of its versions combined.
pub fn gem_with_version(one: &Published, base: &str) -> Value {
    let mut all = Map::new();
    for part in [gem(one, base), version(one)] {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    Value::Object(all)
}

/// `>= 1.0, < 2`.
fn words(requirement: &Requirement) -> String {
    let each = requirement.constraints().iter().map(|(op, version)| format!("{} {version}", op.as_str()));
    let text = each.collect::<Vec<_>>().join(", ");
    if text.is_empty() { ">= 0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::{Dependency, Version};
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn published(number: &str, platform: &str) -> Published {
        let runtime = Requirement::parse(">= 1.0, < 2").unwrap();
        let dependency = |name: &str, kind| Dependency { name: name.into(), kind, requirement: runtime.clone() };
        let package = Package {
            v: 1,
            name: "lamp".into(),
            number: Version::parse(number).unwrap(),
            platform: platform.into(),
            authors: vec!["A".into(), "B".into()],
            email: Vec::new(),
            email_list: false,
            summary: "Gives light".into(),
            description: None,
            homepage: Some("http://home".into()),
            licenses: vec!["MIT".into()],
            metadata: BTreeMap::from([("wiki_uri".into(), "http://wiki".into())]),
            dependencies: vec![dependency("oil", Kind::Runtime), dependency("rake", Kind::Development)],
            required_ruby: Requirement::parse(">= 2.7").unwrap(),
            required_rubygems: Requirement::default(),
            requirements: Vec::new(),
            executables: Vec::new(),
            extensions: false,
            date: Some("2026-01-02".into()),
            rubygems_version: None,
            specification_version: 4,
            signed: false,
        };
        Published { package, sha256: "abc".into(), at: "2026-01-03T00:00:00.000Z".into(), of: FactsOf::Gemspec }
    }

    fn keys(value: &Value) -> BTreeSet<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn a_gem_and_a_version_have_the_keys_that_clients_know() {
        let one = published("1.0", "java");
        let told = gem(&one, "http://here");
        let expected = "name downloads version version_created_at version_downloads platform authors info licenses metadata \
                        yanked sha spec_sha project_uri gem_uri homepage_uri wiki_uri documentation_uri mailing_list_uri \
                        source_code_uri bug_tracker_uri changelog_uri funding_uri dependencies";
        assert_eq!(keys(&told), expected.split_whitespace().collect());
        assert_eq!(told["gem_uri"], "http://here/gems/lamp-1.0-java.gem");
        assert_eq!((&told["homepage_uri"], &told["wiki_uri"]), (&json!("http://home"), &json!("http://wiki")));
        assert_eq!(told["dependencies"]["runtime"], json!([{ "name": "oil", "requirements": ">= 1.0, < 2" }]));
        assert_eq!((&told["info"], &told["authors"]), (&json!("Gives light"), &json!("A, B")));

        let told = version(&one);
        let expected = "authors built_at created_at description downloads_count metadata number summary platform \
                        rubygems_version ruby_version prerelease licenses requirements sha spec_sha";
        assert_eq!(keys(&told), expected.split_whitespace().collect());
        assert_eq!((&told["ruby_version"], &told["rubygems_version"]), (&json!(">= 2.7"), &json!(">= 0")));
        let both = gem_with_version(&one, "http://here");
        assert!(both["number"] == "1.0" && both["version"] == "1.0");
    }

    #[test]
    fn the_highest_release_for_ruby_stands_for_the_gem() {
        let pick = |all: &[(&str, &str)]| {
            let all: Vec<_> = all.iter().map(|(number, platform)| published(number, platform)).collect();
            latest(&all).map(|of| (of.package.number.to_string(), of.package.platform.clone()))
        };
        assert_eq!(pick(&[]), None);
        let is = |number: &str, platform: &str| Some((number.to_owned(), platform.to_owned()));
        assert_eq!(pick(&[("1.9", "ruby"), ("1.10", "java"), ("2.0.rc1", "ruby")]), is("1.10", "java"));
        assert_eq!(pick(&[("1.0", "ruby"), ("1.0", "java")]), is("1.0", "ruby"));
        assert_eq!(pick(&[("1.0.a", "ruby")]), is("1.0.a", "ruby"));
        let mut all = ["1.9", "2.0.a", "1.10"].map(|number| published(number, "ruby"));
        sort(&mut all);
        assert_eq!(all.map(|of| of.package.number.to_string()), ["2.0.a", "1.10", "1.9"]);
    }
}
