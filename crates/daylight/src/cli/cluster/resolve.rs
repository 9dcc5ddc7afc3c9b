//! `daylight cluster resolve`: chooses between two histories.

use crate::cli::context::Context;
use crate::cli::failure::{Failure, plain};
use crate::cli::stored_objects::StoredObjects;
use crate::cli::{folder, table};
use crate::instance::database;
use repository::list_changes;
use serde_json::{Value, json};
use std::io::{self, Write};
use store::{GivenUp, Histories, History, KeptHistory, Resolving};
use telemetry::Millis;

/// Choose between two histories, after the database and the data folder got other changes under the same numbers
///
/// For a server that says that the histories have parted, as after a failover to a standby to which others wrote before this server did. Stop
/// it first. The command shows the last common change and what each of the two has after it. With --keep and --yes one of them is kept. The
/// changes of the other one are written into a file in the data folder, one in a line; nothing else has them then. After an interruption type
/// the same command again.
#[derive(Debug, clap::Args)]
pub(super) struct Resolve {
    /// Keep the history of the database, from which the copy in this folder is made again; or that of the copy, which replaces it there
    #[arg(long, value_enum)]
    keep: Option<Keep>,
    /// Do it; without this flag nothing is changed
    #[arg(long, requires = "keep")]
    yes: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Keep {
    Database,
    Copy,
}

impl Resolve {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let (settings, _) = folder::load(context)?;
        let Some(options) = database::of(&settings)? else {
            let hint = "name the configuration file of the server with `--config`";
            return Err(Failure::usage("`cluster.database` is not set", hint).into());
        };
        let (data, objects) = (&settings.store.data, StoredObjects::of(&settings)?);
        let Some(resolving) = Resolving::open(data, &options, objects.get())? else {
            return match context.flags.json {
                true => Ok(writeln!(context.out, "{:#}", json!({ "parted": false }))?),
                false => Ok(writeln!(context.out, "there is nothing to resolve: the histories have not parted")?),
            };
        };
        let (histories, folder) = (resolving.histories().clone(), data.display().to_string());
        let keep = match self.keep {
            Some(Keep::Database) => Some(KeptHistory::Database),
            Some(Keep::Copy) => Some(KeptHistory::Copy),
            None => None,
        };
        let given_up = keep.filter(|_| self.yes).map(|keep| resolving.keep(keep)).transpose()?;
        if context.flags.json {
            return Ok(writeln!(context.out, "{:#}", shown(&histories, given_up.as_ref()))?);
        }
        show(&histories, (&options.url, &folder), context.out)?;
        match given_up {
            Some(given_up) => tell(&given_up, context.out)?,
            None => writeln!(
                context.out,
                "\nnothing was changed\n\
                 `--keep database --yes` gives up the changes of the data folder after {0}: the next start makes its copy again from the database\n\
                 `--keep copy --yes` gives up the changes of the database after {0}: those of the data folder replace them, once all servers are stopped",
                histories.common.0
            )?,
        }
        Ok(())
    }
}

fn show(histories: &Histories, (url, folder): (&str, &str), out: &mut dyn Write) -> io::Result<()> {
    let Histories { common, common_at, database, copy } = histories;
    match common_at {
        Some(at) => writeln!(out, "the last common change is {} of {at}", common.0)?,
        None => writeln!(out, "there is no common change")?,
    }
    for (history, of) in
        [(database, format!("the database `{}`", plain(url))), (copy, format!("the data folder `{}`", plain(folder)))]
    {
        let until = history.last_at.map(|at| format!(", the last one of {at}")).unwrap_or_default();
        let nodes: Vec<String> =
            history.nodes.iter().map(|(node, count)| format!("`{}` {count}", plain(node))).collect();
        let by = if nodes.is_empty() { String::new() } else { format!("; made by the nodes {}", nodes.join(", ")) };
        let count = history.last.0 - common.0;
        let noun = if count == 1 { "change" } else { "changes" };
        writeln!(out, "\n{of} has {count} {noun} after it, up to {}{until}{by}", history.last.0)?;
        let rows = list_changes(&history.first, &history.repositories);
        let cells = rows.into_iter().map(|row| {
            let what =
                [row.package, row.version, row.name, row.what].into_iter().flatten().collect::<Vec<_>>().join(" ");
            let repository = row.repository.unwrap_or_default();
            [row.seq.0.to_string(), row.at.to_string(), row.by, row.from, row.kind.to_owned(), repository, what]
        });
        table::write(out, ["SEQ", "AT", "BY", "FROM", "KIND", "REPOSITORY", "WHAT"], cells.collect())?;
    }
    Ok(())
}

fn tell(given_up: &GivenUp, out: &mut dyn Write) -> io::Result<()> {
    let GivenUp { file, first, last, replaced, segments } = given_up;
    let file = file.display().to_string();
    writeln!(out, "\nthe changes {} to {} were given up; they are in `{}`", first.0, last.0, plain(&file))?;
    match replaced {
        Some(replaced) => {
            let replaced = replaced.display().to_string();
            writeln!(
                out,
                "the former copy is `{}`, and the next start makes a new one from the database",
                plain(&replaced)
            )?;
        }
        None => {
            writeln!(out, "the database has the changes of this folder: start this server first, and then the others")?
        }
    }
    match segments {
        0 => Ok(()),
        many => writeln!(out, "object storage had {many} segments of that history, which are in the data folder now"),
    }
}

fn shown(histories: &Histories, given_up: Option<&GivenUp>) -> Value {
    let moment = |at: Option<Millis>| at.map(|at| at.to_string());
    let history = |of: &History| {
        let nodes: Vec<_> = of.nodes.iter().map(|(node, count)| json!({ "name": node, "changes": count })).collect();
        json!({
            "last": of.last.0, "last_at": moment(of.last_at), "changes": of.last.0 - histories.common.0, "nodes": nodes,
            "first": list_changes(&of.first, &of.repositories),
        })
    };
    json!({
        "parted": true, "common": histories.common.0, "common_at": moment(histories.common_at),
        "database": history(&histories.database), "copy": history(&histories.copy),
        "given_up": given_up.map(|given_up| json!({
            "file": given_up.file.display().to_string(), "first": given_up.first.0, "last": given_up.last.0,
            "replaced": given_up.replaced.as_ref().map(|path| path.display().to_string()), "segments": given_up.segments,
        })),
    })
}
