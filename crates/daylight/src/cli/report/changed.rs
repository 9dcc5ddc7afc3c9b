//! What was changed: rows of the journal, with who made them and when. Publications are counted by package.

use super::asked::Asker;
use super::{cells, or_missing};
use crate::cli::api::{Api, Pages, decode};
use crate::cli::failure::Failure;
use format::percent::segment;
use serde::Deserialize;
use std::collections::BTreeMap;
use web::{ReportBlock, ReportFigure, ReportTable};

/// Rows of one call, and the most rows that are read.
const PAGE: usize = 1_000;
const ROWS_MAX: usize = 20_000;
/// The most changes that are listed.
const LISTED_MAX: usize = 200;
/// The most packages that are listed.
const PACKAGES_MAX: usize = 25;
/// Changes of how the server works. Only administrators see those of tokens.
const SETTINGS: &str = "repository,setting";
const TOKENS: &str = "token";
/// Changes of content, apart from publications: removals, and who may publish a name.
const CONTENT: &str = "yank,delete,cleanup,retention,purge,owners";

#[derive(Debug, Default, Deserialize)]
struct List {
    rows: Vec<Row>,
    next: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Row {
    seq: u64,
    at: String,
    by: String,
    kind: String,
    repository: Option<String>,
    package: Option<String>,
    version: Option<String>,
    name: Option<String>,
    what: Option<String>,
}

/// Rows, and whether there are more.
#[derive(Debug, Default)]
struct Rows {
    rows: Vec<Row>,
    is_cut: bool,
}

/// The changes of the time.
pub(super) struct Changed {
    settings: anyhow::Result<Rows>,
    tokens: anyhow::Result<Rows>,
    content: anyhow::Result<Rows>,
    published: anyhow::Result<Rows>,
}

impl Changed {
    pub(super) fn read(asker: &Asker<'_>) -> Self {
        let read = |kinds: &str| read(asker.api, asker.from(), asker.to(), kinds);
        Self { settings: read(SETTINGS), tokens: read(TOKENS), content: read(CONTENT), published: read("publish") }
    }

    fn listed(&self) -> Vec<Row> {
        let mut rows: Vec<Row> =
            [&self.settings, &self.tokens].into_iter().flatten().flat_map(|rows| rows.rows.clone()).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.seq));
        rows
    }

    pub(super) fn figure(&self) -> ReportFigure {
        let value = self
            .published
            .as_ref()
            .map_or_else(|_| "not known".to_owned(), |rows| cells::count(rows.rows.len() as f64));
        let note = match &self.published {
            Ok(rows) if rows.is_cut => "versions and files, and more".to_owned(),
            _ => "versions and files".to_owned(),
        };
        ReportFigure { name: "Published".to_owned(), value, note }
    }

    /// Whether all that it takes to say that nothing changed could be read. Only administrators see changes of tokens.
    fn is_known(&self) -> bool {
        self.settings.is_ok()
    }

    pub(super) fn sentence(&self) -> String {
        let listed = self.listed();
        let mut people: Vec<&str> = listed.iter().map(|row| &*row.by).filter(|by| *by != "daylight").collect();
        people.sort_unstable();
        people.dedup();
        match (listed.len(), people.len()) {
            (0, _) if !self.is_known() => {
                "Whether a setting was changed is not known: the journal could not be read.".to_owned()
            }
            (0, _) => "No setting was changed.".to_owned(),
            (changes, 0) => format!("The server's settings changed {}, by the server itself.", times(changes)),
            (changes, people) => format!(
                "The server's settings were changed {}, by {}.",
                times(changes),
                cells::counted(people, "token")
            ),
        }
    }

    /// What was published, by package.
    pub(super) fn published(&self) -> Vec<ReportBlock> {
        let rows = match &self.published {
            Ok(rows) => rows,
            Err(error) => return or_missing("publications", Err(anyhow::anyhow!("{error}"))),
        };
        let mut packages: BTreeMap<(String, String), (usize, String, String)> = BTreeMap::new();
        for row in &rows.rows {
            let of = |text: &Option<String>| cells::foreign(text.as_deref().unwrap_or_default());
            let package = packages.entry((of(&row.package), of(&row.repository))).or_default();
            *package = (package.0 + 1, of(&row.version), cells::foreign(&row.by));
        }
        let all = packages.len();
        let mut packages: Vec<_> = packages.into_iter().collect();
        packages.sort_by_key(|(_, (count, ..))| std::cmp::Reverse(*count));
        let row = |((package, repository), (count, version, by)): ((String, String), (usize, String, String))| {
            vec![package, repository, cells::count(count as f64), version, by]
        };
        let table: Vec<Vec<String>> = packages.into_iter().take(PACKAGES_MAX).map(row).collect();
        if table.is_empty() {
            return vec![ReportBlock::Text("Nothing was published.".to_owned())];
        }
        let names = vec!["Package", "Repository", "#Versions and files", "The last of them", "By"];
        let caption = match all > PACKAGES_MAX {
            true => format!("Published: the {PACKAGES_MAX} packages with most of {}", cells::count(all as f64)),
            false => "Published".to_owned(),
        };
        let mut blocks = vec![ReportBlock::Table(ReportTable { caption, names, rows: table })];
        blocks.extend(rows.cut("publications"));
        blocks
    }

    /// The changes of settings, repositories, tokens and owners; how much content was removed.
    pub(super) fn blocks(&self) -> Vec<ReportBlock> {
        let mut blocks = Vec::new();
        for (what, rows) in
            [("changes of settings and repositories", &self.settings), ("changes of tokens", &self.tokens)]
        {
            match rows {
                Ok(rows) => blocks.extend(rows.cut(what)),
                Err(error) => blocks.push(missing(what, error)),
            }
        }
        let listed = self.listed();
        if listed.is_empty() && self.is_known() {
            blocks.insert(0, ReportBlock::Text("No setting, repository or mute was changed.".to_owned()));
        } else if !listed.is_empty() {
            let row = |row: &Row| {
                let what =
                    [&row.repository, &row.package, &row.name].into_iter().flatten().map(|text| cells::foreign(text));
                let about = what.collect::<Vec<_>>().join(" ");
                vec![
                    cells::minute(&row.at),
                    cells::foreign(&row.by),
                    cells::foreign(&row.kind),
                    about,
                    cells::foreign(row.what.as_deref().unwrap_or_default()),
                ]
            };
            let rows = listed.iter().take(LISTED_MAX).map(row).collect();
            let caption = match listed.len() > LISTED_MAX {
                true => {
                    format!("The last {LISTED_MAX} of {} changes, the newest first", cells::count(listed.len() as f64))
                }
                false => "Changes, the newest first".to_owned(),
            };
            let names = vec!["When", "By (token)", "Of", "About", "Change"];
            blocks.insert(0, ReportBlock::Table(ReportTable { caption, names, rows }));
        }
        match &self.content {
            Err(error) => blocks.push(missing("removals of content and changes of owners", error)),
            Ok(rows) if rows.rows.is_empty() => {
                blocks.push(ReportBlock::Text("No content was removed, and no owner of a name changed.".to_owned()))
            }
            Ok(rows) => {
                blocks.push(counted(&rows.rows));
                blocks.extend(rows.cut("removals of content and changes of owners"));
            }
        }
        blocks
    }
}

impl Rows {
    fn cut(&self, what: &str) -> Option<ReportBlock> {
        let text = format!(
            "Only the first {} rows of {what} were read: `daylight journal` has all.",
            cells::count(ROWS_MAX as f64)
        );
        self.is_cut.then_some(ReportBlock::Missing(text))
    }
}

/// How often content was removed and owners changed, by kind, repository and author.
fn counted(rows: &[Row]) -> ReportBlock {
    let mut counts: BTreeMap<[String; 3], usize> = BTreeMap::new();
    for row in rows {
        let repository = cells::foreign(row.repository.as_deref().unwrap_or_default());
        *counts.entry([row.kind.clone(), repository, cells::foreign(&row.by)]).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let row = |([kind, repository, by], count): ([String; 3], usize)| {
        vec![cells::foreign(&kind), repository, by, cells::count(count as f64)]
    };
    let rows = counts.into_iter().take(PACKAGES_MAX).map(row).collect();
    let names = vec!["Kind", "Repository", "By (token)", "#Changes"];
    ReportBlock::Table(ReportTable {
        caption: "Removals of content, and changes of owners of names".to_owned(),
        names,
        rows,
    })
}

fn missing(what: &str, error: &anyhow::Error) -> ReportBlock {
    let status = error.downcast_ref::<Failure>().and_then(Failure::status);
    let why = match status {
        Some(403) => "administrators alone may see them".to_owned(),
        _ => cells::foreign(&error.to_string()),
    };
    ReportBlock::Missing(format!("Not shown: {what}; {why}."))
}

fn times(number: usize) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        number => format!("{} times", cells::count(number as f64)),
    }
}

/// The rows of these kinds in the time.
fn read(api: &Api, from: &str, to: &str, kinds: &str) -> anyhow::Result<Rows> {
    let (mut all, mut pages, mut place) = (Rows::default(), Pages::default(), String::new());
    let time = format!("since={}&until={}", segment(from), segment(to));
    loop {
        let url = format!("/api/v1/journal?{time}&kind={kinds}&limit={PAGE}{place}");
        let page = decode::<List>(api.get(&url)?)?;
        all.rows.extend(page.rows);
        let Some(next) = page.next else { return Ok(all) };
        if all.rows.len() >= ROWS_MAX {
            all.is_cut = true;
            return Ok(all);
        }
        place = format!("&after={next}");
        pages.go_on(&place)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u64, kind: &str, by: &str, package: &str) -> Row {
        let text = |text: &str| Some(text.to_owned());
        Row {
            seq,
            kind: kind.into(),
            by: by.into(),
            package: text(package),
            version: text(&format!("1.{seq}")),
            repository: text("gems"),
            ..Row::default()
        }
    }

    fn rows(rows: Vec<Row>) -> anyhow::Result<Rows> {
        Ok(Rows { rows, is_cut: false })
    }

    #[test]
    fn a_journal_that_cannot_be_read_is_not_told_as_one_without_changes() {
        let unreadable = || Err(Failure::answered(503, "no", None).into());
        let changed =
            Changed { settings: unreadable(), tokens: rows(vec![]), content: rows(vec![]), published: rows(vec![]) };
        let told = format!("{} {:?}", changed.sentence(), changed.blocks());
        assert!(told.contains("is not known") && !told.contains("No setting"), "{told}");
        assert!(told.contains("Not shown: changes of settings and repositories"), "{told}");
        let changed = Changed { settings: rows(vec![]), ..changed };
        let told = format!("{} {:?}", changed.sentence(), changed.blocks());
        assert!(told.starts_with("No setting was changed.") && told.contains("No setting, repository"), "{told}");
    }

    #[test]
    fn publications_are_counted_by_package_and_removals_by_kind() {
        let changed = Changed {
            settings: rows(vec![row(1, "setting", "ada", "a"), row(3, "repository", "ben", "b")]),
            tokens: Err(Failure::answered(403, "no", None).into()),
            content: rows(vec![row(4, "yank", "ada", "lamp"), row(5, "yank", "ada", "wick")]),
            published: rows(vec![
                row(6, "publish", "ci", "lamp"),
                row(7, "publish", "ci", "wick"),
                row(8, "publish", "ci", "wick"),
            ]),
        };
        assert_eq!(changed.sentence(), "The server's settings were changed twice, by 2 tokens.");
        assert_eq!(changed.figure().value, "3");
        let ReportBlock::Table(published) = &changed.published()[0] else { panic!() };
        assert_eq!(published.rows, [["wick", "gems", "2", "1.8", "ci"], ["lamp", "gems", "1", "1.6", "ci"]]);
        let told = format!("{:?}", changed.blocks());
        assert!(told.contains("Not shown: changes of tokens; administrators alone may see them."), "{told}");
        assert!(told.contains("\"yank\", \"gems\", \"ada\", \"2\""), "{told}");
        let ReportBlock::Table(listed) = &changed.blocks()[0] else { panic!() };
        assert_eq!(
            listed.rows.iter().map(|row| &*row[2]).collect::<Vec<_>>(),
            ["repository", "setting"],
            "the newest first"
        );
    }
}
