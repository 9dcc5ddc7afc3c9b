//! The content and the declarations of a version of a gem.

use crate::error::Error;
use crate::gem::info_lines::facts;
use crate::gem::upstream::RemoteGems;
use crate::group::is_hosted;
use crate::package::details::{DeclaredDependency, DeclaredFacts, VersionDetails, VersionFile};
use crate::package::rows::VersionRow;
use crate::question::Ask;
use crate::repositories::Repositories;
use format::gem::upstream::package;
use format::gem::{Kind, Package, Requirement};
use store::Hashes;
use telemetry::Event;

impl Repositories {
    /// The content and the declarations of a version that clients get; of others nothing beside the row is told.
    pub(crate) async fn gem_details(
        &self,
        ask: &Ask<'_>,
        name: &str,
        row: VersionRow,
        event: &mut Event,
    ) -> Result<VersionDetails, Error> {
        if !row.standing.is_visible() {
            return Ok(VersionDetails { row, files: Vec::new(), more_files: false, declared: None });
        }
        let full_name = format!("{name}-{}", row.version);
        let package = match is_hosted(&row.member) {
            true => row.member.entry(&self.store, &full_name, event).await?.map(|entry| facts(&entry)).transpose()?,
            false => self.line_facts(ask, name, &row, event).await,
        };
        let (hashes, at) = (row.publication.as_ref().and_then(|one| one.hashes.clone()), row.published.or(row.cached));
        let file = VersionFile { path: format!("gems/{full_name}.gem"), hashes, at };
        let files = match file.hashes {
            Some(_) => vec![file],
            None => vec![self.cached_file(&row, file, event).await?],
        };
        Ok(VersionDetails { row, files, more_files: false, declared: package.map(declared) })
    }

    /// The facts in the line of an upstream's cached `/info`.
    async fn line_facts(&self, ask: &Ask<'_>, name: &str, row: &VersionRow, event: &mut Event) -> Option<Package> {
        let remote = self.remotes.remote(&row.member, &ask.place);
        let local = self.hosted(&row.member, &ask.settings)?;
        let index = &row.member.shared.followed;
        let gems = RemoteGems { remote: &remote, context: local.context, local, index };
        // An `/info` that is not cached only leaves the facts out.
        let info = gems.whole_info(name, event).await.ok()?;
        let line = info.rows.iter().find(|line| line.token == row.version)?;
        package(name, &line.line)
    }

    async fn cached_file(&self, row: &VersionRow, file: VersionFile, event: &mut Event) -> Result<VersionFile, Error> {
        let found = self.store.cached_files(row.member.origin, &file.path, "", 1, event).await?.pop();
        let hashes: Option<Hashes> =
            found.filter(|(path, _)| *path == file.path).map(|(_, cached)| cached.hashes.clone());
        Ok(VersionFile { hashes, ..file })
    }
}

fn declared(package: Package) -> DeclaredFacts {
    let link = package.metadata.get("homepage_uri").filter(|uri| !uri.is_empty()).cloned();
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
        homepage: link.or_else(|| package.homepage.clone()),
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
