//! The lines with which clients use one version of a package from one repository.

use repository::{DeclaredFacts, Format, Repository};
use web::Snippet;

/// A version of a package, as clients reach it.
pub(crate) struct VersionUsage<'a> {
    pub(crate) repository: &'a Repository,
    /// The URL of the repository, without a slash at the end.
    pub(crate) url: &'a str,
    pub(crate) package: &'a str,
    /// The version without a platform.
    pub(crate) number: &'a str,
    pub(crate) declared: Option<&'a DeclaredFacts>,
}

impl VersionUsage<'_> {
    /// The lines, one snippet for each client.
    pub(crate) fn snippets(&self) -> Vec<Snippet> {
        match self.repository.format {
            Format::Gem => self.gem(),
            Format::Maven => self.maven(),
            Format::Raw => Vec::new(),
        }
    }

    fn is_private(&self) -> bool {
        self.repository.record.private
    }

    fn gem(&self) -> Vec<Snippet> {
        let (url, name, number) = (self.url, ruby(self.package), ruby(self.number));
        let gemfile = format!("source \"{url}/\" do\n  gem \"{name}\", \"{number}\"\nend");
        let mut all = vec![snippet("Gemfile", gemfile)];
        let mut source = url.to_owned();
        if self.is_private() {
            let line = format!("bundle config set --global {url}/ x:TOKEN");
            all.push(snippet("The token, for Bundler, once on each machine", line));
            source = url.replacen("://", "://x:TOKEN@", 1);
        }
        let install = format!(
            "gem install {} --version {} --clear-sources --source {source}/",
            shell(self.package),
            shell(self.number)
        );
        all.push(snippet("gem", install));
        all
    }

    fn maven(&self) -> Vec<Snippet> {
        let (url, id) = (self.url, &self.repository.record.name);
        let (group, artifact) = self.package.split_once(':').unwrap_or((self.package, ""));
        let packaging = self.declared.and_then(|declared| declared.packaging.as_deref()).unwrap_or("jar");
        let [group_xml, artifact_xml, version_xml] = [group, artifact, self.number].map(xml);
        let coordinates = format!(
            "  <groupId>{group_xml}</groupId>\n  <artifactId>{artifact_xml}</artifactId>\n  <version>{version_xml}</version>"
        );
        let dependency = match packaging {
            "maven-plugin" => format!("<plugin>\n{coordinates}\n</plugin>"),
            "pom" | "war" | "ear" | "aar" | "zip" => {
                format!("<dependency>\n{coordinates}\n  <type>{packaging}</type>\n</dependency>")
            }
            _ => format!("<dependency>\n{coordinates}\n</dependency>"),
        };
        let list = if packaging == "maven-plugin" { "pluginRepositor" } else { "repositor" };
        let repository = format!("<{list}ies>\n  <{list}y><id>{id}</id><url>{url}/</url></{list}y>\n</{list}ies>");
        let mut all = vec![snippet("pom.xml", format!("{dependency}\n\n{repository}"))];
        if self.is_private() {
            let line = format!(
                "export DAYLIGHT_TOKEN=TOKEN\ncurl -fsS --user x:$DAYLIGHT_TOKEN -o settings.xml {url}/settings.xml\nmvn -s settings.xml package"
            );
            all.push(snippet("The token, for Maven", line));
        }
        let notation = format!("{}:{}:{}", java(group), java(artifact), java(self.number));
        let is_http = url.starts_with("http:");
        for (title, insecure, open, close) in [
            ("build.gradle", "; allowInsecureProtocol = true", " \"", "\""),
            ("build.gradle.kts", "; isAllowInsecureProtocol = true", "(\"", "\")"),
        ] {
            let insecure = if is_http { insecure } else { "" };
            let credentials = match self.is_private() {
                true => {
                    "\n        credentials { username = \"x\"; password = System.getenv(\"DAYLIGHT_TOKEN\") }\n    "
                }
                false => " ",
            };
            let lines = format!(
                "repositories {{\n    maven {{ url = uri(\"{url}/\"){insecure}{credentials}}}\n}}\n\n\
                 dependencies {{\n    implementation{open}{notation}{close}\n}}"
            );
            all.push(snippet(title, lines));
        }
        all
    }
}

fn snippet(title: &str, lines: String) -> Snippet {
    Snippet { title: title.to_owned(), lines }
}

/// A text inside double quotes of Ruby.
fn ruby(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('#', "\\#")
}

/// A text inside double quotes of Groovy and Kotlin.
fn java(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$")
}

/// A text inside an XML element.
fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A word of a shell.
fn shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_no_string_and_begins_no_command() {
        assert_eq!(ruby("a\"#{b}\\"), "a\\\"\\#{b}\\\\");
        assert_eq!(java("a\"${b}\\"), "a\\\"\\${b}\\\\");
        assert_eq!(xml("a<b>&"), "a&lt;b&gt;&amp;");
        assert_eq!((shell("1.0-java"), shell("a;'b")), ("1.0-java".into(), "'a;'\\''b'".into()));
    }
}
