//! `/api/v1/curves`: what each cache would answer with other sizes.

use super::findings::look;
use crate::app::App;
use insight::CacheCurve;
use serde_json::{Value, json};

/// All caches. A size is simulated from the traffic itself; no cache is touched.
pub(super) async fn list(app: &App) -> Value {
    look(app).await;
    json!({ "curves": app.findings.curves().iter().map(CacheCurve::json).collect::<Vec<_>>() })
}
