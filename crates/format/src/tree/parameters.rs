//! Parameters in a path (RFC 3986 3.3), as clients of other servers append them: `lamp.zip;build.number=7`.

/// The path without its parameters; `None`: it has none. `;` without a name and `=` after it is a part of a name.
pub fn without_parameters(path: &str) -> Option<String> {
    if !path.contains(';') {
        return None;
    }
    let names: Vec<&str> = path.split('/').map(name).collect();
    let shorter = names.join("/");
    (shorter.len() < path.len()).then_some(shorter)
}

/// The name before the first parameter.
fn name(segment: &str) -> &str {
    let mut from = 0;
    while let Some(at) = segment[from..].find(';').map(|at| from + at) {
        let parameter = segment[at + 1..].split(';').next().unwrap_or_default();
        if parameter.split_once('=').is_some_and(|(name, _)| !name.is_empty()) {
            return &segment[..at];
        }
        from = at + 1;
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::without_parameters;

    #[test]
    fn parameters_are_cut_and_other_semicolons_are_parts_of_names() {
        for (path, without) in [
            ("a/lamp.zip;build.number=7", Some("a/lamp.zip")),
            ("a/lamp.zip;build.name=x;build.number=7;", Some("a/lamp.zip")),
            ("a;x=/lamp;y=1;2.zip", Some("a/lamp")),
            ("a/;x=1/lamp", Some("a//lamp")),
            ("x~1@y,z=1;v.zip", None),
            ("a;b/c=d", None),
            ("a;=b", None),
            ("a/b", None),
        ] {
            assert_eq!(without_parameters(path).as_deref(), without, "{path}");
        }
    }
}
