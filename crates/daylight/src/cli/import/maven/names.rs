//! The known facts about the names of a folder: from the files that clients keep beside artifacts, and from the server.

use super::decision::{Decision, Evidence, KnownName, folder_of};
use super::tree::ArtifactTree;
use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::import::flags::NameFlags;
use crate::cli::progress::Bar;
use crate::cli::repository_client::RepositoryClient;
use format::percent::segment;
use format::tree;
use repository::NamePattern;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use store::Progress;

/// Names in one call; where upstreams are asked, a call takes longer.
const NAMES_EACH: usize = 100;
const ASKED_EACH: usize = 20;

#[derive(Debug, Deserialize)]
struct Answer {
    names: Vec<KnownName>,
}

/// Decides whose each name of the folder is.
pub(super) fn decide(
    tree: &ArtifactTree,
    flags: &NameFlags,
    repository: &RepositoryClient,
    context: &Context<'_>,
) -> anyhow::Result<Decision> {
    let mut names = BTreeMap::<String, Evidence>::new();
    for file in tree.folders.iter().flatten() {
        let evidence = names.entry(folder_of(&file.path).to_owned()).or_default();
        evidence.files += 1;
        if let Some(tracking) = tree.tracked.get(tree::folder(&file.path)) {
            evidence.installed |= tracking.installed;
            evidence.downloaded.extend(tracking.downloaded.iter().cloned());
        }
    }
    names.remove("");
    let all = flags.claim.iter().any(String::is_empty);
    let only_matching = !all && !flags.claim.is_empty();
    for text in flags.claim.iter().filter(|text| !text.is_empty()) {
        let hint = "such as `--claim com.acme` or `--claim 'com.acme:lamp-*'`; the folder comes before `--claim`";
        let pattern = NamePattern::read("--claim", text).map_err(|error| Failure::usage(error.to_string(), hint))?;
        let mut matched = false;
        for (_, evidence) in names.iter_mut().filter(|(folder, _)| pattern.matches(folder)) {
            (evidence.claimed, matched) = (true, true);
        }
        if !matched {
            let hint = "`--dry-run` shows the names; a pattern is GROUP or GROUP:ARTIFACT, and may have `*`";
            return Err(Failure::usage(format!("`--claim`: `{text}` matches no name of the folder"), hint).into());
        }
    }
    names.values_mut().for_each(|evidence| evidence.only_matching = only_matching);
    let api = Api::patient(context)?;
    ask(&api, repository, &mut names, NAMES_EACH, false, |_| true)?;
    if flags.ask_upstreams {
        // What was installed here stays in the house, even if no pattern matches it.
        let is_open = |evidence: &Evidence| evidence.verdict(all).is_undecided() && !evidence.installed;
        ask(&api, repository, &mut names, ASKED_EACH, true, is_open)?;
    }
    let verdicts = names.into_iter().map(|(folder, evidence)| {
        let verdict = evidence.verdict(all);
        (folder, evidence.files, verdict, evidence.known)
    });
    Ok(Decision::new(verdicts))
}

/// Asks the server what it knows about the names that `which` selects.
fn ask(
    api: &Api,
    repository: &RepositoryClient,
    names: &mut BTreeMap<String, Evidence>,
    each: usize,
    ask_upstreams: bool,
    which: impl Fn(&Evidence) -> bool,
) -> anyhow::Result<()> {
    let folders: Vec<String> =
        names.iter().filter(|(_, evidence)| which(evidence)).map(|(folder, _)| folder.clone()).collect();
    let (bar, total, mut done) = (Bar::new(), folders.len() as u64, 0);
    for part in folders.chunks(each) {
        bar.show(Progress { done, total, of: "names" });
        let url = format!("{REPOSITORIES}/{}/names", segment(repository.name()));
        let answer: Answer = decode(api.post(&url, &json!({ "folders": part, "ask_upstreams": ask_upstreams }))?)?;
        for known in answer.names {
            if let Some(evidence) = names.get_mut(&known.folder) {
                evidence.asked = ask_upstreams;
                evidence.known = known;
            }
        }
        done += part.len() as u64;
    }
    Ok(())
}
