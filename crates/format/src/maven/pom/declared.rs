//! What a POM declares for people who look at an artifact: dependencies, licences, links. Nothing is inherited from its parent.

use super::super::xml::{Element, Unreadable};
use super::Coordinates;
use std::collections::BTreeMap;

/// The most dependencies, licences and modules that are read.
const ITEMS: usize = 1_000;
/// The longest text, in bytes. The rest is cut off.
const TEXT: usize = 4_096;
/// The most properties in one text that are replaced.
const PROPERTIES: usize = 16;

/// The declarations of a POM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// Its packaging.
    pub packaging: String,
    /// Its parent.
    pub parent: Option<Coordinates>,
    /// The display name.
    pub name: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The home page.
    pub url: Option<String>,
    /// The page of its source code.
    pub source: Option<String>,
    /// The page of its issues.
    pub issues: Option<String>,
    /// The names of its licences.
    pub licenses: Vec<String>,
    /// The developers, by name or id.
    pub developers: Vec<String>,
    /// Its own dependencies, in order.
    pub dependencies: Vec<Dependency>,
}

/// A dependency of a POM. A text with a property that the POM itself does not define stays as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The group, with dots.
    pub group: String,
    /// The artifact.
    pub artifact: String,
    /// The version; `None`: a parent or an imported POM manages it.
    pub version: Option<String>,
    /// The scope; `compile` if the POM has none.
    pub scope: String,
    /// Whether it is optional.
    pub optional: bool,
    /// The classifier.
    pub classifier: Option<String>,
}

impl Declared {
    /// Reads a POM of at most [`super::super::LONGEST`] bytes.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let root = Element::read(bytes, "project")?;
        let properties = Properties::of(&root);
        let text = |element: &Element, name: &str| element.prose_of(name).map(|text| properties.resolve(text));
        let parent = root.child("parent").and_then(Coordinates::read);
        let listed = |of: &'static str, each: &'static str| root.list(of, each).take(ITEMS);
        let developer = |one: &Element| text(one, "name").or_else(|| text(one, "id"));
        Ok(Self {
            packaging: text(&root, "packaging").unwrap_or_else(|| "jar".to_owned()),
            parent,
            name: text(&root, "name"),
            description: text(&root, "description"),
            url: text(&root, "url"),
            source: root.child("scm").and_then(|scm| text(scm, "url")),
            issues: root.child("issueManagement").and_then(|issues| text(issues, "url")),
            licenses: listed("licenses", "license").filter_map(|one| text(one, "name")).collect(),
            developers: listed("developers", "developer").filter_map(developer).collect(),
            dependencies: listed("dependencies", "dependency")
                .filter_map(|one| {
                    Some(Dependency {
                        group: text(one, "groupId")?,
                        artifact: text(one, "artifactId")?,
                        version: text(one, "version"),
                        scope: text(one, "scope").unwrap_or_else(|| "compile".to_owned()),
                        optional: text(one, "optional").as_deref() == Some("true"),
                        classifier: text(one, "classifier"),
                    })
                })
                .collect(),
        })
    }
}

/// The properties that a POM defines itself, and its coordinates.
struct Properties(BTreeMap<String, String>);

impl Properties {
    fn of(root: &Element) -> Self {
        let mut known = BTreeMap::new();
        let own = root.child("properties").map(Element::children).unwrap_or_default();
        for property in own.iter().take(ITEMS) {
            known.extend(property.text().map(|text| (property.name().to_owned(), text.to_owned())));
        }
        let parent = root.child("parent");
        for (name, key) in [("groupId", "groupId"), ("artifactId", "artifactId"), ("version", "version")] {
            let above = parent.and_then(|parent| parent.text_of(name));
            known.extend(above.map(|text| (format!("project.parent.{key}"), text.to_owned())));
            let inherited = above.filter(|_| name != "artifactId");
            if let Some(text) = root.text_of(name).or(inherited) {
                known.insert(format!("project.{key}"), text.to_owned());
                known.insert(format!("pom.{key}"), text.to_owned());
            }
        }
        Self(known)
    }

    /// A text on one line with the known properties replaced, cut off where it is too long.
    fn resolve(&self, text: &str) -> String {
        let mut line = cut(&text.split_whitespace().collect::<Vec<_>>().join(" ")).to_owned();
        let mut from = 0;
        for _ in 0..PROPERTIES {
            let Some(at) = line[from..].find("${").map(|at| from + at) else { break };
            let Some(end) = line[at..].find('}').map(|end| at + end) else { break };
            match self.0.get(&line[at + 2..end]) {
                Some(value) => line.replace_range(at..=end, value),
                None => from = end,
            }
        }
        cut(&line).to_owned()
    }
}

/// The beginning of a text.
fn cut(text: &str) -> &str {
    let end = (0..=TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const POM: &str = "<project><parent><groupId>org.example</groupId><artifactId>house</artifactId><version>3</version></parent>
        <artifactId>lamp</artifactId><name>Lamp</name><description>It
        shines.</description><url>https://lamp.example</url><properties><oil.version>2.5</oil.version></properties>
        <licenses><license><name>Apache-2.0</name></license></licenses>
        <developers><developer><id>ann</id></developer><developer><name>Bob</name></developer></developers>
        <dependencies>
          <dependency><groupId>${project.groupId}</groupId><artifactId>oil</artifactId><version>${oil.version}</version></dependency>
          <dependency><groupId>org.test</groupId><artifactId>match</artifactId><scope>test</scope><optional>true</optional></dependency>
          <dependency><groupId>g</groupId><artifactId>wick</artifactId><version>${not.here}</version><classifier>x</classifier></dependency>
          <dependency><groupId>g</groupId></dependency>
        </dependencies></project>";

    #[test]
    fn a_pom_declares_what_it_needs_with_its_own_properties_replaced() {
        let declared = Declared::read(POM.as_bytes()).unwrap();
        assert_eq!((declared.name.as_deref(), declared.packaging.as_str()), (Some("Lamp"), "jar"));
        assert_eq!(declared.description.as_deref(), Some("It shines."));
        assert_eq!(declared.url.as_deref(), Some("https://lamp.example"));
        assert_eq!(
            (declared.licenses, declared.developers),
            (vec!["Apache-2.0".into()], vec!["ann".into(), "Bob".into()])
        );
        assert_eq!(declared.parent.unwrap().artifact, "house");
        let told = |at: usize| {
            let Dependency { group, artifact, version, scope, optional, classifier } =
                declared.dependencies[at].clone();
            format!("{group}:{artifact}:{version:?} {scope} {optional} {classifier:?}")
        };
        assert_eq!(told(0), "org.example:oil:Some(\"2.5\") compile false None");
        assert_eq!(told(1), "org.test:match:None test true None");
        assert_eq!(told(2), "g:wick:Some(\"${not.here}\") compile false Some(\"x\")");
        assert_eq!(declared.dependencies.len(), 3);
    }

    #[test]
    fn properties_that_name_each_other_come_to_an_end_and_long_texts_are_cut_off() {
        let pom = "<project><properties><a>${b}x</a><b>${a}y</b></properties><name>${a}</name></project>";
        let declared = Declared::read(pom.as_bytes()).unwrap();
        assert!(declared.name.unwrap().len() <= 2 * PROPERTIES + 4);
        let long = format!("<project><name>{}</name></project>", "\u{fc}".repeat(TEXT));
        assert_eq!(Declared::read(long.as_bytes()).unwrap().name.unwrap().len(), TEXT);
        let grows =
            format!("<project><properties><a>${{a}}{}</a></properties><name>${{a}}</name></project>", "z".repeat(TEXT));
        assert!(Declared::read(grows.as_bytes()).unwrap().name.unwrap().len() <= TEXT);
    }
}
