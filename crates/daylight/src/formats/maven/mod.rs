//! Maven repositories, as Maven and Gradle are told of them.

mod export;
mod snippets;
mod usage;

use crate::config::UpstreamUrl;
use crate::face::{DefaultRemote, Face};
use crate::formats::raw;
use repository::{Error, Format, RepositoryRecord, VersionPolicy};
use store::RepositoryKind;
use telemetry::Millis;

/// The face of Maven artifacts.
pub(crate) const FACE: Face = Face {
    option: "maven",
    noun: "Maven",
    // sbt uses Coursier or Ivy.
    agents: &["Apache-Maven/", "Gradle/", "Coursier/", "Apache Ivy/", "Java/", "Java-http-client/"],
    // Gradle and the resolver of Maven 3.9 (1.9.23 and later) show the members of a problem without asking for it.
    prints_bodies: false,
    // Of a problem Maven shows `title` and `detail` alone.
    shows_details_only: true,
    token_variable: "DAYLIGHT_TOKEN",
    token_source: |_| {
        "Maven takes it from settings.xml: the `<password>` of a `<server>`, with any `<username>`, and the `<id>` of this `<server>` must \
         equal the `<id>` of the repository in the POM. Is the variable set that `<password>` names? Maven 3.10 sends a token only to URLs whose \
         scheme, host and port settings.xml has in a mirror or repository with this `<id>`, or in `<repositoryOrigins>` of the `<server>`. \
         Gradle takes it from `credentials` of the repository"
    },
    token_store: "the build has the one that was sent from the `<server>` in settings.xml, or from `credentials` in Gradle",
    about_groups: "",
    without_repository: |_| None,
    elsewhere: |url, path, words| match words {
        Some(Format::Maven) => format!(
            "make this the `<url>` in `<distributionManagement>`: {url}/ (once: -DaltDeploymentRepository=ID::default::{url}/)"
        ),
        _ => (raw::FACE.elsewhere)(url, path, words),
    },
    unrequested: |_| None,
    upload_field: None,
    unsaved: Error::Store,
    usage: usage::describe,
    // The `<id>` is that of the `settings.xml` which the page has already named, also where a member of a group takes the upload.
    publishing: |of, url| {
        let id = &of.repository.record.name;
        let kind = match VersionPolicy::of(&of.repository.record) {
            VersionPolicy::Snapshots => "snapshotRepository",
            _ => "repository",
        };
        format!(
            "<distributionManagement>\n  <{kind}><id>{id}</id><url>{url}/</url></{kind}>\n</distributionManagement>\n\n\
             export DAYLIGHT_TOKEN=TOKEN\nmvn -s settings.xml deploy"
        )
    },
    snippets: snippets::of,
    first_push: |_| None,
    first_fetch: |url| Some(format!("curl -fsS -o settings.xml {url}/settings.xml\nmvn -s settings.xml package")),
    has_readmes: false,
    browses_names: false,
    has_index: false,
    exported: "files",
    export: export::export,
    default_hosted: |_| {
        let hosted = |name, policy: VersionPolicy| RepositoryRecord {
            versions: Some(policy.as_str().to_owned()),
            ..RepositoryRecord::new(name, Format::Maven.as_str(), RepositoryKind::Hosted, Millis(0))
        };
        vec![hosted("maven-releases", VersionPolicy::Releases), hosted("maven-snapshots", VersionPolicy::Snapshots)]
    },
    default_remote: |upstream| {
        let is_unchanged = upstream.maven_central == UpstreamUrl::maven_central();
        Some(DefaultRemote { name: "maven-central", url: Some(&upstream.maven_central), is_unchanged })
    },
    default_group: Some("maven"),
};
