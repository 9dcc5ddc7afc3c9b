//! Decides whether a body with a `Content-Encoding` is the file itself.

/// Whether a body with this `Content-Encoding` is the file itself. Requests ask for no coding, but some servers label
/// compressed files as encoded, as Apache does with `tool.tar.gz`.
pub(crate) fn is_of_itself(file: &str, coding: &str) -> bool {
    let coding = coding.trim().to_ascii_lowercase();
    let endings: &[&str] = match coding.strip_prefix("x-").unwrap_or(&coding) {
        "" | "identity" => return true,
        "gzip" => &["gz", "tgz"],
        "bzip2" => &["bz2", "tbz2"],
        "xz" => &["xz", "txz"],
        "zstd" => &["zst"],
        "compress" => &["Z"],
        _ => &[],
    };
    file.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_by_itself_may_be_called_coded() {
        assert!(is_of_itself("a/tool.tar.gz", "x-gzip") && is_of_itself("a/b.jar", " Identity "));
        assert!(!is_of_itself("a/b.jar", "gzip") && !is_of_itself("a/tool.gz", "br"));
    }
}
