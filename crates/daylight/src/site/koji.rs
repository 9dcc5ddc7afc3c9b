//! What the page of a repository says of a Koji hub as its source.

use repository::{KojiFigures, KojiRecord, Repository};
use web::Document;

/// Adds the settings of the hub and the state of its map. `observes`: whether the reader may see the hosts of upstreams.
pub(super) fn describe(koji: &KojiRecord, repository: &Repository, observes: bool, document: &mut Document) {
    document.paragraph("It has the files of all builds in some tags of a Koji hub. Each file is fetched at the first request, and the hub is not asked for it.");
    let mut lines = Vec::new();
    if observes {
        lines.push(format!("hub: {}", koji.hub));
        lines.push(format!("files: {}", koji.files));
    }
    lines.push(format!("tags: {}", koji.tags.join(", ")));
    let inherited = if koji.inherit { "included" } else { "not included" };
    lines.push(format!("tags that these inherit from: {inherited}"));
    let which =
        if koji.takes_oldest() { "the first of them, while it is tagged" } else { "the one that was tagged last" };
    lines.push(format!("a version that several builds have: {which}"));
    // The figures are those of now.
    if repository.as_of.is_none() {
        match repository.koji_figures() {
            Some(figures) => lines.extend(state(&figures)),
            None => lines.push(match repository.koji_failure().filter(|_| observes) {
                Some(failure) => format!("map: none, because no look at the hub has succeeded yet: {failure}"),
                None => "map: none yet; the first request reads the hub".to_owned(),
            }),
        }
    }
    document.heading("Its Koji hub");
    document.lines(lines.join("\n"));
}

/// The state of the map.
fn state(figures: &KojiFigures) -> Vec<String> {
    let KojiFigures {
        tags, without_tags, builds, files, event, confirmed, failure, calls_per_request, left_out, ..
    } = figures;
    let mut lines =
        vec![format!("tags with builds: {}", if tags.is_empty() { "none".to_owned() } else { tags.join(", ") })];
    if !without_tags.is_empty() {
        lines.push(format!("patterns that no tag matches: {}", without_tags.join(", ")));
    }
    lines.extend([
        format!("builds: {builds}"),
        format!("files of these: {files}"),
        format!("newest event: {event}"),
        format!("confirmed: {confirmed}"),
    ]);
    if let Some(failure) = failure {
        lines.push(format!("stale: no look has confirmed it since ({})", failure.as_str()));
    }
    if let Some(calls) = calls_per_request {
        lines.push(format!("calls of the hub for each request: {calls:.3}"));
    }
    let left_out: Vec<String> = left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
    if !left_out.is_empty() {
        lines.push(format!("left out: {}", left_out.join(", ")));
    }
    lines
}
