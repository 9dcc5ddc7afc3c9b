//! The content and the declarations of a version of a gem.

use crate::actor::Actor;
use crate::content::{Content, Source};
use crate::error::Result;
use crate::found::Found;
use crate::gem::answer::gems;
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::facts;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::gemspec::SharedFile;
use crate::gem::{self, Question as GemQuestion};
use crate::group::is_hosted;
use crate::package::details::{
    ComparedFile, ComparedFiles, DeclaredDependency, DeclaredFacts, LinkKind, VersionDetails, VersionFile,
};
use crate::package::listed::Among;
use crate::package::rows::VersionRow;
use crate::question::Ask;
use crate::services::Services;
use crate::tree;
use format::gem::content::{self, Readme};
use format::gem::{Invalid, Kind, Limits, Package, Requirement, package, upstream};
use std::io::{Cursor, Read};
use store::{Hashes, Lane};
use telemetry::{Event, Op};

/// The links in the metadata of a gemspec (rubygems.org, "Metadata").
const LINKS: [(LinkKind, &str); 4] = [
    (LinkKind::Changelog, "changelog_uri"),
    (LinkKind::Source, "source_code_uri"),
    (LinkKind::Documentation, "documentation_uri"),
    (LinkKind::Bugs, "bug_tracker_uri"),
];

/// The content and the declarations of a version that clients get; of others nothing beside the row is told.
pub(crate) async fn details(
    services: &Services,
    ask: &Ask<'_>,
    name: &str,
    row: VersionRow,
    _: Among<'_>,
    event: &mut Event,
) -> Result<VersionDetails> {
    if !row.standing.is_visible() {
        return Ok(VersionDetails { row, files: Vec::new(), more_files: false, declared: None });
    }
    let full_name = format!("{name}-{}", row.version);
    let package = match is_hosted(&row.member) {
        true => row.member.entry(&services.store, &full_name, event).await?.map(|entry| facts(&entry)).transpose()?,
        false => line_facts(services, ask, name, &row, event).await,
    };
    let (hashes, at) = (row.publication.as_ref().and_then(|one| one.hashes.clone()), row.published.or(row.cached));
    let file = VersionFile { path: format!("gems/{full_name}.gem"), hashes, at };
    let files = match file.hashes {
        Some(_) => vec![file],
        None => vec![cached_file(services, &row, file, event).await?],
    };
    Ok(VersionDetails { row, files, more_files: false, declared: package.map(declared) })
}

/// The facts in the line of an upstream's cached `/info`.
async fn line_facts(
    services: &Services,
    ask: &Ask<'_>,
    name: &str,
    row: &VersionRow,
    event: &mut Event,
) -> Option<Package> {
    let remote = services.remotes.remote(&row.member, &ask.place);
    let local = Hosted::of(services, &row.member, &ask.settings);
    // An `/info` that is not cached only leaves the facts out.
    let info = RemoteGems::of(&remote, local).whole_info(name, event).await.ok()?;
    let line = info.rows.iter().find(|line| line.token == row.version)?;
    upstream::package(name, &line.line)
}

/// The same, with what a cached package declares. It says more than the line of `/info`: the summary, the licences, the links.
pub(crate) async fn version(
    services: &Services,
    ask: &Ask<'_>,
    name: &str,
    row: VersionRow,
    event: &mut Event,
) -> Result<VersionDetails> {
    let mut of = details(services, ask, name, row, Among::All, event).await?;
    if is_hosted(&of.row.member) || of.row.cached.is_none() || !of.row.standing.is_visible() {
        return Ok(of);
    }
    let read = |gem| package::read_gemspec(gem, &Limits::default());
    let found = read_gem(services, ask, &format!("{name}-{}", of.row.version), event, read).await?;
    let is_it = |gem: &Package| gem.name == name && gem.number.as_str() == of.row.number;
    if let Some(gem) = found.filter(is_it) {
        of.declared = Some(declared(gem));
    }
    Ok(of)
}

/// The README of a gem; `None`: there is none, or clients do not get the gem, or it cannot be read.
pub(crate) async fn readme(
    services: &Services,
    ask: &Ask<'_>,
    name: &str,
    row: &VersionRow,
    event: &mut Event,
) -> Result<Option<Readme>> {
    if !row.standing.is_visible() {
        return Ok(None);
    }
    let read = |gem| content::readme(gem, &Limits::default());
    Ok(read_gem(services, ask, &format!("{name}-{}", row.version), event, read).await?.flatten())
}

/// The files in a gem; `None`: clients do not get it, or it is not in the cache, or it cannot be unpacked.
pub(crate) async fn compared(
    services: &Services,
    ask: &Ask<'_>,
    name: &str,
    of: &VersionDetails,
    event: &mut Event,
) -> Result<Option<ComparedFiles>> {
    if !of.row.standing.is_visible() {
        return Ok(None);
    }
    let read = |gem| content::read(gem, &Limits::default());
    let content = read_gem(services, ask, &format!("{name}-{}", of.row.version), event, read).await?;
    Ok(content.map(|content| {
        let files = content.files.into_iter();
        let files =
            files.map(|file| ComparedFile { name: file.path, size_bytes: file.size_bytes, sha256: file.sha256 });
        ComparedFiles { files: files.collect(), is_cut: content.is_cut }
    }))
}

/// Reads a gem that clients get; `None`: they do not, or it is not in the cache, or it cannot be read. One gem is read at a time.
async fn read_gem<T: Send + 'static>(
    services: &Services,
    ask: &Ask<'_>,
    full_name: &str,
    event: &mut Event,
    read: impl FnOnce(Box<dyn Read + Send>) -> Result<T, Invalid> + Send + 'static,
) -> Result<Option<T>> {
    let Some(gem) = opened_gem(services, ask, full_name, event).await else { return Ok(None) };
    let turn = services.gem_caches.content_reads.turn(event).await?;
    let read = move |(): &mut ()| {
        let _turn = turn;
        read(gem).ok()
    };
    Ok(services.context.workers.run(Lane::Index, Op::PackageRead, event, read).await?)
}

/// A gem as clients get it, opened; `None`: they do not, or it is not in the cache. A page waits for no download, and reads at most
/// twice the bytes that are unpacked of a content.
async fn opened_gem(
    services: &Services,
    ask: &Ask<'_>,
    full_name: &str,
    event: &mut Event,
) -> Option<Box<dyn Read + Send>> {
    let mut own = Event::job("GET", services.clock.now());
    let found = gems(services, &GemQuestion::Gem(full_name), ask, None, Actor::NOBODY, &mut own).await;
    own.tallies().for_each(|(op, tally)| event.add_all(op, tally));
    let source = match found.ok()? {
        Found::Gem(gem::Found::File { file, .. }) => Source::File(file),
        Found::Tree(tree::Found::Content(Content { source, .. })) => source,
        _ => return None,
    };
    let most = 2 * Limits::default().content_bytes;
    match source {
        Source::File(file) => Some(Box::new(SharedFile { file, at: 0 }.take(most))),
        Source::Memory(bytes) => Some(Box::new(Cursor::new(bytes))),
        Source::Growing(_) => None,
    }
}

async fn cached_file(
    services: &Services,
    row: &VersionRow,
    file: VersionFile,
    event: &mut Event,
) -> Result<VersionFile> {
    let found = services.store.cached_files(row.member.origin, &file.path, "", 1, event).await?.pop();
    let hashes: Option<Hashes> = found.filter(|(path, _)| *path == file.path).map(|(_, cached)| cached.hashes.clone());
    Ok(VersionFile { hashes, ..file })
}

fn declared(package: Package) -> DeclaredFacts {
    let link = |key: &str| package.metadata.get(key).filter(|uri| !uri.is_empty()).cloned();
    let links = LINKS.into_iter().filter_map(|(kind, key)| Some((kind, link(key)?)));
    let needs = |name: &str, of: &Requirement| (!of.is_any()).then(|| (name.to_owned(), words(of)));
    let requires = [needs("Ruby", &package.required_ruby), needs("RubyGems", &package.required_rubygems)];
    let dependency = |one: &format::gem::Dependency| DeclaredDependency {
        package: one.name.clone(),
        versions: words(&one.requirement),
        scope: match one.kind {
            Kind::Runtime => "runtime",
            Kind::Development => "development",
        }
        .to_owned(),
        optional: false,
        classifier: None,
    };
    DeclaredFacts {
        summary: Some(package.summary.clone()).filter(|summary| !summary.is_empty()),
        description: package.description.clone().filter(|text| *text != package.summary),
        homepage: link("homepage_uri").or_else(|| package.homepage.clone()),
        links: links.collect(),
        licenses: package.licenses.clone(),
        authors: package.authors.clone(),
        packaging: None,
        parent: None,
        requires: requires.into_iter().flatten().collect(),
        dependencies: package.dependencies.iter().map(dependency).collect(),
    }
}

/// `>= 1.0, < 2`.
fn words(requirement: &Requirement) -> String {
    let each = requirement.constraints().iter().map(|(op, version)| format!("{} {version}", op.as_str()));
    let text = each.collect::<Vec<_>>().join(", ");
    if text.is_empty() { ">= 0".to_owned() } else { text }
}
