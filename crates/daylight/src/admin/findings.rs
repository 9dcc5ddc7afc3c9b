//! `/api/v1/findings`: what needs attention.

use crate::app::App;
use insight::{Finding, FindingState};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long a caller waits for a look that was asked for.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// The findings that are pending or open.
pub(super) async fn list(app: &App) -> Value {
    let (looked, wait) = oneshot::channel();
    app.findings.looked(move || drop(looked.send(())));
    // The thread may have ended.
    let _ = timeout(LOOK_TIMEOUT, wait).await;
    let findings = app.findings.list(&[FindingState::Pending, FindingState::Open]);
    json!({ "findings": findings.iter().map(Finding::json).collect::<Vec<_>>() })
}
