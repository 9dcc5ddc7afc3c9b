//! Finds settings of a database that contradict others, or have no effect.

use super::cluster::{Acknowledge, DRAIN_S, DatabaseTrust, STALE_PRIVATE_S};
use super::error::Error;
use super::keys::Settings;

/// Refuses a database for `daylight front`. Returns a warning for each setting that has no effect, and for a connection that others can
/// read.
pub(super) fn find(settings: &Settings, is_front: bool) -> Result<Vec<String>, Error> {
    let cluster = &settings.cluster;
    let Some(database) = &cluster.database.0 else {
        let set = [
            ("database_password", cluster.database_password.0.is_some()),
            ("database_trust", cluster.database_trust != DatabaseTrust::Plain),
            ("address", cluster.address.0.is_some()),
            ("acknowledge", cluster.acknowledge != Acknowledge::Everywhere),
            ("stale_private_s", cluster.stale_private_s != STALE_PRIVATE_S),
            ("drain_s", cluster.drain_s != DRAIN_S),
        ];
        let idle = set.into_iter().filter(|(_, is_set)| *is_set);
        return Ok(idle.map(|(key, _)| format!("`cluster.{key}` has no effect without `cluster.database`")).collect());
    };
    if is_front {
        return Err(Error::Contradiction {
            text: "`cluster.database` is for `daylight serve`, and this is `daylight front`".to_owned(),
            hint: "remove the section `cluster`: what `daylight front` stores can be lost".to_owned(),
        });
    }
    let is_readable = cluster.database_trust == DatabaseTrust::Plain && !database.is_here();
    let warning = || {
        format!(
            "the connection to `{database}` is not encrypted: set `cluster.database_trust` unless the network between is yours alone"
        )
    };
    Ok(is_readable.then(warning).into_iter().collect())
}
