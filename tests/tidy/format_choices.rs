//! What depends on the format of a repository is decided in the folders of the format and in the list of formats.

use super::imports::Imports;
use super::{Source, code, nothing_wrong};
use repository::Format;

/// The list of formats.
const LIST: &str = "crates/repository/src/format.rs";

/// Files and folders that decide by the format all the same, and why. The list only shrinks: an entry without a use fails.
const KNOWN: &[(&str, &str)] = &[
    ("crates/daylight/src/cli/import/gems/", "reads the folders of servers that have gems only"),
    ("crates/daylight/src/cli/repo", "has the default of a flag, and the names of layouts"),
    ("crates/daylight/src/formats.rs", "is the table of what the clients of each format are told"),
    ("crates/daylight/src/settings_patch/", "lists the layouts in a schema"),
    ("crates/format/src/koji/", "`maven` is a type of builds of Koji"),
    ("crates/insight/src/ask/names.rs", "`gem` is another name of a column"),
    ("crates/insight/src/sample/", "`gem` is a kind of file"),
    ("crates/repository/src/formats.rs", "calls the face of a format"),
    ("crates/telemetry/src/event/agent.rs", "`maven` is the name of a client"),
];

/// The ways in which a line of code decides by this format: it names the variant or has the name as a literal, or it looks whether a
/// repository has the part of that format.
fn choices(line: &str, format: Format) -> Vec<String> {
    let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || ['_', '('].contains(&next));
    let has = |text: &str, word: &str| text.match_indices(word).any(|(at, _)| ends(&text[at + word.len()..]));
    let unquoted: Vec<&str> = line.split('"').step_by(2).collect();
    let (name, variant) = (format.as_str(), format!("Format::{format:?}"));
    let (literal, field) = (format!("\"{name}\""), format!(".{name}"));
    let found =
        [(line.contains(&literal), literal), (has(line, &variant), variant), (has(&unquoted.join(" "), &field), field)];
    found.into_iter().filter_map(|(found, word)| found.then_some(word)).collect()
}

/// Whether a file is in the folder of this format: of its bytes, of its repositories, or of what its clients are told.
fn is_home(path: &str, format: Format) -> bool {
    ["format/src", "repository/src", "daylight/src/formats"]
        .iter()
        .any(|folder| path.starts_with(&format!("crates/{folder}/{}/", format.as_str())))
}

/// What decides by a format outside the folders of that format, and the known places that no longer do.
fn misplaced(sources: &[Source], known: &[(&str, &str)]) -> Vec<String> {
    let (mut wrong, mut used) = (Vec::new(), vec![false; known.len()]);
    for source in sources.iter().filter(|source| source.path != LIST) {
        for format in Format::ALL.iter().filter(|format| !is_home(&source.path, **format)) {
            for (line, word) in
                source.text.lines().flat_map(|line| choices(line, *format).into_iter().map(move |word| (line, word)))
            {
                match known.iter().position(|(path, _)| source.path.starts_with(path)) {
                    Some(place) => used[place] = true,
                    None => wrong.push(format!("{}: `{word}` in `{}`", source.path, line.trim())),
                }
            }
        }
    }
    let idle = known.iter().zip(used).filter(|(_, used)| !used);
    wrong.extend(idle.map(|((path, _), _)| format!("{path}: listed, and decides by no format any more")));
    wrong
}

#[test]
fn only_the_list_of_formats_and_the_folders_of_a_format_decide_by_it() {
    nothing_wrong(misplaced(&code(), KNOWN));
}

#[test]
fn a_planted_question_a_planted_literal_and_a_planted_variant_are_seen() {
    let told =
        |path: &str, text: &str| misplaced(&[Source { path: path.to_owned(), text: text.to_owned() }], &[]).len();
    for planted in [
        "if shared.gem.is_some() {",
        "let Some(x) = &shared.maven else {",
        "one.format == \"raw\"",
        "Format::Raw => 1,",
    ] {
        assert_eq!(told("crates/repository/src/repositories/list.rs", planted), 1, "{planted}");
        assert_eq!(
            told("crates/repository/src/raw/mod.rs", planted),
            usize::from(!planted.to_lowercase().contains("raw"))
        );
    }
    for innocent in ["rules.gem(question)", "\"name.gem\"", "Format::RawRules", "Format::ALL", "gem.version"] {
        assert_eq!(told("crates/repository/src/repositories/list.rs", innocent), 0, "{innocent}");
    }
    assert_eq!(misplaced(&[], &[("crates/a.rs", "has none")]).len(), 1);
}

#[test]
fn no_file_of_a_format_imports_the_list_of_repositories() {
    let imports = Imports::of("repository");
    let below = |file: &usize| imports.files[*file].trim_start_matches("crates/repository/src/");
    let upward = (0..imports.files.len()).filter(|file| {
        let is_above = |imported: &usize| below(imported).starts_with("repositories");
        Format::ALL.iter().any(|format| is_home(&imports.files[*file], *format))
            && imports.edges[*file].iter().any(is_above)
    });
    nothing_wrong(upward.map(|file| format!("{} imports `crate::repositories`", below(&file))).collect());
}
