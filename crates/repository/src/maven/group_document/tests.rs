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
    (Metadata::read(&merged.bytes).unwrap(), !merged.left_out.is_empty())
}

#[test]
fn documents_and_their_checksums_are_told_from_files() {
    let is_merged = |path| at(&MavenPath::read(path)).is_some();
    assert!(["a/b/maven-metadata.xml.sha1", "archetype-catalog.xml"].into_iter().all(is_merged));
    assert!(!["a/b/1/b-1.jar", "a/b/1/b-1.jar.sha1", ".meta/prefixes.txt", ".index/x.gz"].into_iter().any(is_merged));
}

#[test]
fn a_member_that_speaks_of_something_else_does_not_have_the_others_be_wrong() {
    let (wrong, right) = (part(false, &versions("evil", "lump", "9")), part(false, &versions("org", "lamp", "1")));
    let (metadata, lacks) = merged("org/lamp", &[wrong, right]);
    assert_eq!((metadata.artifact.as_deref(), metadata.versions, lacks), (Some("lamp"), vec!["1".to_owned()], true));
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
fn catalogs_are_joined_without_what_only_hosted_members_answer_for() {
    let archetype = |artifact: &str, description: &str| Archetype {
        group: "org.example".into(),
        artifact: artifact.into(),
        version: "1".into(),
        description: Some(description.into()),
    };
    let catalog = |hosted, all: &[Archetype]| part(hosted, &catalog::render(all.to_vec()));
    let (ours, theirs) = (archetype("lamp", "ours"), archetype("lamp", "theirs"));
    let (oil, evil) = (archetype("oil", ""), Archetype { version: "9".into(), ..theirs.clone() });
    let parts = [
        catalog(true, std::slice::from_ref(&ours)),
        catalog(false, &[oil.clone(), theirs, evil]),
        part(false, "<html/>"),
    ];
    let names = ["org/example/lamp", "org/example/oil"].map(str::to_owned);
    assert_eq!(MavenDocument::Catalog.listed(&parts), HashSet::from(names.clone()));
    let read = |guarded: &[String]| {
        let merged = MavenDocument::Catalog.merge("", &parts, &guarded.iter().cloned().collect()).unwrap();
        assert!(merged.left_out.len() == 1, "the last part is no catalog");
        catalog::read(&merged.bytes).unwrap()
    };
    let oil = Archetype { description: None, ..oil };
    assert_eq!(read(&names[..1]), [ours.clone(), oil]);
    assert_eq!(read(&[]).len(), 3);
    assert_eq!(read(&[])[0], ours, "of equal coordinates the first member has the description");
    let broken = merge(MavenDocument::Catalog, "", &[part(false, "<html/>")]).unwrap();
    assert_eq!((catalog::read(&broken.bytes), broken.left_out.len()), (Ok(Vec::new()), 1));
}
