//! `/api/v1/alerts`: the receivers of alerts, and a test whether alerts arrive.

use crate::alerts::{ReceiverState, Tested};
use crate::app::App;
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The receivers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Receivers {
    /// In the order of the configuration file.
    receivers: Vec<ReceiverState>,
}

/// The body of a test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct AlertsTest {
    /// The name of the receiver. Without it all are tested.
    name: Option<String>,
}

/// What became of a test.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AlertsTested {
    /// One for each tested receiver.
    receivers: Vec<Tested>,
}

pub(super) fn list(app: &App) -> Value {
    json!(Receivers { receivers: app.alerts.get().map(|alerts| alerts.list()).unwrap_or_default() })
}

pub(super) async fn test(app: &App, asked: AlertsTest) -> Result<Value> {
    let receivers = match app.alerts.get() {
        Some(alerts) => alerts.test(asked.name.as_deref()).await?,
        None => Vec::new(),
    };
    Ok(json!(AlertsTested { receivers }))
}
