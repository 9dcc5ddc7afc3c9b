//! The lines with which clients use a Maven repository.

use crate::face::Usage;
use web::Document;

/// Adds the lines to the page of the repository.
pub(super) fn describe(of: &Usage<'_>, document: &mut Document) {
    let (url, name) = (of.url, &of.repository.record.name);
    let curl = if of.repository.record.private { "curl -fsS --user x:$DAYLIGHT_TOKEN" } else { "curl -fsS" };
    let token = if of.repository.record.private { "export DAYLIGHT_TOKEN=TOKEN\n" } else { "" };
    document.heading("With Maven");
    document.lines(format!("{token}{curl} -o settings.xml {url}/settings.xml\nmvn -s settings.xml package"));
    document.heading("Or in a pom.xml");
    document
        .lines(format!("<repositories>\n  <repository><id>{name}</id><url>{url}/</url></repository>\n</repositories>"));
    document.heading("With Gradle, in build.gradle.kts");
    let insecure = if url.starts_with("http:") { "; isAllowInsecureProtocol = true" } else { "" };
    let credentials = match of.repository.record.private {
        true => "\n        credentials { username = \"x\"; password = System.getenv(\"DAYLIGHT_TOKEN\") }\n    ",
        false => " ",
    };
    document.lines(format!("repositories {{\n    maven {{ url = uri(\"{url}/\"){insecure}{credentials}}}\n}}"));
}
