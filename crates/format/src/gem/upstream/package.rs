//! The facts of a version in a line of `/info`.

use super::info::Line;
use crate::gem::{Dependency, Kind, Package, Requirement, Version};
use std::collections::BTreeMap;

/// The version of the gem `name` in this line; missing facts are empty. `None`: the line cannot be read.
pub fn package(name: &str, line: &str) -> Option<Package> {
    let line = Line::read(line)?;
    let requirement = |text: &str| Requirement::parse(&text.replace('&', ",")).ok();
    let needed = |item: &str| {
        let (name, text) = item.split_once(':').unwrap_or((item, ">= 0"));
        Some(Dependency { name: name.to_owned(), kind: Kind::Runtime, requirement: requirement(text)? })
    };
    let dependencies = line.dependencies.split(',').filter(|item| !item.is_empty()).map(needed);
    let required = |key: &str| line.value(key).and_then(requirement).unwrap_or_default();
    Some(Package {
        v: 1,
        name: name.to_owned(),
        number: Version::parse(line.number()).ok()?,
        platform: line.platform().to_owned(),
        authors: Vec::new(),
        email: Vec::new(),
        email_list: false,
        summary: String::new(),
        description: None,
        homepage: None,
        licenses: Vec::new(),
        metadata: BTreeMap::new(),
        dependencies: dependencies.collect::<Option<_>>()?,
        required_ruby: required("ruby"),
        required_rubygems: required("rubygems"),
        requirements: Vec::new(),
        executables: Vec::new(),
        extensions: false,
        date: None,
        rubygems_version: None,
        specification_version: 4,
        signed: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_a_version_is_and_needs() {
        let line = "1.0-java oil:>= 1.0&< 2,wick:>= 0|checksum:abc,ruby:>= 2.7&< 4,rubygems:>= 3.0";
        let told = package("lamp", line).unwrap();
        assert_eq!((told.number.as_str(), &*told.platform, &*told.name), ("1.0", "java", "lamp"));
        let needed: Vec<_> = told.dependencies.iter().map(|one| (&*one.name, one.requirement.clone())).collect();
        let requirement = |text: &str| Requirement::parse(text).unwrap();
        assert_eq!(needed, [("oil", requirement(">= 1.0,< 2")), ("wick", requirement(">= 0"))]);
        assert_eq!(told.required_ruby, requirement(">= 2.7,< 4"));
        assert_eq!(told.required_rubygems, requirement(">= 3.0"));
        assert_eq!(package("lamp", "1.0 |checksum:abc").unwrap().platform, "ruby");
        assert!(package("lamp", "1..0 |checksum:abc").is_none() && package("lamp", "1.0 oil:= x").is_none());
    }
}
