//! The lines with which clients use a repository, for each format and kind.

use repository::{Format, Repository, VersionPolicy};
use store::RepositoryKind;
use web::Document;

/// How clients reach a repository.
pub(super) struct Usage<'a> {
    pub(super) repository: &'a Repository,
    /// Its URL, without a slash at the end.
    pub(super) url: &'a str,
    /// The place to publish to a group: the name and the URL of a hosted member.
    pub(super) publishes_to: Option<(String, String)>,
}

impl Usage<'_> {
    /// Adds the lines to a document.
    pub(super) fn describe(&self, document: &mut Document) {
        match self.repository.format {
            Format::Gem => self.describe_gems(document),
            Format::Maven => self.describe_maven(document),
            Format::Raw => self.describe_files(document),
        }
        if self.repository.as_of.is_some() {
            return;
        }
        match (self.repository.record.kind, &self.publishes_to) {
            (RepositoryKind::Hosted, _) => {
                document.heading("To publish, with a token that has the scope `write`");
                document.lines(self.publishing(self.url));
            }
            (RepositoryKind::Group, Some((name, url))) => {
                document
                    .heading(format!("To publish, to the member `{name}`, with a token that has the scope `write`"));
                document.lines(self.publishing(url));
            }
            (RepositoryKind::Group | RepositoryKind::Remote, _) => {}
        }
    }

    fn is_private(&self) -> bool {
        self.repository.record.private
    }

    /// The URL, with a placeholder for a token if one is needed.
    fn url_with_token(&self) -> String {
        match self.url.split_once("://") {
            Some((scheme, rest)) if self.is_private() => format!("{scheme}://x:TOKEN@{rest}"),
            _ => self.url.to_owned(),
        }
    }

    fn describe_gems(&self, document: &mut Document) {
        let url = self.url;
        document.heading("In a Gemfile");
        document.lines(format!("source \"{url}/\""));
        if self.is_private() {
            document.heading("The token, for Bundler, once on each machine");
            document.lines(format!("bundle config set --global {url}/ x:TOKEN"));
        }
        if self.repository.record.kind != RepositoryKind::Hosted {
            document.heading("Or, without a change of any Gemfile, for all sources");
            document.lines(format!("bundle config set --global mirror.all {}", self.url_with_token()));
        }
        document.heading("With gem");
        let url = self.url_with_token();
        document.lines(format!("gem install NAME --clear-sources --source {url}/\ngem sources --add {url}/"));
    }

    fn describe_maven(&self, document: &mut Document) {
        let (url, name) = (self.url, &self.repository.record.name);
        let curl = if self.is_private() { "curl -fsS --user x:$DAYLIGHT_TOKEN" } else { "curl -fsS" };
        let token = if self.is_private() { "export DAYLIGHT_TOKEN=TOKEN\n" } else { "" };
        document.heading("With Maven");
        document.lines(format!("{token}{curl} -o settings.xml {url}/settings.xml\nmvn -s settings.xml package"));
        document.heading("Or in a pom.xml");
        document.lines(format!(
            "<repositories>\n  <repository><id>{name}</id><url>{url}/</url></repository>\n</repositories>"
        ));
        document.heading("With Gradle, in build.gradle.kts");
        let insecure = if url.starts_with("http:") { "; isAllowInsecureProtocol = true" } else { "" };
        let credentials = match self.is_private() {
            true => "\n        credentials { username = \"x\"; password = System.getenv(\"DAYLIGHT_TOKEN\") }\n    ",
            false => " ",
        };
        document.lines(format!("repositories {{\n    maven {{ url = uri(\"{url}/\"){insecure}{credentials}}}\n}}"));
    }

    fn describe_files(&self, document: &mut Document) {
        document.heading("With curl");
        let user = if self.is_private() { "--user x:TOKEN " } else { "" };
        document.lines(format!("curl -fO {user}{}/PATH", self.url));
    }

    /// The lines that publish to the hosted repository at `url`. For Maven the `<id>` is that of the `settings.xml` which this page has
    /// already named, also where a member of a group takes the upload.
    fn publishing(&self, url: &str) -> String {
        let id = &self.repository.record.name;
        match self.repository.format {
            Format::Gem => format!("export GEM_HOST_API_KEY=TOKEN\ngem push --host {url} NAME-VERSION.gem"),
            Format::Maven => {
                let kind = match VersionPolicy::of(&self.repository.record) {
                    VersionPolicy::Snapshots => "snapshotRepository",
                    _ => "repository",
                };
                format!(
                    "<distributionManagement>\n  <{kind}><id>{id}</id><url>{url}/</url></{kind}>\n</distributionManagement>\n\n\
                     export DAYLIGHT_TOKEN=TOKEN\nmvn -s settings.xml deploy"
                )
            }
            Format::Raw => format!("curl -fT FILE --user x:TOKEN {url}/PATH"),
        }
    }
}
