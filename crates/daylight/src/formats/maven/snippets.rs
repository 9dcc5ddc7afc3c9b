//! The lines with which clients use one version of a Maven artifact.

use crate::face::VersionUsage;
use web::Snippet;

/// One snippet for each client.
pub(super) fn of(version: &VersionUsage<'_>) -> Vec<Snippet> {
    let (url, id) = (version.url, &version.repository.record.name);
    let (group, artifact) = version.package.split_once(':').unwrap_or((version.package, ""));
    let packaging = version.declared.and_then(|declared| declared.packaging.as_deref()).unwrap_or("jar");
    let [group_xml, artifact_xml, version_xml] = [group, artifact, version.number].map(xml);
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
    let mut all = vec![Snippet::new("pom.xml", format!("{dependency}\n\n{repository}"))];
    if version.repository.record.private {
        let line = format!(
            "export DAYLIGHT_TOKEN=TOKEN\ncurl -fsS --user x:$DAYLIGHT_TOKEN -o settings.xml {url}/settings.xml\nmvn -s settings.xml package"
        );
        all.push(Snippet::new("The token, for Maven", line));
    }
    let notation = format!("{}:{}:{}", java(group), java(artifact), java(version.number));
    let is_http = url.starts_with("http:");
    for (title, insecure, open, close) in [
        ("build.gradle", "; allowInsecureProtocol = true", " \"", "\""),
        ("build.gradle.kts", "; isAllowInsecureProtocol = true", "(\"", "\")"),
    ] {
        let insecure = if is_http { insecure } else { "" };
        let credentials = match version.repository.record.private {
            true => "\n        credentials { username = \"x\"; password = System.getenv(\"DAYLIGHT_TOKEN\") }\n    ",
            false => " ",
        };
        let lines = format!(
            "repositories {{\n    maven {{ url = uri(\"{url}/\"){insecure}{credentials}}}\n}}\n\n\
             dependencies {{\n    implementation{open}{notation}{close}\n}}"
        );
        all.push(Snippet::new(title, lines));
    }
    all
}

/// A text inside double quotes of Groovy and Kotlin.
fn java(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$")
}

/// A text inside an XML element.
fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_no_string_and_no_element() {
        assert_eq!(java("a\"${b}\\"), "a\\\"\\${b}\\\\");
        assert_eq!(xml("a<b>&"), "a&lt;b&gt;&amp;");
    }
}
