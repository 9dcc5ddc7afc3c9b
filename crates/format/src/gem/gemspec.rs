//! Reads the facts from the YAML of a gemspec: tolerant of the output of three decades of RubyGems, strict about
//! everything that ends up in an index.

use super::invalid::quoted;
use super::limits::Limits;
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
pub(crate) fn read(spec: &Node, limits: &Limits) -> Result<(Package, bool), Invalid> {
    if spec.tag != Tag::Specification {
        return Err(Invalid::BadField { field: "metadata.gz", expected: "a `Gem::Specification`" });
    }
    let name = spec.get("name").ok_or(Invalid::MissingField("name"))?.text("name")?.to_owned();
    name::check(&name)?;
    let number = spec.get("version").ok_or(Invalid::MissingField("version"))?;
    let number = Version::published(version(number, "version")?)?;
    let authors = texts(spec, "authors", TEXT_MAX, limits.list_items)?;
    if authors.iter().all(|author| author.trim().is_empty()) {
        return Err(Invalid::MissingField("authors"));
    }
    let summary = text(spec, "summary", TEXT_MAX)?
        .filter(|text| !text.trim().is_empty())
        .ok_or(Invalid::MissingField("summary"))?;
    let mut licenses = texts(spec, "licenses", FIELD_MAX * LICENSE_MAX, limits.list_items)?;
    licenses.extend(text(spec, "license", LICENSE_MAX)?);
    for license in &licenses {
        short("licenses", license, LICENSE_MAX)?;
    }
    let email = texts(spec, "email", TEXT_MAX, limits.list_items)?;
    let package = Package {
        v: Package::V,
        name,
        number,
        platform: platform(spec)?,
        authors,
        email_list: email.len() < 2 && is_list(spec, "email"),
        email,
        summary,
        description: text(spec, "description", TEXT_MAX)?,
        homepage: text(spec, "homepage", FIELD_MAX)?,
        licenses,
        metadata: metadata(spec, limits)?,
        dependencies: dependencies(spec, limits)?,
        required_ruby: requirement(spec.get("required_ruby_version"), "required_ruby_version", limits)?,
        required_rubygems: requirement(spec.get("required_rubygems_version"), "required_rubygems_version", limits)?,
        requirements: texts(spec, "requirements", TEXT_MAX, limits.list_items)?,
        executables: texts(spec, "executables", TEXT_MAX, limits.list_items)?,
        extensions: listed(spec, "extensions"),
        date: date(spec)?,
        rubygems_version: match spec.get("rubygems_version") {
            Some(node) => Some(version(node, "rubygems_version")?.to_owned()),
            None => None,
        },
        specification_version: text(spec, "specification_version", FIELD_MAX)?
            .map_or(Ok(4), |text| text.parse())
            .map_err(|_| Invalid::BadField { field: "specification_version", expected: "a number" })?,
        signed: false,
    };
    let certificates = texts(spec, "cert_chain", TEXT_MAX, limits.list_items)?;
    Ok((package, !certificates.is_empty()))
}

fn is_list(spec: &Node, field: &str) -> bool {
    spec.get(field).is_some_and(|node| matches!(node.value, Value::List(_)))
}

fn listed(spec: &Node, field: &str) -> bool {
    spec.get(field).is_some_and(|node| matches!(&node.value, Value::List(items) if !items.is_empty()))
}

fn short(field: &'static str, text: &str, limit: usize) -> Result<(), Invalid> {
    if text.chars().count() > limit { Err(Invalid::TextTooLong { field, limit }) } else { printable(field, text) }
}

/// Clients print texts on a terminal, which interprets control characters; newer clients remove such characters
/// (`clean_text`).
fn printable(field: &'static str, text: &str) -> Result<(), Invalid> {
    let drives = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    if text.contains(drives) { Err(Invalid::ControlCharacters(field)) } else { Ok(()) }
}

fn few(field: &'static str, count: usize, limit: usize) -> Result<(), Invalid> {
    if count > limit { Err(Invalid::TooMany { field, limit }) } else { Ok(()) }
}

fn text(spec: &Node, field: &'static str, limit: usize) -> Result<Option<String>, Invalid> {
    let Some(node) = spec.get(field) else { return Ok(None) };
    let Value::Text(text) = &node.value else { return Err(Invalid::BadField { field, expected: "a text" }) };
    short(field, text, limit)?;
    Ok(Some(text.clone()))
}

/// A text, or a list of texts. Older gemspecs have nested lists, and nulls in them. `limit` applies to all texts
/// together.
fn texts(spec: &Node, field: &'static str, limit: usize, items: usize) -> Result<Vec<String>, Invalid> {
    fn gather(node: &Node, into: &mut Vec<String>) -> bool {
        match &node.value {
            Value::Null => true,
            Value::Text(text) => {
                into.push(text.clone());
                true
            }
            Value::List(items) => items.iter().all(|item| gather(item, into)),
            Value::Map(_) => false,
        }
    }
    let mut all = Vec::new();
    if !spec.get(field).is_none_or(|node| gather(node, &mut all)) {
        return Err(Invalid::BadField { field, expected: "a list of texts" });
    }
    if all.iter().map(|text| text.chars().count()).sum::<usize>() > limit {
        return Err(Invalid::TextTooLong { field, limit });
    }
    few(field, all.len(), items)?;
    all.iter().try_for_each(|text| printable(field, text))?;
    Ok(all)
}

/// The text of a version: a `Gem::Version`, or only its text. RubyGems reads an empty one as `0` and ignores white
/// space around it, but some clients would not.
fn version<'a>(node: &'a Node, field: &'static str) -> Result<&'a str, Invalid> {
    let bad = |expected| Invalid::BadField { field, expected };
    let inner = if node.tag == Tag::Version { node.get("version") } else { Some(node) };
    let text = inner.ok_or_else(|| bad("a version"))?.text(field)?;
    if text.trim() != text {
        return Err(bad("a version without white space around it"));
    }
    Ok(if text.is_empty() { "0" } else { text })
}

fn requirement(node: Option<&Node>, field: &'static str, limits: &Limits) -> Result<Requirement, Invalid> {
    let bad = || Invalid::BadField { field, expected: "a requirement" };
    let Some(node) = node else { return Ok(Requirement::default()) };
    if node.tag != Tag::Requirement {
        return Err(bad());
    }
    // RubyGems before 0.9.5 wrote `version` or `none` instead, which no current client reads.
    let Some(Value::List(items)) = node.get("requirements").map(|list| &list.value) else { return Err(bad()) };
    few(field, items.len(), limits.list_items)?;
    let constraints = items.iter().map(|item| {
        let Value::List(pair) = &item.value else { return Err(bad()) };
        let [op, number] = pair.as_slice() else { return Err(bad()) };
        let op = op.text(field)?;
        let op = Op::parse(op).ok_or_else(|| Invalid::BadRequirement(quoted(op)))?;
        Ok((op, Version::parse(version(number, field)?)?))
    });
    Ok(Requirement::new(constraints.collect::<Result<_, _>>()?))
}

fn dependencies(spec: &Node, limits: &Limits) -> Result<Vec<Dependency>, Invalid> {
    let bad = || Invalid::BadField { field: "dependencies", expected: "a list of `Gem::Dependency`" };
    let Some(node) = spec.get("dependencies") else { return Ok(Vec::new()) };
    let Value::List(items) = &node.value else { return Err(bad()) };
    few("dependencies", items.len(), limits.dependencies)?;
    let dependency = |item: &Node| {
        if item.tag != Tag::Dependency {
            return Err(bad());
        }
        let name = item.get("name").ok_or_else(bad)?.text("name")?.to_owned();
        name::check_dependency(&name)?;
        let kind = match item.get("type") {
            None => Kind::Runtime,
            Some(node) if node.is_symbol(":runtime") => Kind::Runtime,
            Some(node) if node.is_symbol(":development") => Kind::Development,
            Some(_) => return Err(Invalid::BadField { field: "type", expected: "`:runtime` or `:development`" }),
        };
        let asked = ["requirement", "version_requirements", "version_requirement"];
        let requirement = requirement(asked.iter().find_map(|key| item.get(key)), "requirement", limits)?;
        Ok(Dependency { name, kind, requirement })
    };
    items.iter().map(dependency).collect()
}

/// The platform as pushed, because clients also request the file under this name. RubyGems reads only `platform`, so
/// a gemspec with another value under the older keys would be two different gems.
fn platform(spec: &Node) -> Result<String, Invalid> {
    let read = |key| match spec.get(key) {
        None => Ok(None),
        Some(node) if node.tag == Tag::Platform => {
            let parts = ["cpu", "os", "version"].iter().filter_map(|part| node.get(part));
            let parts = parts.map(|part| part.text("platform")).collect::<Result<Vec<_>, _>>()?;
            Ok(Some(parts.join("-")))
        }
        Some(node) => node.text("platform").map(|text| Some(text.to_owned())),
    };
    let platform = read("platform")?.filter(|platform| !platform.is_empty()).unwrap_or_else(|| "ruby".to_owned());
    name::check_platform(&platform)?;
    for older in ["original_platform", "new_platform"] {
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

fn metadata(spec: &Node, limits: &Limits) -> Result<BTreeMap<String, String>, Invalid> {
    let bad = || Invalid::BadField { field: "metadata", expected: "a mapping of texts to texts" };
    let Some(node) = spec.get("metadata") else { return Ok(BTreeMap::new()) };
    let Value::Map(pairs) = &node.value else { return Err(bad()) };
    few("metadata", pairs.len(), limits.metadata_pairs)?;
    let mut metadata = BTreeMap::new();
    for (key, node) in pairs {
        let Value::Text(value) = &node.value else { return Err(bad()) };
        if key.is_empty() {
            return Err(bad());
        }
        short("metadata", key, METADATA_KEY_MAX)?;
        short("metadata", value, METADATA_VALUE_MAX)?;
        if let Some(link) = LINKS.into_iter().find(|link| link == key) {
            let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
            if rest.is_none_or(|rest| rest.is_empty() || rest.contains(|c: char| c.is_whitespace() || c.is_control())) {
                return Err(Invalid::BadLink(link));
            }
        }
        metadata.insert(key.clone(), value.clone());
    }
    Ok(metadata)
}

/// The day, of `2026-11-20 00:00:00.000000000 Z` or of a plain date.
fn date(spec: &Node) -> Result<Option<String>, Invalid> {
    let Some(text) = text(spec, "date", FIELD_MAX)? else { return Ok(None) };
    let (day, time) = text.split_at_checked(10).unwrap_or((&text, ""));
    match day.parse::<jiff::civil::Date>() {
        Ok(day) if time.bytes().all(|byte| b"0123456789 :.Z+-".contains(&byte)) => Ok(Some(day.to_string())),
        _ => Err(Invalid::BadField { field: "date", expected: "a date" }),
    }
}

#[cfg(test)]
mod tests;
