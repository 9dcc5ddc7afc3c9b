//! `archetype-catalog.xml`: the archetypes of a repository, from which projects are created.

use super::metadata::{plain, sayable};
use super::xml::{Element, Unreadable, Writer};

/// Maximum size of a catalog, in bytes. That of the central repository had some 15 MB in 2026.
pub const LONGEST: usize = 32 << 20;

/// Maximum number of entries. A group looks up the folder of each.
pub const ENTRIES_MAX: usize = 100_000;

/// One version of an archetype.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archetype {
    /// Its group, with dots.
    pub group: String,
    /// Its artifact.
    pub artifact: String,
    /// Its version.
    pub version: String,
    /// Its description.
    pub description: Option<String>,
}

impl Archetype {
    /// The folder of its artifact.
    pub fn folder(&self) -> String {
        format!("{}/{}", self.group.replace('.', "/"), self.artifact)
    }

    /// `None`: its coordinates are not complete.
    fn of(element: &Element) -> Option<Self> {
        let text = |name| plain(element.text_of(name));
        Some(Self {
            group: text("groupId")?,
            artifact: text("artifactId")?,
            version: text("version")?,
            description: element.prose_of("description").filter(|text| sayable(text)).map(str::to_owned),
        })
    }
}

/// Reads a catalog of at most [`LONGEST`] bytes and [`ENTRIES_MAX`] entries, one entry after the other. An entry without coordinates is left out.
/// The repository that an entry may name is not read: it would lead clients past the server that they use.
pub fn read(bytes: &[u8]) -> Result<Vec<Archetype>, Unreadable> {
    let mut archetypes = Vec::new();
    let path = ["archetype-catalog", "archetypes", "archetype"];
    let mut entries = 0;
    let read = |element: Element| {
        entries += 1;
        if entries <= ENTRIES_MAX {
            archetypes.extend(Archetype::of(&element));
        }
    };
    Element::read_each(bytes, LONGEST, path, read)?;
    if entries > ENTRIES_MAX { Err(Unreadable::TooMany(ENTRIES_MAX)) } else { Ok(archetypes) }
}

/// Renders these archetypes, sorted by their coordinates. Of several with the same ones the first is taken.
pub fn render(mut archetypes: Vec<Archetype>) -> String {
    archetypes.sort_by(|a, b| (&a.group, &a.artifact, &a.version).cmp(&(&b.group, &b.artifact, &b.version)));
    archetypes.dedup_by(|a, b| (&a.group, &a.artifact, &a.version) == (&b.group, &b.artifact, &b.version));
    let namespace = " xmlns=\"http://maven.apache.org/plugins/maven-archetype-plugin/archetype-catalog/1.0.0\"";
    let mut writer = Writer::new("archetype-catalog", namespace);
    writer.element("archetypes", |writer| {
        for archetype in &archetypes {
            writer.element("archetype", |writer| {
                writer.leaf("groupId", Some(&archetype.group));
                writer.leaf("artifactId", Some(&archetype.artifact));
                writer.leaf("version", Some(&archetype.version));
                writer.leaf("description", archetype.description.as_deref());
            });
        }
    });
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_is_read_as_it_was_written_each_archetype_once() {
        let archetype = |artifact: &str, description: Option<&str>| Archetype {
            group: "org.example".to_owned(),
            artifact: artifact.to_owned(),
            version: "1.0".to_owned(),
            description: description.map(str::to_owned),
        };
        let (lamp, bulb) = (archetype("lamp", None), archetype("bulb", Some("A <bulb>")));
        let catalog = render(vec![lamp.clone(), bulb.clone(), lamp.clone()]);
        assert_eq!(read(catalog.as_bytes()), Ok(vec![bulb, lamp]));
        assert_eq!(read(render(Vec::new()).as_bytes()), Ok(Vec::new()));
        assert!(read(b"<html/>").is_err());
    }
}
