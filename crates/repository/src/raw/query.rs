//! The setting for queries of requests to upstreams of raw files.

use crate::bad_setting::BadSetting;
use crate::record::RepositoryRecord;
use telemetry::Event;

/// The names of the setting's values. The first is the default.
const REFUSE: &str = "refuse";
const KEEP: &str = "keep";

/// Checks and normalises the setting of a repository's upstream. `own`: the repository is one of raw files.
pub(crate) fn settle(record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting> {
    let Some(query) = record.remote.as_ref().and_then(|remote| remote.query.clone()) else { return Ok(()) };
    if !own {
        return Err(BadSetting::not_for("remote.query", record, "remote repositories of format raw"));
    }
    let kept = match &*query {
        REFUSE => None,
        KEEP => Some(query),
        other => {
            let text = format!("`remote.query`: there is no way `{}` to treat queries", Event::text(other));
            return Err(BadSetting::new(text, &format!("there are: {REFUSE}, {KEEP}")));
        }
    };
    if let Some(remote) = &mut record.remote {
        remote.query = kept;
    }
    Ok(())
}
