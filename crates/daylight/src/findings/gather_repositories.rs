//! What findings are told about repositories and the hosts of their upstreams.

use crate::app::App;
use crate::error::Result;
use insight::{Facts, HostFact, RepositoryFact};
use store::RepositoryKind;
use telemetry::Event;

/// Adds the repositories and the hosts.
pub(super) async fn add(app: &App, facts: &mut Facts, event: &mut Event) -> Result<()> {
    let (table, now) = (app.repositories.table(event).await?, app.clock.now());
    for (state, repositories) in app.repositories.upstreams(event).await? {
        let open = state
            .circuit
            .refuses(now)
            .then(|| state.trouble.as_ref().map(|trouble| trouble.what.clone()).unwrap_or_default());
        let (host, number, paused_until) = (state.host, state.number, state.paused_until);
        facts.hosts.push(HostFact { host, number, repositories, open, paused_until });
    }
    for one in table.by_name.values() {
        let name = one.record.name.clone();
        let host = facts.hosts.iter().find(|host| host.repositories.contains(&name)).map(|host| host.host.clone());
        let policy = one.record.policy.as_deref().cloned().unwrap_or_default();
        facts.repositories.push(RepositoryFact {
            missing_s: one.record.remote.as_ref().and_then(|remote| remote.missing_s),
            only: policy.allow,
            private_prefixes: policy.private_prefixes,
            kind: one.record.kind.as_str(),
            format: one.format.as_str(),
            is_tree: one.format.is_tree(),
            members: if one.record.kind == RepositoryKind::Group { one.record.members.clone() } else { Vec::new() },
            leaves: one.leaves.iter().map(|leaf| leaf.record.name.clone()).collect(),
            host,
            name,
        });
    }
    Ok(())
}
