//! `daylight manual`: manual pages of the command line.

use super::context::Context;
use super::examples;
use super::failure::Failure;
use super::global_flags::tree;
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;
use std::path::{Path, PathBuf};
use store::disk::{Disk as _, RealDisk};
use telemetry::Clock;

/// Write manual pages for all commands into a folder
///
/// The pages are daylight.1 and one for each command, such as daylight-repo-add.1. Existing pages are replaced. `man` finds them in a
/// folder such as /usr/local/share/man/man1.
#[derive(Debug, clap::Args)]
pub(super) struct Manual {
    /// The folder; it is created if it does not exist
    dir: PathBuf,
}

/// A page: the name of its file, and its text.
struct Page {
    name: String,
    text: Vec<u8>,
}

impl Manual {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let mut tree = tree().disable_help_subcommand(true);
        tree.build();
        let mut pages = Vec::new();
        let day = Clock::default().now().to_string();
        render(&tree, "daylight", day.split('T').next().unwrap_or_default(), &mut pages)?;
        write(&self.dir, &pages).map_err(|error| {
            let text = format!("cannot write manual pages into `{}`: {error}", self.dir.display());
            Failure::new(text, Some("name a folder that this user may write to".to_owned()))
        })?;
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        if context.flags.json {
            writeln!(
                context.out,
                "{:#}",
                serde_json::json!({ "dir": self.dir.display().to_string(), "files": names })
            )?;
        } else {
            writeln!(context.out, "wrote {} manual pages into `{}`", names.len(), self.dir.display())?;
        }
        Ok(())
    }
}

/// Renders the page of a command and those of its subcommands. `name` is the name of the page: `daylight-repo-add`.
fn render(command: &Command, name: &str, day: &str, pages: &mut Vec<Page>) -> io::Result<()> {
    // The examples have a section of their own, with one line for each.
    let page = command.clone().after_help("").after_long_help("").mut_args(with_values);
    let man = Man::new(page).title(name.to_uppercase()).source("Daylight").manual("Daylight Manual").date(day);
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    let examples = examples::of(&name.split('-').skip(1).collect::<Vec<_>>().join(" "));
    if !examples.is_empty() {
        let mut roff = Roff::new();
        roff.control("SH", ["EXAMPLES"]).control("nf", []);
        for example in examples {
            roff.text([roman(*example)]);
        }
        roff.control("fi", []).to_writer(&mut text)?;
    }
    pages.push(Page { name: format!("{name}.1"), text });
    command.get_subcommands().try_for_each(|below| render(below, &format!("{name}-{}", below.get_name()), day, pages))
}

/// Appends the possible values of a flag to its text, as `--help` does. clap_mangen makes a list of them.
fn with_values(flag: Arg) -> Arg {
    let values = flag.get_possible_values();
    let shown = !values.is_empty() && flag.get_action().takes_values() && !flag.is_hide_possible_values_set();
    let Some(text) = flag.get_long_help().or_else(|| flag.get_help()).filter(|_| shown) else { return flag };
    let values: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
    let text = format!("{text} [possible values: {}]", values.join(", "));
    flag.long_help(text).hide_possible_values(true)
}

/// Writes each page completely before it gets its name.
fn write(folder: &Path, pages: &[Page]) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for Page { name, text } in pages {
        let (path, arriving) = (folder.join(name), folder.join(format!(".{name}.arriving")));
        if RealDisk.size(&arriving)?.is_some() {
            RealDisk.unlink(&arriving)?;
        }
        let mut file = RealDisk.create(&arriving)?;
        file.write(text)?;
        file.sync()?;
        RealDisk.rename(&arriving, &path)?;
    }
    Ok(())
}
