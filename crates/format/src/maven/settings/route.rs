//! Which mirror and which proxy Maven takes for a repository.

use super::outline::Node;

/// The host of a URL: a name, an IPv4 address, or an IPv6 address in brackets.
pub(super) fn host(url: &str) -> &str {
    let place = url.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or_default());
    let place = place.rsplit('@').next().unwrap_or_default();
    let end = place.find(']').map_or_else(|| place.find(':'), |end| Some(end + 1));
    &place[..end.unwrap_or(place.len())]
}

/// Whether a mirror takes the repository with this id and URL: the rules of `DefaultMirrorSelector` (Maven 3.8 to 4).
pub(super) fn takes(mirror: &Node, id: &str, url: &str) -> bool {
    let of = mirror.text_of("mirrorOf");
    let is_external = !matches!(host(url), "" | "localhost" | "127.0.0.1");
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

/// Whether a proxy may take requests for this URL: the rules of `DefaultProxySelector` (Maven 3.8 to 4), of which a proxy for `http` takes
/// `https`, too.
pub(super) fn is_proxied(proxy: &Node, url: &str) -> bool {
    let protocol = Some(proxy.text_of("protocol")).filter(|protocol| !protocol.is_empty()).unwrap_or("http");
    let is_for = url.starts_with("http") && (protocol.eq_ignore_ascii_case("http") || url.starts_with("https:"));
    let is_active = !proxy.text_of("active").eq_ignore_ascii_case("false");
    let host = host(url).to_ascii_lowercase();
    let mut direct = proxy.text_of("nonProxyHosts").split('|').filter(|pattern| !pattern.is_empty());
    is_active && is_for && !direct.any(|pattern| is_like(&pattern.to_ascii_lowercase(), &host))
}

/// Whether a name is like a pattern in which `*` stands for any text.
fn is_like(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    let rest = parts.try_fold(rest, |rest, part| rest.split_once(part).map(|(_, after)| after));
    rest.is_some_and(|rest| rest.ends_with(last))
}
