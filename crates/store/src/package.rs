//! Which package an entry belongs to, as far as that can be told from names: the packages of a repository are counted by it.

/// The package of an entry. A unit is a package; but where the unit is the folder that the key is in, it is one version of the package
/// that the folder above it is. `None`: the folder is not deep enough to have a package above it.
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
