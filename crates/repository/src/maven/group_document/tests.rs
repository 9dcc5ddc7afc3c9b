//! Merging the documents of several members.

use super::*;

fn part(hosted: bool, text: &str) -> MemberDocument {
    MemberDocument { member: "far".into(), hosted, content: Content::text(text.to_owned(), "application/xml") }
}

fn versions(group: &str, artifact: &str, version: &str) -> String {
    metadata::versions(group, artifact, [version], 0).render()
}

fn plugin(prefix: &str, artifact: &str) -> String {
    let plugin = metadata::Plugin { name: None, prefix: prefix.to_owned(), artifact: artifact.to_owned() };
    metadata::plugins([plugin]).render()
}

fn merge(document: MavenDocument, folder: &str, parts: &[MemberDocument]) -> Option<MergedDocument> {
    document.merge(folder, parts, &HashSet::new())
}

fn merged(folder: &str, parts: &[MemberDocument]) -> (Metadata, bool) {
    let merged = merge(MavenDocument::Metadata, folder, parts).unwrap();
    (Metadata::read(&merged.bytes).unwrap(), merged.lacks)
}

#[test]
fn documents_and_their_checksums_are_told_from_files() {
    let asked = |path| at(&MavenPath::read(path)).map(Document::sources);
    assert_eq!(asked("a/b/maven-metadata.xml.sha1"), Some(Sources::Any));
    assert_eq!(asked("archetype-catalog.xml"), Some(Sources::Hosted));
    assert_eq!(asked(".meta/prefixes.txt"), Some(Sources::AllHosted));
    assert_eq!((asked("a/b/1/b-1.jar"), asked("a/b/1/b-1.jar.sha1")), (None, None));
}

#[test]
fn a_member_that_speaks_of_something_else_does_not_have_the_others_be_wrong() {
    let (wrong, right) = (part(false, &versions("evil", "lump", "9")), part(false, &versions("org", "lamp", "1")));
    let (metadata, lacks) = merged("org/lamp", &[wrong, right]);
    assert_eq!((metadata.artifact.as_deref(), metadata.versions, lacks), (Some("lamp"), vec!["1".to_owned()], false));
}

#[test]
fn no_upstream_puts_its_plugin_in_the_place_of_one_that_is_hosted() {
    let ours = part(true, &plugin("lamp", "lamp-maven-plugin"));
    let (evil, other) = (part(false, &plugin("lamp", "a-maven-plugin")), part(false, &plugin("oil", "oil")));
    let (metadata, _) = merged("org/example", &[ours, evil, other]);
    let artifacts: Vec<_> = metadata.plugins.iter().map(|plugin| plugin.artifact.as_str()).collect();
    assert_eq!(artifacts, ["lamp-maven-plugin", "oil"]);
}

#[test]
fn a_prefix_is_the_first_upstream_s_that_maps_it_and_one_of_another_folder_is_last() {
    let (near, far) =
        (part(false, &plugin("lamp", "lamp-maven-plugin")), part(false, &plugin("lamp", "a-maven-plugin")));
    let wrong = "<metadata><groupId>evil</groupId><plugins><plugin><prefix>lamp</prefix><artifactId>a</artifactId></plugin>\
                 </plugins></metadata>";
    let (metadata, _) = merged("org/example", &[part(false, wrong), near, far]);
    let artifacts: Vec<_> = metadata.plugins.iter().map(|plugin| plugin.artifact.as_str()).collect();
    assert_eq!(artifacts, ["lamp-maven-plugin"]);
}

#[test]
fn what_cannot_be_read_or_is_too_much_is_left_out_and_told() {
    let good = || part(true, &versions("org", "lamp", "1"));
    let (metadata, lacks) = merged("org/lamp", &[good(), part(false, "<metadata>")]);
    assert_eq!((metadata.versions.len(), lacks), (1, true));
    let long = format!("<metadata/>{}", " ".repeat(LONGEST - 11));
    let long = || part(false, &long);
    let (metadata, lacks) = merged("org/lamp", &[long(), long(), good()]);
    assert!(lacks && metadata.versions.is_empty(), "there was no room left for the last: {metadata:?}");
    assert!(merge(MavenDocument::Metadata, "org/lamp", &[part(false, "")]).is_none());
}

#[test]
fn catalogs_are_joined_and_beginnings_only_where_each_can_be_read() {
    let archetype = |artifact: &str| catalog::Archetype {
        group: "org".into(),
        artifact: artifact.into(),
        version: "1".into(),
        description: None,
    };
    let [lamp, oil] = ["lamp", "oil"].map(|artifact| part(true, &catalog::render(vec![archetype(artifact)])));
    let both = merge(MavenDocument::Catalog, "", &[oil, lamp]).unwrap();
    assert_eq!(catalog::read(&both.bytes), Ok(vec![archetype("lamp"), archetype("oil")]));

    let prefixes = |folder: &str| part(true, &Prefixes::of([folder]).unwrap().render());
    let both = merge(MavenDocument::Prefixes, ".meta", &[prefixes("org/a"), prefixes("com/b")]).unwrap();
    assert!(both.bytes.ends_with(b"/com/b\n/org/a\n"), "{:?}", both.bytes);
    let broken = [prefixes("org/a"), part(true, "@ unsupported")];
    assert!(merge(MavenDocument::Prefixes, ".meta", &broken).is_none());
}
