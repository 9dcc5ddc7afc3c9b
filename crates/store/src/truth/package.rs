//! Derives the package of an entry from names, to count the packages of a repository.

/// The package of an entry. It is the unit, except if the unit is the folder of the key: that is a version, and its parent folder
/// is the package. `None`: the folder has no parent.
pub(crate) fn package<'a>(unit: &'a str, key: &str) -> Option<&'a str> {
    let in_folder = key.strip_prefix(unit).is_some_and(|rest| rest.starts_with('/'));
    if !in_folder {
        return (!unit.is_empty()).then_some(unit);
    }
    unit.rsplit_once('/').map(|(above, _)| above).filter(|above| above.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::package;

    #[test]
    fn a_unit_is_a_package_and_a_folder_is_a_version_of_one() {
        assert_eq!(package("rack", "rack-1.0"), Some("rack"));
        assert_eq!(package("rack", "rack/1.0"), None);
        assert_eq!(package("org/lamp/1.0", "org/lamp/1.0/lamp-1.0.zip"), Some("org/lamp"));
        assert_eq!(package("org/example/lamp/1.0", "org/example/lamp/1.0/lamp-1.0.zip"), Some("org/example/lamp"));
        assert_eq!(package("org/lamp", "org/lamp/file"), None);
        assert_eq!(package("", "file"), None);
    }
}
