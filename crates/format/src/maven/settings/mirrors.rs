//! Which mirror Maven takes for a repository.

use super::outline::Node;

/// Whether a mirror takes the repository with this id and URL: the rules of `DefaultMirrorSelector` (Maven 3.8 to 4).
pub(super) fn takes(mirror: &Node, id: &str, url: &str) -> bool {
    let of = mirror.text_of("mirrorOf");
    let host = url.split_once("://").map_or("", |(_, rest)| rest.split(['/', ':']).next().unwrap_or_default());
    let is_external = !matches!(host, "" | "localhost" | "127.0.0.1");
    let mut taken = of == id;
    for pattern in of.split(',').map(str::trim) {
        match pattern {
            _ if pattern == id => return true,
            _ if pattern.strip_prefix('!') == Some(id) => return false,
            "*" => taken = true,
            "external:*" => taken |= is_external,
            "external:http:*" => taken |= is_external && url.starts_with("http:"),
            _ => {}
        }
    }
    taken
}
