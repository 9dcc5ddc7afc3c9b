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
    if !is(app, request, &caller) {
        app.access.server(request, Scope::Observe, false, event).await?;
    }
    Ok(caller)
}

/// Whether this caller may see what pages show to operators.
pub(super) fn is(app: &App, request: &Request, caller: &Caller) -> bool {
    caller.observes() || caller.token.is_none() && local::is_local(app, request)
}
