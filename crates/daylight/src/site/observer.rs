//! Who may see the pages for operators: callers whose token has the scope `observe`, and users of this machine.

use super::local;
use crate::access::Caller;
use crate::app::App;
use crate::error::Result;
use front::Request;
use repository::Scope;
use telemetry::Event;

/// The caller, if they may see the pages for operators. Others get the error of a call of the API.
pub(super) async fn only(app: &App, request: &Request, event: &mut Event) -> Result<Caller> {
    let caller = app.access.anyone(request, event).await?;
    let is_local = caller.token.is_none() && local::is_local(app, request);
    if !is_local && !caller.observes() {
        app.access.server(request, Scope::Observe, false, event).await?;
    }
    Ok(caller)
}
