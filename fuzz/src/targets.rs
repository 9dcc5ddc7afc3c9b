//! Every parser of untrusted bytes, as a function that panics if a property does not hold. The suite runs the same functions
//! over the corpora.

#[path = "events.rs"]
mod events;
#[path = "hc1.rs"]
mod hc1;
#[path = "indexes.rs"]
mod indexes;
#[path = "kept_events.rs"]
mod kept_events;
#[path = "koji.rs"]
mod koji;
#[path = "packages.rs"]
mod packages;
#[path = "page_servers.rs"]
mod page_servers;
#[path = "pages.rs"]
mod pages;
#[path = "requests.rs"]
mod requests;
#[path = "rows.rs"]
mod rows;
#[path = "trees.rs"]
mod trees;

/// A parser with its properties.
pub(crate) type Target = fn(&[u8]);

/// Each target with its name, which is the folder of its corpus.
pub(crate) const ALL: &[(&str, Target)] = &[
    ("package", packages::package),
    ("archive", packages::archive),
    ("content", packages::content),
    ("gzip", packages::gzip),
    ("gemspec", packages::gemspec),
    ("checksums", packages::checksums),
    ("version", packages::version),
    ("requirement", packages::requirement),
    ("lock", packages::lock),
    ("upstream_versions", indexes::versions),
    ("upstream_info", indexes::info),
    ("upstream_look", indexes::look),
    ("route", requests::route),
    ("form", requests::form),
    ("multipart", requests::multipart),
    ("conditions", requests::conditions),
    ("declared", requests::declared),
    ("credentials", requests::credentials),
    ("hook", requests::hook),
    ("forwarded", requests::forwarded),
    ("proxy", requests::proxy),
    ("agent", requests::agent),
    ("scrub", requests::scrub),
    ("config", rows::config),
    ("journal", rows::journal),
    ("segment", rows::segment),
    ("facts", rows::facts),
    ("tree", trees::tree),
    ("order", trees::order),
    ("metadata", trees::metadata),
    ("pom", trees::pom),
    ("settings", trees::settings),
    ("catalog", trees::catalog),
    ("prefixes", trees::prefixes),
    ("checksum", trees::checksum),
    ("tracking", trees::tracking),
    ("page_pack", pages::pack),
    ("page_marshal", pages::marshal),
    ("page_coding", pages::coding),
    ("page_key", pages::key),
    ("event_log", events::event_log),
    ("event_segment", kept_events::event_segment),
    ("question", kept_events::question),
    ("memcached_replies", page_servers::memcached),
    ("redis_replies", page_servers::redis),
    ("hc1", hc1::entry),
    ("koji_answer", koji::answer),
];

/// The bytes as text, if they are text.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
