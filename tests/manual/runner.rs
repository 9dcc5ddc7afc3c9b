//! The runner itself: what it runs, what it refuses, and what a stage can have ready for a page.

use super::stage::Stage;
use super::{all_of, page};
use crate::world::World;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a page fails; nothing, where it holds.
fn fails(text: &str, stage: Stage) -> Option<String> {
    let why = catch_unwind(AssertUnwindSafe(|| all_of("a page", &page::parse(text), stage))).err()?;
    Some(why.downcast_ref::<String>().unwrap().clone())
}

#[test]
fn a_page_holds_only_if_all_of_its_blocks_do() {
    let stage = || Stage::on(World::start());
    assert_eq!(fails("```sh\nwicks=2\n```\n```sh\necho $((wicks + 1)) wicks\n```\n    7 wicks\n", stage()), None);
    assert_eq!(fails("## A\n```sh\nmkdir a; cd a; touch b\n```\n## B\n```sh\ntest -e a/b\n```\n", stage()), None);
    for (page, why) in [
        ("```sh\nfalse; true\n```\n", "it fails"),
        ("```sh\ntrue\n```\n    lit\n", "`lit` is not printed"),
        ("```sh\ntrue\n```\ntext\n```text\nlit\n```\n", "it is not right below commands"),
        ("```\nls\n```\n", "it has no language"),
        ("```cobol\nls\n```\n", "nobody reads `cobol`"),
        ("```toml\n[server]\nlamp = 1\n```\n", "lamp"),
        ("```toml\n[[repository]]\nname = \"a\"\nformat = \"lamp\"\n```\n", "lamp"),
        ("```json\n{\n```\n", "EOF"),
        ("```ruby\ndef\n```\n", "syntax error"),
        ("```xml\n<servers><serwer/></servers>\n```\n", "serwer"),
        ("```xml\n<dependencies><dependency><lamp/></dependency></dependencies>\n```\n", "lamp"),
        ("```ini\n[Service]\nlamp\n```\n", "neither a section nor a setting"),
        (
            "```kotlin\nrepositories { maven(\"http://127.0.0.1:8080/repository/lamp/\") }\n```\n",
            "no repository `lamp`",
        ),
        ("```cron\n7 * * * * lamp false\n```\n", "page"),
    ] {
        let found = fails(page, stage()).unwrap_or_else(|| panic!("it holds:\n{page}"));
        assert!(found.contains(why), "{why}: {found}");
    }
}

#[test]
fn a_stage_has_ready_what_a_page_needs() {
    let page = "```sh\nread -p 'Name: ' name; echo \"$name\" >name\n```\n```sh\nsudo -u lamp systemctl start lamp\n```\n\
                ```sh\ncurl -fsS http://127.0.0.1:8080/gone\n```\n```sh\ncurl -fsS http://daylight.example/health/live >/mnt/lamp/live\n```\n\
                ```sh\ndaylight serve --data fresh --listen 127.0.0.1:9000\n```\n    listening on http://127.0.0.1:9000\n```lamp\nlit\n```\n";
    let stage = || {
        Stage::on(World::start())
            .folder("/mnt/lamp")
            .answers("read -p", &[("Name:", "Mira")])
            .fails("/gone")
            .before("/health/live", |stage| {
                stage.world.stop();
                stage.resume();
            })
            .keep(World::start())
    };
    let read = |_: &Stage, text: &str| {
        if text == "lit\n" { Ok(()) } else { Err(text.to_owned()) }
    };
    let after = |stage: &mut Stage| {
        assert_eq!(std::fs::read_to_string(stage.path("name")).unwrap(), "Mira\n");
        assert!(stage.path("/mnt/lamp/live").exists() && stage.path("fresh").exists());
        assert_eq!(stage.calls(), "sudo -u lamp systemctl start lamp\nsystemctl start lamp\n");
    };
    assert_eq!(fails(page, stage().reads("lamp", read).after(after)), None);
    let stale = fails(page, stage().reads("lamp", read).fails("no such block")).unwrap();
    assert!(stale.contains("has no block with [\"no such block\"]"), "{stale}");
}
