//! From the YAML of a gemspec to the facts: tolerant of what three decades of RubyGems wrote, strict about what ends
//! up in an index.

use super::invalid::quoted;
use super::yaml::{Node, Tag, Value};
use super::{Dependency, Invalid, Kind, Op, Package, Requirement, Version, name};
use std::collections::BTreeMap;

/// Longest text: description, summary, all authors.
const TEXT_MAX: usize = 64_000;
/// Longest other field: an address, a program's name.
const FIELD_MAX: usize = 255;
const LICENSE_MAX: usize = 64;
const METADATA_KEY_MAX: usize = 128;
const METADATA_VALUE_MAX: usize = 1024;

/// Metadata that must be links, as clients open them.
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
pub(crate) fn read(spec: &Node) -> Result<(Package, bool), Invalid> {
    if spec.tag != Tag::Specification {
        return Err(Invalid::BadField { field: "metadata.gz", expected: "a `Gem::Specification`" });
    }
    let name = text(spec, "name", FIELD_MAX)?.ok_or(Invalid::MissingField("name"))?;
    name::check(&name)?;
    let number = spec.get("version").ok_or(Invalid::MissingField("version"))?;
    let number = Version::published(&version(number, "version")?)?;
    let authors = texts(spec, "authors", TEXT_MAX)?;
    if authors.iter().all(|author| author.trim().is_empty()) {
        return Err(Invalid::MissingField("authors"));
    }
    let summary = text(spec, "summary", TEXT_MAX)?.ok_or(Invalid::MissingField("summary"))?;
    let mut licenses = texts(spec, "licenses", FIELD_MAX * LICENSE_MAX)?;
    licenses.extend(text(spec, "license", LICENSE_MAX)?);
    for license in &licenses {
        short("licenses", license, LICENSE_MAX)?;
    }
    let package = Package {
        v: Package::V,
        name,
        number,
        platform: platform(spec)?,
        authors,
        email: texts(spec, "email", TEXT_MAX)?,
        summary,
        description: text(spec, "description", TEXT_MAX)?,
        homepage: text(spec, "homepage", FIELD_MAX)?,
        licenses,
        metadata: metadata(spec)?,
        dependencies: dependencies(spec)?,
        required_ruby: requirement(spec.get("required_ruby_version"), "required_ruby_version")?,
        required_rubygems: requirement(spec.get("required_rubygems_version"), "required_rubygems_version")?,
        requirements: texts(spec, "requirements", TEXT_MAX)?,
        executables: texts(spec, "executables", TEXT_MAX)?,
        extensions: listed(spec, "extensions"),
        date: date(spec)?,
        rubygems_version: match spec.get("rubygems_version") {
            Some(node) => Some(version(node, "rubygems_version")?),
            None => None,
        },
        specification_version: text(spec, "specification_version", FIELD_MAX)?
            .map_or(Ok(4), |text| text.parse())
            .map_err(|_| Invalid::BadField { field: "specification_version", expected: "a number" })?,
        signed: false,
    };
    Ok((package, listed(spec, "cert_chain")))
}

fn listed(spec: &Node, field: &str) -> bool {
    spec.get(field).is_some_and(|node| matches!(&node.value, Value::List(items) if !items.is_empty()))
}

fn short(field: &'static str, text: &str, limit: usize) -> Result<(), Invalid> {
    if text.chars().count() > limit { Err(Invalid::TextTooLong { field, limit }) } else { Ok(()) }
}

fn text(spec: &Node, field: &'static str, limit: usize) -> Result<Option<String>, Invalid> {
    let Some(node) = spec.get(field) else { return Ok(None) };
    let Value::Text(text) = &node.value else { return Err(Invalid::BadField { field, expected: "a text" }) };
    short(field, text, limit)?;
    Ok(Some(text.clone()))
}

/// A text, or a list of texts; older gemspecs have lists in lists and nulls among them. `limit` is for all together.
fn texts(spec: &Node, field: &'static str, limit: usize) -> Result<Vec<String>, Invalid> {
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
    Ok(all)
}

/// The text of a version: a `Gem::Version`, or its text alone. Blank means `0` to RubyGems.
fn version(node: &Node, field: &'static str) -> Result<String, Invalid> {
    let bad = Invalid::BadField { field, expected: "a version" };
    let inner = if node.tag == Tag::Version { node.get("version") } else { Some(node) };
    let Some(Node { tag: Tag::None, value: Value::Text(text), plain }) = inner else { return Err(bad) };
    if *plain && is_number(text) {
        return Err(Invalid::BadField { field, expected: "in quotes, else Ruby reads it as a number" });
    }
    let text = text.trim_matches([' ', '\n']);
    Ok(if text.is_empty() { "0" } else { text }.to_owned())
}

/// What Ruby's YAML takes for an integer or a float, of what could be a version.
fn is_number(text: &str) -> bool {
    text.split('.').count() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn requirement(node: Option<&Node>, field: &'static str) -> Result<Requirement, Invalid> {
    let bad = || Invalid::BadField { field, expected: "a requirement" };
    let Some(node) = node else { return Ok(Requirement::default()) };
    if node.tag != Tag::Requirement {
        return Err(bad());
    }
    // The form of RubyGems before 0.9.5 has one `version` instead, and `none` where there is nothing to require.
    let Some(list) = node.get("requirements") else {
        return match (node.get("version"), node.get("none")) {
            (Some(node), _) => Requirement::parse(&version(node, field)?),
            (None, Some(_)) => Ok(Requirement::default()),
            (None, None) => Err(bad()),
        };
    };
    let Value::List(items) = &list.value else { return Err(bad()) };
    let constraints = items.iter().map(|item| {
        let Value::List(pair) = &item.value else { return Err(bad()) };
        let [op, number] = pair.as_slice() else { return Err(bad()) };
        let Value::Text(op) = &op.value else { return Err(bad()) };
        let op = Op::parse(op).ok_or_else(|| Invalid::BadRequirement(quoted(op)))?;
        Ok((op, Version::parse(&version(number, field)?)?))
    });
    Ok(Requirement::new(constraints.collect::<Result<_, _>>()?))
}

fn dependencies(spec: &Node) -> Result<Vec<Dependency>, Invalid> {
    let bad = || Invalid::BadField { field: "dependencies", expected: "a list of `Gem::Dependency`" };
    let Some(node) = spec.get("dependencies") else { return Ok(Vec::new()) };
    let Value::List(items) = &node.value else { return Err(bad()) };
    let dependency = |item: &Node| {
        if item.tag != Tag::Dependency {
            return Err(bad());
        }
        let name = text(item, "name", FIELD_MAX)?.ok_or_else(bad)?;
        name::check_dependency(&name)?;
        let kind = match text(item, "type", FIELD_MAX)?.as_deref() {
            None | Some(":runtime") => Kind::Runtime,
            Some(":development") => Kind::Development,
            Some(_) => return Err(Invalid::BadField { field: "type", expected: "`:runtime` or `:development`" }),
        };
        let asked = ["requirement", "version_requirements", "version_requirement"];
        let requirement = requirement(asked.iter().find_map(|key| item.get(key)), "requirement")?;
        Ok(Dependency { name, kind, requirement })
    };
    items.iter().map(dependency).collect()
}

/// As it is pushed: clients ask for the file under this name, too.
fn platform(spec: &Node) -> Result<String, Invalid> {
    let node = ["platform", "original_platform", "new_platform"].iter().find_map(|key| spec.get(key));
    let platform = match node.map(|node| (&node.value, node.tag, node)) {
        None => "ruby".to_owned(),
        Some((Value::Text(text), Tag::None, _)) if text.is_empty() => "ruby".to_owned(),
        Some((Value::Text(text), _, _)) => text.clone(),
        Some((Value::Map(_), Tag::Platform, node)) => ["cpu", "os", "version"]
            .iter()
            .filter_map(|part| text(node, part, FIELD_MAX).transpose())
            .collect::<Result<Vec<_>, _>>()?
            .join("-"),
        Some(_) => return Err(Invalid::BadField { field: "platform", expected: "a platform" }),
    };
    name::check_platform(&platform)?;
    Ok(platform)
}

fn metadata(spec: &Node) -> Result<BTreeMap<String, String>, Invalid> {
    let bad = || Invalid::BadField { field: "metadata", expected: "a mapping of texts to texts" };
    let Some(node) = spec.get("metadata") else { return Ok(BTreeMap::new()) };
    let Value::Map(pairs) = &node.value else { return Err(bad()) };
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
