//! The media type of a file, from the ending of its name.

/// The media type of the file at this path.
///
/// Types that a browser would run (HTML, SVG) are served as plain bytes: an uploaded file must not become a page on the
/// origin of the server's own pages.
pub fn media(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "jar" | "war" | "ear" | "aar" | "rar" | "nbm" | "hpi" | "jpi" => "application/java-archive",
        "pom" | "xml" => "application/xml",
        "module" | "json" => "application/json",
        "md5" | "sha1" | "sha256" | "sha512" | "txt" | "properties" => "text/plain",
        "asc" => "application/pgp-signature",
        "gz" | "tgz" => "application/gzip",
        "bz2" => "application/x-bzip2",
        "xz" => "application/x-xz",
        "zst" => "application/zstd",
        "tar" => "application/x-tar",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_say_what_a_file_is() {
        for (path, is) in [
            ("org/example/lamp/1.0/lamp-1.0.jar", "application/java-archive"),
            ("org/example/lamp/1.0/lamp-1.0.pom", "application/xml"),
            ("org/example/lamp/maven-metadata.xml.sha1", "text/plain"),
            ("lamp-1.0.tar.gz", "application/gzip"),
            ("folder.jar/lamp", "application/octet-stream"),
            ("site/index.html", "application/octet-stream"),
            ("", "application/octet-stream"),
        ] {
            assert_eq!(media(path), is, "{path}");
        }
    }
}
