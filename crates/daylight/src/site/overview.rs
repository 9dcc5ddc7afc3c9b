//! The pages for people at `/` and `/repository/NAME/`: the content, and the lines to configure clients. As text, and as HTML for
//! browsers.

use super::home::{self, LISTED};
use super::listed::{self, about, first_steps};
use super::{koji, observer, shell};
use crate::access::Caller;
use crate::app::App;
use crate::error::Result;
use crate::face::Usage;
use crate::formats;
use crate::lookup::findings;
use crate::reply;
use format::percent::segment;
use front::{Reply, Request};
use insight::FindingState;
use repository::{Ask, Latest, ListedPackage, PackagesAsk, Repository, RepositoryTable, Scope, ServerUrl};
use std::sync::Arc;
use store::RepositoryKind;
use telemetry::Event;
use web::{Document, DocumentPage, Link, Links};

const TITLE: &str = "Daylight, a package repository server that can tell, for every request, why the client got this file, a 404 or a refusal";
/// The most packages that the page of a repository lists.
const PACKAGES: usize = 10;

/// The answer at `/`: the repositories that the caller may read, and the other URLs of the server.
pub(crate) async fn of_server(app: &App, request: &Request, event: &mut Event) -> Result<Reply> {
    if shell::accepts_html(request) {
        return Box::pin(home::page(app, request, event)).await;
    }
    let caller = app.access.anyone(request, event).await?;
    let server = app.urls.of(request).url();
    let table = app.repositories.table(event).await?;
    let mut document = Document::new(TITLE);
    let mut listed = listed::listed(&caller, &table);
    let hidden = listed.len() < table.by_name.len();
    let is_empty = |one: &&&Arc<Repository>| repository::holds(app.services(), one).files == 0;
    let hosted = || listed.iter().filter(|one| one.record.kind == RepositoryKind::Hosted);
    if !hidden && hosted().count() > 0 && hosted().all(|one| is_empty(&one)) {
        document.heading(
            "Nothing of your own is published here yet. The output of the first start has an admin token; with it",
        );
        document.lines(first_steps(&server, &table));
    }
    tell_findings(app, observer::is(app, request, &caller), &mut document);
    document.heading("Repositories: each page has the lines with which clients use it");
    let more = listed.len().saturating_sub(LISTED);
    listed.truncate(LISTED);
    document.links(listed.iter().map(|one| link(one, &server)).collect());
    if more > 0 {
        document.paragraph(format!("{more} more are not listed here; `daylight repo list` shows all of them."));
    }
    if caller.token.is_none() && table.by_name.values().any(|one| one.record.private) {
        document.paragraph("Private repositories are listed for requests with a token that may read them.");
    }
    document.heading("Other URLs");
    let others = [
        (
            "/api/v1/openapi.json",
            "the admin API: repositories, tokens, policy; with a token that has the scope `admin`",
        ),
        ("/metrics", "metrics for Prometheus"),
        ("/health/live", "whether the process runs"),
        ("/health/ready", "whether it can answer requests"),
    ];
    document.links(others.map(|(path, about)| Link { url: format!("{server}{path}"), about: about.into() }).into());
    Ok(reply::page(document.text(), false))
}

/// The open findings; for others than observers, how many there are.
fn tell_findings(app: &App, observes: bool, document: &mut Document) {
    document.heading("Findings");
    let open = app.findings.overview().open;
    if !observes {
        document.paragraph(match open {
            0 => "No finding is open.".to_owned(),
            open => format!("{open} open; `daylight findings` lists them, with a token that has the scope `observe`."),
        });
        return;
    }
    if open == 0 {
        document.paragraph(findings::checks(app).nothing());
    }
    for one in findings::listed(app, FindingState::Open) {
        let changes = one.changes.iter().map(|change| format!("{}\n{}", change.lines, change.note));
        let id = format!("{} {}", one.cost(), one.id);
        document.paragraph(one.sentence.clone());
        let last = one.promise.clone().into_iter().chain([id.trim().to_owned()]);
        document.lines(changes.chain(last).collect::<Vec<_>>().join("\n"));
    }
}

/// The answer at `/repository/NAME/`, to a caller who may read it.
pub(crate) async fn of_repository(
    app: &App,
    ask: &Ask<'_>,
    caller: &Caller,
    request: &Request,
    event: &mut Event,
) -> Result<Reply> {
    let (repository, table) = (&*ask.repository, app.repositories.table(event).await?);
    let (record, server) = (&repository.record, app.urls.of(request).url());
    let mut document = Document::new(format!("{}, a {}", record.name, about(repository)));
    match record.kind {
        RepositoryKind::Group => {
            let members: Vec<_> = record
                .members
                .iter()
                .filter_map(|member| table.by_name.get(member))
                .filter(|one| caller.reads(one))
                .map(|one| link(one, &server))
                .collect();
            document.heading("Members, in the order in which they are asked");
            document.links(members);
        }
        RepositoryKind::Remote if record.koji().is_some() => {
            // Without its map the page shows the settings.
            drop(repository::load_koji(app.services(), &record.name, event).await);
            if let Some(hub) = record.koji() {
                koji::describe(hub, repository, observer::is(app, request, caller), &mut document);
            }
        }
        RepositoryKind::Remote => {
            document.paragraph("It fetches each file from its upstream at the first request, and answers later requests from its cache.");
        }
        RepositoryKind::Hosted if repository.as_of.is_some() => {}
        RepositoryKind::Hosted => {
            let held = repository::holds(app.services(), repository);
            let packages = held.packages.map(|packages| format!("{packages} packages in ")).unwrap_or_default();
            document.paragraph(format!("It holds {packages}{} files.", held.files));
        }
    }
    // RubyGems 3.2 to 3.5 request this page before anything else, and read nothing of it.
    if shell::accepts_html(request) {
        list_packages(app, ask, &server, &mut document, event).await?;
    }
    let url = format!("{server}/repository/{}", segment(ask.parameters.segment));
    let publishes_to = publishes_to(&server, repository, caller, &table);
    describe_usage(&Usage { repository, url: &url }, publishes_to, &mut document);
    document.heading("To see why the server answers a request as it does (with an admin token in DAYLIGHT_TOKEN)");
    document.lines(format!("daylight explain --server {server} {} PATH", record.name));
    page(app, &document, request, event).await
}

/// Adds the lines with which clients use the repository. `publishes_to`: the name and the URL of the member of a group that takes uploads.
fn describe_usage(of: &Usage<'_>, publishes_to: Option<(String, String)>, document: &mut Document) {
    let face = formats::of(of.repository.format);
    (face.usage)(of, document);
    if of.repository.as_of.is_some() {
        return;
    }
    match (of.repository.record.kind, publishes_to) {
        (RepositoryKind::Hosted, _) => {
            document.heading("To publish, with a token that has the scope `write`");
            document.lines((face.publishing)(of, of.url));
        }
        (RepositoryKind::Group, Some((name, url))) => {
            document.heading(format!("To publish, to the member `{name}`, with a token that has the scope `write`"));
            document.lines((face.publishing)(of, &url));
        }
        (RepositoryKind::Group | RepositoryKind::Remote, _) => {}
    }
}

/// The first packages, and the URL of the list of all. A repository without packages has no such list.
async fn list_packages(
    app: &App,
    ask: &Ask<'_>,
    server: &str,
    document: &mut Document,
    event: &mut Event,
) -> Result<()> {
    if !ask.repository.lists_packages() {
        return Ok(());
    }
    let of = PackagesAsk::new(&ask.repository, ask.settings);
    let page = repository::list_packages(app.services(), &of, "", PACKAGES, event).await?;
    if page.rows.is_empty() && page.next.is_none() {
        return Ok(());
    }
    let links = Links::new(server);
    let origin = server.strip_suffix(links.home().trim_end_matches('/')).unwrap_or(server);
    let link = |one: &ListedPackage| Link {
        url: format!("{origin}{}", links.package(ask.parameters.segment, &one.package)),
        about: one.latest.as_ref().map_or_else(
            || "no version for clients".to_owned(),
            |latest| match one.latest_is {
                Latest::Cached => format!("{latest} is the newest cached version"),
                Latest::Known => format!("{latest} is the newest version known here"),
                Latest::Release | Latest::Version => format!("{latest} is the latest"),
            },
        ),
    };
    let all = format!("{origin}{}", links.packages(ask.parameters.segment));
    document.heading("Packages: each page has the versions, and the lines with which clients use them");
    let mut listed: Vec<Link> = page.rows.iter().map(link).collect();
    if page.next.is_some() {
        let held = repository::holds(app.services(), &ask.repository).packages;
        let more = held.and_then(|all| all.checked_sub(page.rows.len() as u64)).filter(|more| *more > 0);
        let about = more.map_or_else(|| "all packages".to_owned(), |more| format!("all packages: {more} more"));
        listed.push(Link { url: all, about });
    }
    document.links(listed);
    Ok(())
}

/// The hosted member of a group that the page names for publishing: one for which the caller has the scope, or the first they may read.
fn publishes_to(
    server: &str,
    group: &Repository,
    caller: &Caller,
    table: &RepositoryTable,
) -> Option<(String, String)> {
    let leaves = group.leaves.iter().filter_map(|leaf| table.by_name.get(&leaf.record.name));
    let hosted: Vec<_> = leaves.filter(|one| one.record.kind == RepositoryKind::Hosted).collect();
    let writes =
        |one: &&&Arc<Repository>| caller.token.as_ref().is_some_and(|token| token.allows(Scope::Write, Some(one.id)));
    let one = hosted.iter().find(writes).or_else(|| hosted.iter().find(|one| caller.reads(one)))?;
    Some((one.record.name.clone(), format!("{server}/repository/{}", segment(&one.record.name))))
}

fn link(repository: &Repository, server: &str) -> Link {
    Link { url: format!("{server}/repository/{}/", segment(&repository.record.name)), about: about(repository) }
}

/// The document as the client wants it. It depends on the client, so it is not cached.
async fn page(app: &App, document: &Document, request: &Request, event: &mut Event) -> Result<Reply> {
    if !shell::accepts_html(request) {
        return Ok(reply::page(document.text(), false));
    }
    let around = shell::of(app, document.title(), request, event).await?;
    shell::page(&DocumentPage { shell: &around, document }, event).await
}
