//! Reads the facts from the YAML of a gemspec: tolerant of the output of three decades of RubyGems, strict about
//! everything that ends up in an index. Of a gem that was published elsewhere, the other fields are mended.

use super::invalid::quoted;
use super::limits::Limits;
use super::standard::Standard;
use super::yaml::{Node, Tag, Value};
use super::{Dependency, Invalid, Kind, Op, Package, Requirement, Version, name};
use std::collections::BTreeMap;

/// The longest text: description, summary, all authors together.
const TEXT_MAX: usize = 64_000;
/// The longest other field: an address, or the name of an executable.
const FIELD_MAX: usize = 255;
const LICENSE_MAX: usize = 64;
const METADATA_KEY_MAX: usize = 128;
const METADATA_VALUE_MAX: usize = 1024;

/// Metadata that must be links, because clients open them.
const LINKS: [&str; 9] = [
    "bug_tracker_uri",
    "changelog_uri",
    "documentation_uri",
    "download_uri",
    "funding_uri",
    "homepage_uri",
    "mailing_list_uri",
    "source_code_uri",
    "wiki_uri",
];

/// A gemspec, and whether it has a certificate chain.
pub(crate) fn read(spec: &Node, limits: &Limits, standard: Standard) -> Result<(Package, bool), Invalid> {
    if spec.tag != Tag::Specification {
        return Err(Invalid::BadField { field: "metadata.gz", expected: "a `Gem::Specification`" });
    }
    Gemspec { spec, limits, standard }.read()
}

/// A gemspec that is being read.
struct Gemspec<'a> {
    spec: &'a Node,
    limits: &'a Limits,
    standard: Standard,
}

impl Gemspec<'_> {
    fn read(&self) -> Result<(Package, bool), Invalid> {
        let name = self.spec.get("name").ok_or(Invalid::MissingField("name"))?.text("name")?.to_owned();
        let number = self.spec.get("version").ok_or(Invalid::MissingField("version"))?;
        let number = Version::published(self.version(number, "version")?)?;
        let items = self.limits.list_items;
        let authors = self.texts("authors", TEXT_MAX, items)?;
        let summary = self.text("summary", TEXT_MAX)?;
        if self.standard == Standard::Push {
            name::check(&name)?;
            if authors.iter().all(|author| author.trim().is_empty()) {
                return Err(Invalid::MissingField("authors"));
            }
            if summary.as_ref().is_none_or(|summary| summary.trim().is_empty()) {
                return Err(Invalid::MissingField("summary"));
            }
        } else {
            name::check_dependency(&name)?;
        }
        let mut licenses = self.texts("licenses", FIELD_MAX * LICENSE_MAX, items)?;
        licenses.extend(self.text("license", LICENSE_MAX)?);
        let short = |license: String| self.mended("licenses", license, LICENSE_MAX);
        let licenses = licenses.into_iter().map(short).collect::<Result<_, _>>()?;
        let email = self.texts("email", TEXT_MAX, items)?;
        let package = Package {
            v: Package::V,
            name,
            number,
            platform: self.platform()?,
            authors,
            email_list: email.len() < 2 && is_list(self.spec, "email"),
            email,
            summary: summary.unwrap_or_default(),
            description: self.text("description", TEXT_MAX)?,
            homepage: self.text("homepage", FIELD_MAX)?,
            licenses,
            metadata: self.metadata()?,
            dependencies: self.dependencies()?,
            required_ruby: self.requirement(self.spec.get("required_ruby_version"), "required_ruby_version")?,
            required_rubygems: self
                .requirement(self.spec.get("required_rubygems_version"), "required_rubygems_version")?,
            requirements: self.texts("requirements", TEXT_MAX, items)?,
            executables: self.texts("executables", TEXT_MAX, items)?,
            extensions: listed(self.spec, "extensions"),
            date: self.or_none(date(self.text("date", FIELD_MAX)?))?,
            rubygems_version: match self.spec.get("rubygems_version") {
                Some(node) => Some(self.version(node, "rubygems_version")?.to_owned()),
                None => None,
            },
            specification_version: self.specification_version()?.unwrap_or(4),
            signed: false,
        };
        let certificates = self.texts("cert_chain", TEXT_MAX, items)?;
        Ok((package, !certificates.is_empty()))
    }

    /// A field that no installation needs: outside of a push it is left out if it is invalid.
    fn or_none<T>(&self, read: Result<Option<T>, Invalid>) -> Result<Option<T>, Invalid> {
        if self.standard.is_install() { Ok(read.unwrap_or_default()) } else { read }
    }

    /// A text of at most `limit` characters. Clients print texts on a terminal, which interprets control characters;
    /// newer clients remove such characters (`clean_text`).
    fn mended(&self, field: &'static str, text: String, limit: usize) -> Result<String, Invalid> {
        let drives = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
        match self.standard {
            Standard::Push if text.chars().nth(limit).is_some() => Err(Invalid::TextTooLong { field, limit }),
            Standard::Push if text.contains(drives) => Err(Invalid::ControlCharacters(field)),
            Standard::Push => Ok(text),
            Standard::Install => Ok(text.chars().filter(|c| !drives(*c)).take(limit).collect()),
        }
    }

    fn text(&self, field: &'static str, limit: usize) -> Result<Option<String>, Invalid> {
        let Some(node) = self.spec.get(field) else { return Ok(None) };
        match node.any_text() {
            Some(text) => self.mended(field, text.to_owned(), limit).map(Some),
            None => self.or_none(Err(Invalid::BadField { field, expected: "a text" })),
        }
    }

    /// A text, or a list of texts. Older gemspecs have nested lists, and nulls in them. `limit` applies to all texts
    /// together.
    fn texts(&self, field: &'static str, limit: usize, items: usize) -> Result<Vec<String>, Invalid> {
        fn gather(node: &Node, into: &mut Vec<String>) -> bool {
            match &node.value {
                Value::Null => true,
                Value::Text(text) => {
                    into.push(text.clone());
                    true
                }
                Value::List(items) => items.iter().filter(|item| !gather(item, into)).count() == 0, // gathers all
                Value::Map(_) => false,
            }
        }
        let mut all = Vec::new();
        let fine = self.spec.get(field).is_none_or(|node| gather(node, &mut all));
        if self.standard.is_install() {
            all.truncate(items);
        } else if !fine {
            return Err(Invalid::BadField { field, expected: "a list of texts" });
        } else if all.iter().map(|text| text.chars().count()).sum::<usize>() > limit {
            return Err(Invalid::TextTooLong { field, limit });
        }
        few(field, all.len(), items)?;
        let mut room = limit;
        let mend = |text: String| {
            let text = self.mended(field, text, room)?;
            room -= text.chars().count();
            Ok(text)
        };
        all.into_iter().map(mend).collect()
    }

    /// The text of a version: a `Gem::Version`, or only its text. RubyGems reads an empty one as `0` and, before 4.0,
    /// ignores white space around it, but some clients would not.
    fn version<'n>(&self, node: &'n Node, field: &'static str) -> Result<&'n str, Invalid> {
        let bad = |expected| Invalid::BadField { field, expected };
        let inner = if node.tag == Tag::Version { node.get("version") } else { Some(node) };
        let text = match self.standard {
            Standard::Push => inner.ok_or_else(|| bad("a version"))?.text(field)?,
            Standard::Install => inner.and_then(Node::any_text).unwrap_or_default().trim(),
        };
        if text.trim() != text {
            return Err(bad("a version without white space around it"));
        }
        Ok(if text.is_empty() { "0" } else { text })
    }

    fn requirement(&self, node: Option<&Node>, field: &'static str) -> Result<Requirement, Invalid> {
        let bad = || Invalid::BadField { field, expected: "a requirement" };
        let Some(node) = node else { return Ok(Requirement::default()) };
        let list = node.get("requirements").filter(|_| node.tag == Tag::Requirement);
        let Some(Value::List(items)) = list.map(|list| &list.value) else {
            // RubyGems before 0.9.5 wrote `version` or `none` instead, which no current client reads.
            let text = node.get("version").unwrap_or(node).any_text().unwrap_or(">= 0");
            return if self.standard.is_install() { Requirement::parse(text) } else { Err(bad()) };
        };
        few(field, items.len(), self.limits.list_items)?;
        let constraints = items.iter().map(|item| {
            let Value::List(pair) = &item.value else { return Err(bad()) };
            let [op, number] = pair.as_slice() else { return Err(bad()) };
            let op = if op.tag == Tag::DefaultKey { Op::Equal.as_str() } else { op.text(field)? };
            let op = Op::parse(op).ok_or_else(|| Invalid::BadRequirement(quoted(op)))?;
            Ok((op, Version::parse(self.version(number, field)?)?))
        });
        Ok(Requirement::new(constraints.collect::<Result<_, _>>()?))
    }

    fn dependencies(&self) -> Result<Vec<Dependency>, Invalid> {
        let bad = || Invalid::BadField { field: "dependencies", expected: "a list of `Gem::Dependency`" };
        let Some(node) = self.spec.get("dependencies") else { return Ok(Vec::new()) };
        let Value::List(items) = &node.value else { return Err(bad()) };
        few("dependencies", items.len(), self.limits.dependencies)?;
        let dependency = |item: &Node| {
            if item.tag != Tag::Dependency {
                return Err(bad());
            }
            let name = item.get("name").ok_or_else(bad)?.text("name")?.to_owned();
            name::check_dependency(&name)?;
            let kind = match item.get("type") {
                None => Kind::Runtime,
                Some(node) if node.is_symbol("runtime") => Kind::Runtime,
                Some(node) if node.is_symbol("development") => Kind::Development,
                Some(_) if self.standard.is_install() => Kind::Runtime,
                Some(_) => return Err(Invalid::BadField { field: "type", expected: "`:runtime` or `:development`" }),
            };
            let asked = ["requirement", "version_requirements", "version_requirement"];
            let requirement = self.requirement(asked.iter().find_map(|key| item.get(key)), "requirement")?;
            Ok(Dependency { name, kind, requirement })
        };
        items.iter().map(dependency).collect()
    }

    /// The platform as pushed, because clients also request the file under this name. RubyGems reads only `platform`,
    /// so a pushed gemspec with another value under the older keys would be two different gems.
    fn platform(&self) -> Result<String, Invalid> {
        let text = |node: &Node| match self.standard {
            Standard::Push => node.text("platform").map(str::to_owned),
            Standard::Install => Ok(node.any_text().unwrap_or_default().to_owned()),
        };
        let read = |key| match self.spec.get(key) {
            None => Ok(None),
            Some(node) if node.tag == Tag::Platform => {
                let parts = ["cpu", "os", "version"].iter().filter_map(|part| node.get(part));
                Ok(Some(parts.map(text).collect::<Result<Vec<_>, _>>()?.join("-")))
            }
            Some(node) => text(node).map(Some),
        };
        let platform = read("platform")?.filter(|platform| !platform.is_empty()).unwrap_or_else(|| "ruby".to_owned());
        name::check_platform(&platform)?;
        for older in ["original_platform", "new_platform"].into_iter().filter(|_| self.standard == Standard::Push) {
            if read(older)?.is_some_and(|other| !other.is_empty() && other != platform) {
                return Err(Invalid::UnclearPlatform("the gemspec has more than one platform"));
            }
        }
        // `current` means the platform of the machine that reads it, and any other spelling of `ruby` is parsed as a
        // processor of that name.
        match platform.to_ascii_lowercase().as_str() {
            "current" => Err(Invalid::UnclearPlatform("`current` is another platform on each machine")),
            "ruby" if platform != "ruby" => Err(Invalid::UnclearPlatform("`ruby` is written in small letters")),
            _ => Ok(platform),
        }
    }

    fn metadata(&self) -> Result<BTreeMap<String, String>, Invalid> {
        let bad = || Invalid::BadField { field: "metadata", expected: "a mapping of texts to texts" };
        let pairs = match self.spec.get("metadata").map(|node| &node.value) {
            None => return Ok(BTreeMap::new()),
            Some(Value::Map(pairs)) => pairs,
            Some(_) => return self.or_none(Err(bad())).map(Option::unwrap_or_default),
        };
        few("metadata", pairs.len(), self.limits.metadata_pairs)?;
        let pair = |(key, node): &(String, Node)| {
            let (Some(value), false) = (node.any_text(), key.is_empty()) else { return Err(bad()) };
            let key = self.mended("metadata", key.clone(), METADATA_KEY_MAX)?;
            let value = self.mended("metadata", value.to_owned(), METADATA_VALUE_MAX)?;
            link(&key, &value)?;
            Ok(Some((key, value)))
        };
        pairs.iter().filter_map(|one| self.or_none(pair(one)).transpose()).collect()
    }

    fn specification_version(&self) -> Result<Option<u32>, Invalid> {
        let bad = |_| Invalid::BadField { field: "specification_version", expected: "a number" };
        let text = self.text("specification_version", FIELD_MAX)?;
        self.or_none(text.map(|text| text.parse().map_err(bad)).transpose())
    }
}

fn is_list(spec: &Node, field: &str) -> bool {
    spec.get(field).is_some_and(|node| matches!(node.value, Value::List(_)))
}

fn listed(spec: &Node, field: &str) -> bool {
    spec.get(field).is_some_and(|node| matches!(&node.value, Value::List(items) if !items.is_empty()))
}

fn few(field: &'static str, count: usize, limit: usize) -> Result<(), Invalid> {
    if count > limit { Err(Invalid::TooMany { field, limit }) } else { Ok(()) }
}

/// Whether metadata that must be a link is one.
fn link(key: &str, value: &str) -> Result<(), Invalid> {
    let Some(link) = LINKS.into_iter().find(|link| *link == key) else { return Ok(()) };
    match value.strip_prefix("https://").or_else(|| value.strip_prefix("http://")) {
        Some(rest) if !rest.is_empty() && !rest.contains(|c: char| c.is_whitespace() || c.is_control()) => Ok(()),
        _ => Err(Invalid::BadLink(link)),
    }
}

/// The day, of `2026-11-20 00:00:00.000000000 Z` or of a plain date.
fn date(text: Option<String>) -> Result<Option<String>, Invalid> {
    let Some(text) = text else { return Ok(None) };
    let (day, time) = text.split_at_checked(10).unwrap_or((&text, ""));
    match day.parse::<jiff::civil::Date>() {
        Ok(day) if time.bytes().all(|byte| b"0123456789 :.Z+-".contains(&byte)) => Ok(Some(day.to_string())),
        _ => Err(Invalid::BadField { field: "date", expected: "a date" }),
    }
}

#[cfg(test)]
mod tests;
