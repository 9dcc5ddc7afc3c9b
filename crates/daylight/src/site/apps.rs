//! The first page of a front: its applications, and the paths that took longest. It needs the scope `observe`, except for users of this
//! machine.

use super::{observer, shell};
use crate::app::App;
use crate::error::Result;
use crate::lookup::served_apps;
use crate::reply;
use front::{Reply, Request};
use telemetry::{Event, Tick};
use web::{AppsPage, Document};

/// The page, as HTML for browsers and as text.
pub(super) async fn page(app: &App, request: &Request, event: &mut Event) -> Result<Reply> {
    let caller = observer::only(app, request, event).await?;
    let token = caller.token.as_ref().map_or(0, |token| token.class);
    let apps = served_apps::list(app);
    if !shell::accepts_html(request) {
        return Ok(reply::page(text(&apps).text(), false));
    }
    let slow = served_apps::slow_paths(app, token, event).await.ok();
    let open = app.recorder.open_requests().list_oldest(Tick::now(), 0).left_out as u64;
    let shell = shell::of(app, "Applications", request, event).await?;
    shell::page(&AppsPage { shell: &shell, apps: &apps, slow: slow.as_deref(), open }, event).await
}

fn server(one: &web::AppPageServer) -> String {
    let trouble = one.trouble.as_ref().map(|trouble| format!(" ({trouble})")).unwrap_or_default();
    format!("server {} is {}, {} connections{trouble}", one.url, if one.up { "up" } else { "down" }, one.connections)
}

fn text(apps: &web::Apps) -> Document {
    let mut document = Document::new("Daylight, the front of these applications");
    for app in &apps.apps {
        document.heading(format!("{} at {}, {}", app.name, app.url, app.host_names()));
        let backend = |one: &web::AppBackend| {
            let trouble = one.trouble.as_ref().map(|trouble| format!(" ({trouble})")).unwrap_or_default();
            format!("backend {} is {}, works on {}{trouble}", one.url, if one.up { "up" } else { "down" }, one.busy)
        };
        let lane = |one: &web::AppLane| {
            format!("lane {}: {} of {} slots busy, {} waiting", one.name(), one.busy, one.slots, one.waiting)
        };
        let lines: Vec<String> = app.backends.iter().map(backend).chain(app.lanes.iter().map(lane)).collect();
        document.lines(lines.join("\n"));
        if let Some(cache) = &app.cache {
            document.paragraph(format!("Cache: {}; {}", cache.hit_share(), cache.size()));
        }
        if let Some(pages) = &app.pages {
            document.paragraph(format!("Pages of the form {}: {}; {}", pages.format, pages.hit_share(), pages.size()));
            let outcome = |one: &&web::PageRequests| format!("{} {}: {}", one.requests, one.outcome, one.meaning);
            let outcomes: Vec<String> = pages.outcomes().iter().map(outcome).collect();
            let servers = pages.servers.iter().map(server);
            document.lines(outcomes.into_iter().chain(servers).collect::<Vec<_>>().join("\n"));
        }
    }
    document
}
