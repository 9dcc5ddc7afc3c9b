//! The last failure of an upstream that fails now, in words, as far as the reader may know it: hosts and times are for callers who may
//! observe the server. No upstream is called.

use crate::app::App;
use crate::error::Result;
use client::Circuit;
use repository::Repository;
use telemetry::Event;

/// The end of the name of a Koji hub among the hosts.
const HUB: &str = " (hub)";

/// The failure of an upstream of the repository, of this member or of any; `None`: each upstream answered the last call, or none was
/// called since the start. `observes`: whether the reader may observe the server. `reads`: whether they may read a repository.
pub(crate) async fn describe(
    app: &App,
    repository: &Repository,
    member: Option<&str>,
    (observes, reads): (bool, impl Fn(&Repository) -> bool),
    event: &mut Event,
) -> Result<Option<String>> {
    let leaves = repository.leaves.iter().map(|leaf| &**leaf).chain([repository]);
    let leaves: Vec<&Repository> = leaves
        .filter(|leaf| leaf.record.remote.is_some() && member.is_none_or(|name| leaf.record.name == name))
        .collect();
    for (host, names) in app.repositories.upstreams(event).await? {
        let Some(trouble) = host.trouble.filter(|_| host.circuit != Circuit::Closed { failures: 0 }) else { continue };
        // A hub whose map is known is asked for no file.
        let matters = |leaf: &&&Repository| !host.host.ends_with(HUB) || leaf.koji_figures().is_none();
        let Some(leaf) = leaves.iter().filter(matters).find(|leaf| names.contains(&leaf.record.name)) else { continue };
        let name = &leaf.record.name;
        let again = match host.circuit {
            Circuit::Open { until, .. } => format!(", and it is not called before {until}"),
            _ => String::new(),
        };
        return Ok(Some(match (observes, reads(leaf)) {
            (true, _) => format!(
                "the upstream of `{name}`, `{}`, cannot be used: at {} {}{again}",
                host.host, trouble.at, trouble.what
            ),
            (false, true) => format!("the upstream of `{name}` cannot be used at present"),
            (false, false) => "an upstream cannot be used at present".to_owned(),
        }));
    }
    Ok(None)
}
