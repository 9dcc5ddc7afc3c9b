//! Every command on README.md and on the pages of `docs` runs as it is written, and prints what stands below it.
//!
//! A page has a stage: the server that its commands talk to, and what its names mean here. All blocks of `sh` run in one shell, in their order;
//! each `## ` begins a new terminal in the home folder. Blocks of other languages are read by the program that they are for.

mod application;
mod authority;
mod database;
mod front_door;
mod languages;
mod late;
mod links;
mod many_nodes;
pub(crate) mod page;
mod pages;
mod pipelines;
mod runner;
mod session;
mod settings;
mod shape;
mod shims;
mod stage;
mod storage;

use page::Block;
use session::Session;
use stage::Stage;

/// Makes a test of each page, and the list of all pages that have one.
macro_rules! pages {
    ($($test:ident: $page:literal => $stage:path;)+) => {
        const PAGES: &[&str] = &[$($page),+];
        $(#[test] fn $test() { run($page, $stage()); })+
    };
}

pages! {
    readme: "README.md" => pages::readme;
    accounts: "docs/accounts.md" => pages::accounts;
    acme: "docs/acme.md" => authority::stage;
    alerts: "docs/alerts.md" => pages::alerts;
    api: "docs/api.md" => pages::api;
    asking: "docs/asking.md" => pages::asking;
    app_pages: "docs/app-pages.md" => application::written_pages;
    as_of: "docs/as-of.md" => pages::as_of;
    backup: "docs/backup.md" => pages::backup;
    build_tools: "docs/build-tools.md" => pages::build_tools;
    ci: "docs/ci.md" => pages::ci;
    command_line: "docs/command-line.md" => pages::command_line;
    configuration: "docs/configuration.md" => pages::plain;
    data_folder: "docs/data-folder.md" => pages::data_folder;
    explaining: "docs/explaining.md" => pages::explaining;
    exporting: "docs/exporting.md" => pages::exporting;
    failover: "docs/failover.md" => many_nodes::stage;
    findings: "docs/findings.md" => pages::findings;
    front: "docs/front.md" => application::stage;
    gem_clients: "docs/gem-clients.md" => pages::gem_clients;
    gems_from_an_upstream: "docs/gems-from-an-upstream.md" => pages::gems_from_an_upstream;
    groups: "docs/groups.md" => pages::groups;
    groups_of_gems: "docs/groups-of-gems.md" => pages::groups_of_gems;
    hc1: "docs/hc1.md" => pages::hc1;
    hooks: "docs/hooks.md" => pages::hooks;
    keeping_and_deleting: "docs/keeping-and-deleting.md" => pages::keeping_and_deleting;
    koji: "docs/koji.md" => pages::koji;
    many_nodes: "docs/many-nodes.md" => many_nodes::stage;
    mcp: "docs/mcp.md" => pages::plain;
    more_than_one_machine: "docs/more-than-one-machine.md" => database::stage;
    moving_in: "docs/moving-in.md" => pages::moving_in;
    monitoring: "docs/monitoring.md" => pages::monitoring;
    sizing: "docs/sizing.md" => pages::sizing;
    stability: "docs/stability.md" => pages::plain;
    object_storage: "docs/object-storage.md" => storage::stage;
    policy: "docs/policy.md" => pages::policy;
    proxying: "docs/proxying.md" => pages::proxying;
    publishing_files: "docs/publishing-files.md" => pages::plain;
    publishing_gems: "docs/publishing-gems.md" => pages::plain;
    publishing_maven: "docs/publishing-maven.md" => pages::publishing_maven;
    reaching_upstreams: "docs/reaching-upstreams.md" => pages::proxying;
    reporting: "docs/reporting.md" => pages::plain;
    replaying: "docs/replaying.md" => pages::replaying;
    repositories: "docs/repositories.md" => pages::plain;
    troubleshooting: "docs/troubleshooting.md" => pages::troubleshooting;
    upgrading: "docs/upgrading.md" => pages::upgrading;
    web_pages: "docs/web-pages.md" => pages::plain;
}

/// Pages that are run in another way: on a machine of their own, by `tests/serving.rs`, and by `scripts/dist/test-pages` on the files of a release.
const ELSEWHERE: &[&str] = &["docs/installing.md", "docs/serving-a-team.md", "docs/serving-options.md"];

#[test]
fn every_page_with_commands_is_run() {
    let with_blocks = |page: &String| !page::blocks(page).is_empty() && !ELSEWHERE.contains(&page.as_str());
    let wanted: Vec<String> = page::all().into_iter().filter(with_blocks).collect();
    let missing: Vec<&String> = wanted.iter().filter(|page| !PAGES.contains(&page.as_str())).collect();
    let gone: Vec<&&str> = PAGES.iter().filter(|page| !wanted.iter().any(|found| found == **page)).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "without a stage in tests/manual: {missing:?}; without a block: {gone:?}"
    );
}

/// Runs and reads all blocks of a page.
fn run(page: &str, stage: Stage) {
    all_of(page, &page::blocks(page), stage);
}

/// Runs and reads these blocks. Each is run or read, and whatever the stage has ready for a block must meet one.
fn all_of(page: &str, blocks: &[Block], mut stage: Stage) {
    let session = Session::open(&stage);
    let mut section = String::new();
    for block in blocks {
        if block.section != section {
            section.clone_from(&block.section);
            session.go_home();
        }
        while let Some(at) = stage.before.iter().position(|(of, _)| block.text.contains(of)) {
            let (_, step) = stage.before.remove(at);
            step(&mut stage);
        }
        let wrong = if block.language == "sh" {
            commands(&session, &mut stage, block)
        } else {
            languages::read(&stage, &block.language, &stage.text(&block.text))
        };
        wrong.unwrap_or_else(|why| panic!("{page}, line {}:\n{}\n{why}", block.line, stage.text(&block.text)));
    }
    let unused: Vec<&str> = stage
        .before
        .iter()
        .map(|(of, _)| *of)
        .chain(stage.answers.iter().map(|(of, _)| *of))
        .chain(stage.failing.iter().copied())
        .collect();
    assert!(unused.is_empty(), "{page} has no block with {unused:?}");
    for step in std::mem::take(&mut stage.after) {
        step(&mut stage);
    }
}

fn commands(session: &Session, stage: &mut Stage, block: &Block) -> Result<(), String> {
    let answers = stage.answers.iter().position(|(of, _)| block.text.contains(of)).map(|at| stage.answers.remove(at).1);
    let fails = stage.failing.iter().position(|of| block.text.contains(of)).map(|at| stage.failing.remove(at));
    let said = session.run(stage, &stage.text(&block.text), answers.as_deref()).either();
    let printed = match (said, fails) {
        (Ok(printed), None) | (Err(printed), Some(_)) => printed,
        (Ok(printed), Some(_)) => return Err(format!("it succeeds, and should fail:\n{printed}")),
        (Err(printed), None) => return Err(format!("it fails:\n{printed}")),
    };
    let shown: Vec<String> = block.output.iter().map(|line| stage.text(line)).collect();
    shape::missing(&shown, &printed)
        .map_or(Ok(()), |line| Err(format!("`{line}` is not printed, or not in this order:\n{printed}")))
}
