//! `settings.xml`: the client settings for a repository, ready to be saved.

mod merge;
mod outline;
mod route;
mod splice;

pub use merge::{Added, Merged, SETTINGS_LONGEST, Unmerged, merge};

use super::xml::Writer;

/// The environment variable with the token in the settings.
pub const TOKEN: &str = "DAYLIGHT_TOKEN";

/// How a client uses the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// As the mirror of all other repositories: it has or downloads every file, including snapshots.
    Instead,
    /// In addition to other repositories: it has only deployed files.
    Beside,
}

/// Renders the settings for the repository `name` at this URL.
pub fn render(name: &str, url: &str, how: Use) -> String {
    let mut writer = Writer::new("settings", " xmlns=\"http://maven.apache.org/SETTINGS/1.0.0\"");
    writer.comment("Use it as `mvn -s FILE`, or let `daylight settings` add it to the settings.xml that you have.");
    writer.comment(&format!("Where a token is needed, it is taken from {TOKEN} in the environment."));
    writer.element("servers", |servers| {
        servers.element("server", |server| {
            server.leaf("id", Some(name));
            server.leaf("username", Some("token"));
            server.leaf("password", Some(&format!("${{env.{TOKEN}}}")));
            // Without it Maven 3.8 sends most requests for a private repository twice. Later releases ignore it.
            server.element("configuration", |configuration| {
                configuration.element("httpConfiguration", |http| {
                    http.element("all", |all| all.leaf("usePreemptive", Some("true")));
                });
            });
        });
    });
    match how {
        Use::Instead => {
            writer.element("mirrors", |mirrors| {
                mirrors.element("mirror", |mirror| {
                    mirror.leaf("id", Some(name));
                    mirror.leaf("url", Some(url));
                    mirror.leaf("mirrorOf", Some("*"));
                });
            });
            // Replaces the definition in Maven's own model, which disables snapshots.
            profile(&mut writer, name, "central", url);
        }
        Use::Beside => profile(&mut writer, name, name, url),
    }
    writer.finish()
}

/// An active profile with one repository.
fn profile(writer: &mut Writer, name: &str, id: &str, url: &str) {
    writer.element("profiles", |profiles| {
        profiles.element("profile", |profile| {
            profile.leaf("id", Some(name));
            repository(profile, "repositories", "repository", id, url);
            repository(profile, "pluginRepositories", "pluginRepository", id, url);
        });
    });
    writer.element("activeProfiles", |active| active.leaf("activeProfile", Some(name)));
}

fn repository(writer: &mut Writer, list: &'static str, item: &'static str, id: &str, url: &str) {
    writer.element(list, |list| {
        list.element(item, |repository| {
            repository.leaf("id", Some(id));
            repository.leaf("url", Some(url));
            for kind in ["releases", "snapshots"] {
                repository.element(kind, |kind| kind.leaf("enabled", Some("true")));
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maven::xml::Element;

    #[test]
    fn the_settings_name_the_repository_and_hold_no_secret() {
        let settings = render("maven-all", "http://127.0.0.1:8080/repository/maven-all/?a&b", Use::Instead);
        let read = Element::read(settings.as_bytes(), "settings").unwrap();
        let mirror = read.list("mirrors", "mirror").next().unwrap();
        assert_eq!(mirror.text_of("url"), Some("http://127.0.0.1:8080/repository/maven-all/?a&b"));
        assert_eq!(mirror.text_of("mirrorOf"), Some("*"));
        let server = read.list("servers", "server").next().unwrap();
        assert_eq!((server.text_of("id"), mirror.text_of("id")), (Some("maven-all"), Some("maven-all")));
        assert_eq!(server.text_of("password"), Some("${env.DAYLIGHT_TOKEN}"));
        let central =
            read.list("profiles", "profile").next().unwrap().list("repositories", "repository").next().unwrap();
        let snapshots = central.child("snapshots").unwrap().text_of("enabled");
        assert_eq!((central.text_of("id"), snapshots), (Some("central"), Some("true")), "a mirror of all mirrors it");
    }

    #[test]
    fn a_repository_that_has_only_what_was_deployed_stands_beside_others() {
        let settings = render("maven-releases", "http://127.0.0.1/repository/maven-releases/", Use::Beside);
        let read = Element::read(settings.as_bytes(), "settings").unwrap();
        assert!(read.child("mirrors").is_none());
        let profile = read.list("profiles", "profile").next().unwrap();
        assert_eq!(profile.text_of("id"), read.child("activeProfiles").unwrap().text_of("activeProfile"));
        for (list, item) in [("repositories", "repository"), ("pluginRepositories", "pluginRepository")] {
            let repository = profile.list(list, item).next().unwrap();
            assert_eq!(repository.text_of("id"), Some("maven-releases"));
            assert_eq!(repository.child("snapshots").unwrap().text_of("enabled"), Some("true"));
        }
    }
}
