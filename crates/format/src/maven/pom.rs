//! Reads the parts of a POM that a repository needs for its listings.

mod declared;

pub use declared::{Declared, Dependency};

use super::metadata::{Plugin, plain, sayable};
use super::xml::{Element, Unreadable};

/// The content of a POM. Only the coordinates are inherited from its parent, and no property is resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pom {
    /// Its group, or its parent's.
    pub group: Option<String>,
    /// Its artifact.
    pub artifact: Option<String>,
    /// Its version, or its parent's.
    pub version: Option<String>,
    /// Its packaging.
    pub packaging: String,
    /// Its parent.
    pub parent: Option<Coordinates>,
    /// The display name, if it is short and needs no property.
    pub name: Option<String>,
    /// The description, if it is short and needs no property.
    pub description: Option<String>,
    /// The goal prefix of this plugin, if the POM sets it.
    goal_prefix: Option<String>,
}

/// The coordinates of one version of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coordinates {
    /// The group, with dots.
    pub group: String,
    /// The artifact.
    pub artifact: String,
    /// The version.
    pub version: String,
}

impl Pom {
    /// Reads a POM of at most [`super::LONGEST`] bytes.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let root = Element::read(bytes, "project")?;
        let parent = root.child("parent");
        let own = |name| plain(root.text_of(name));
        let inherited = |name| own(name).or_else(|| plain(parent?.text_of(name)));
        let said = |name| words(root.prose_of(name)?);
        Ok(Self {
            group: inherited("groupId"),
            artifact: own("artifactId"),
            version: inherited("version"),
            packaging: own("packaging").unwrap_or_else(|| "jar".to_owned()),
            parent: parent.and_then(Coordinates::read),
            name: said("name"),
            description: said("description"),
            goal_prefix: goal_prefix(&root),
        })
    }

    /// The plugin that this POM describes, if any.
    pub fn plugin(&self) -> Option<Plugin> {
        let artifact = self.artifact.clone().filter(|_| self.packaging == "maven-plugin")?;
        let prefix = self.goal_prefix.clone().unwrap_or_else(|| default_prefix(&artifact));
        Some(Plugin { name: self.name.clone(), prefix, artifact })
    }

    /// Whether it describes an archetype, which belongs in the catalog.
    pub fn is_archetype(&self) -> bool {
        self.packaging == "maven-archetype"
    }
}

impl Coordinates {
    pub(super) fn read(element: &Element) -> Option<Self> {
        let text = |name| plain(element.text_of(name));
        Some(Self { group: text("groupId")?, artifact: text("artifactId")?, version: text("version")? })
    }
}

/// A text on one line, if it is short and needs no property.
fn words(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (sayable(&line) && !line.contains("${")).then_some(line)
}

/// The goal prefix in the configuration of the plugin that writes plugin descriptors.
fn goal_prefix(root: &Element) -> Option<String> {
    let plugins = root.child("build")?.list("plugins", "plugin");
    let said = plugins
        .filter(|plugin| plugin.text_of("artifactId") == Some("maven-plugin-plugin"))
        .find_map(|plugin| plain(plugin.child("configuration")?.text_of("goalPrefix")));
    said.filter(|prefix| !prefix.contains("${"))
}

/// The prefix of a plugin that sets none (`PluginDescriptor.getGoalPrefixFromArtifactId`): its name without `maven`
/// and `plugin`.
pub fn default_prefix(artifact: &str) -> String {
    if artifact == "maven-plugin-plugin" {
        return "plugin".to_owned();
    }
    let without = |text: &str, word: &str| {
        // The dashes around the word are also removed, as in the pattern `-?maven-?`.
        let parts: Vec<_> = text.split(word).collect();
        let last = parts.len() - 1;
        let trimmed = parts.iter().enumerate().map(|(at, part)| {
            let part = if at > 0 { part.strip_prefix('-').unwrap_or(part) } else { part };
            if at < last { part.strip_suffix('-').unwrap_or(part) } else { part }
        });
        trimmed.collect::<String>()
    };
    without(&without(artifact, "maven"), "plugin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pom_says_what_it_is_and_inherits_from_its_parent() {
        let pom = "<project xmlns='http://maven.apache.org/POM/4.0.0'><modelVersion>4.0.0</modelVersion>
            <parent><groupId>org.example</groupId><artifactId>house</artifactId><version>3</version></parent>
            <artifactId>lamp</artifactId><name>${project.artifactId}</name><description>It shines.</description>
            <dependencies><dependency><groupId>no</groupId><artifactId>no</artifactId></dependency></dependencies></project>";
        let read = Pom::read(pom.as_bytes()).unwrap();
        assert_eq!(read.group.as_deref(), Some("org.example"));
        assert_eq!((read.artifact.as_deref(), read.version.as_deref()), (Some("lamp"), Some("3")));
        assert_eq!((read.packaging.as_str(), read.name.as_deref()), ("jar", None));
        assert_eq!(read.description.as_deref(), Some("It shines."));
        assert_eq!(read.parent.as_ref().unwrap().artifact, "house");
        assert_eq!((read.plugin(), read.is_archetype()), (None, false));
        let hurtful = Pom::read(b"<project><groupId>../..</groupId><artifactId>a/b</artifactId></project>").unwrap();
        assert_eq!((hurtful.group, hurtful.artifact), (None, None));
        assert!(Pom::read(b"<metadata/>").is_err());
    }

    #[test]
    fn a_plugin_has_the_prefix_that_it_says_or_that_of_its_name() {
        let plugin = |inside: &str| {
            let pom = format!(
                "<project><artifactId>lamp-maven-plugin</artifactId><name>Lamp</name>
                <packaging>maven-plugin</packaging>{inside}</project>"
            );
            Pom::read(pom.as_bytes()).unwrap().plugin().unwrap()
        };
        assert_eq!((plugin("").prefix.as_str(), plugin("").name.as_deref()), ("lamp", Some("Lamp")));
        let said = |prefix: &str| {
            plugin(&format!(
                "<build><plugins><plugin><artifactId>maven-jar-plugin</artifactId></plugin><plugin>
                <artifactId>maven-plugin-plugin</artifactId><configuration><goalPrefix>{prefix}</goalPrefix>
                </configuration></plugin></plugins></build>"
            ))
            .prefix
        };
        assert_eq!(said("light"), "light");
        assert_eq!(said("${prefix}"), "lamp");
    }

    #[test]
    fn default_prefixes_are_those_of_maven() {
        for (artifact, prefix) in [
            ("maven-jar-plugin", "jar"),
            ("lamp-maven-plugin", "lamp"),
            ("maven-plugin-plugin", "plugin"),
            ("maven-lamp-plugin-bulb", "lampbulb"),
            ("lampplugin", "lamp"),
            ("lamp", "lamp"),
        ] {
            assert_eq!(default_prefix(artifact), prefix, "{artifact}");
        }
    }
}
