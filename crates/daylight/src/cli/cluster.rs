//! `daylight cluster`: the database and the object storage that a server works with.

mod resolve;
mod status;

use super::context::Context;
use super::failure::{Failure, plain};
use super::folder_job;
use super::stored_objects::StoredObjects;
use crate::config::Settings;
use crate::instance::database;
use anyhow::Context as _;
use resolve::Resolve;
use status::Status;
use store::{Adopted, DatabaseOptions, Layout, Progress, Store, StoreOptions};
use telemetry::{Clock, Event, Op, Recorder};
use tokio::runtime::Builder;

/// Show the nodes that share a database, move a data folder into it, or choose between two histories
#[derive(Debug, clap::Args)]
pub(super) struct Cluster {
    #[command(subcommand)]
    verb: ClusterVerb,
}

#[derive(Debug, clap::Subcommand)]
enum ClusterVerb {
    Status(Status),
    Adopt(Adopt),
    Resolve(Resolve),
}

/// Move the data folder of one machine into the database and the object storage of the settings
///
/// For a data folder that was used without `cluster.database` or `store.objects`: all changes are written into the database, which must be
/// empty, and the bytes of all packages into object storage. Nothing is removed from the folder. After an interruption the same command goes
/// on. Then a server with these settings works with this folder, or with an empty one on another machine. No server may be using the folder.
#[derive(Debug, clap::Args)]
struct Adopt;

impl Cluster {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        match self.verb {
            ClusterVerb::Status(status) => status.run(context),
            ClusterVerb::Adopt(adopt) => adopt.run(context),
            ClusterVerb::Resolve(resolve) => resolve.run(context),
        }
    }
}

impl Adopt {
    fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let mut bytes_stay = false;
        let ((moved, problems), took) = folder_job::run(Op::Adopt, context, |settings, progress| {
            bytes_stay = settings.store.objects.0.is_none();
            adopt(settings, progress)
        })?;
        let Adopted { last, sent, missing } = moved;
        let problems: Vec<String> = problems.iter().map(|text| plain(text).to_string()).collect();
        if context.flags.json {
            let all = serde_json::json!({
                "last": last.0, "sent": sent, "missing": missing, "bytes_stay": bytes_stay, "problems": problems, "seconds": took.as_secs_f64(),
            });
            writeln!(context.out, "{all:#}")?;
        } else {
            problems.iter().try_for_each(|problem| writeln!(context.out, "{problem}"))?;
            writeln!(context.out, "moved all changes up to {}, and sent {sent} blobs in {took:.1?}", last.0)?;
            if bytes_stay {
                writeln!(
                    context.out,
                    "the bytes of packages stay in this folder alone, as `store.objects` is not set"
                )?;
            }
        }
        match problems.len() {
            0 => Ok(()),
            many => {
                let noun = if many == 1 { "problem" } else { "problems" };
                let hint = "they were there before: nothing was moved wrongly, and a backup may have the damaged and the missing ones";
                Err(Failure::new(format!("the data folder has {many} {noun}"), Some(hint.to_owned())).into())
            }
        }
    }
}

/// Moves the folder, and compares it with what was moved. Returns also the problems of the folder.
fn adopt(settings: &Settings, progress: &mut dyn FnMut(Progress)) -> anyhow::Result<(Adopted, Vec<String>)> {
    let (database, objects) = (database::of(settings)?, StoredObjects::of(settings)?);
    if database.is_none() && objects.get().is_none() {
        let hint = "write the settings of the server into its configuration file, and name it with `--config`";
        return Err(Failure::usage("neither `cluster.database` nor `store.objects` is set", hint).into());
    }
    let data = &settings.store.data;
    if !Layout::new(data).truth().exists() {
        let hint = "an empty folder needs no move: `daylight serve` starts with it";
        return Err(Failure::new(format!("`{}` is no data folder", data.display()), Some(hint.to_owned())).into());
    }
    let clock = Clock::default();
    let mut event = Event::job("cluster.adopt", clock.now());
    if let Some(objects) = objects.get() {
        store::try_objects(data, objects, &mut event)?;
    }
    let store = Store::open(StoreOptions {
        database: database.map(|database| DatabaseOptions { adopt: true, ..database }),
        objects: objects.get().cloned(),
        floor_bytes: settings.store.free_space_floor_bytes,
        ..StoreOptions::new(data, clock.clone(), Recorder::silent(clock.clone()))
    })?;
    let runtime = Builder::new_current_thread().enable_all().build().context("cannot start a thread")?;
    let moved = runtime.block_on(store.adopt(progress, &mut event))?;
    store.close();
    if let Some(copied) = store.objects().map(store::ObjectsState::copied)
        && copied < moved.last
    {
        let text =
            format!("object storage has the journal up to change {}, and the folder up to {}", copied.0, moved.last.0);
        return Err(Failure::new(text, Some("type the command again: it goes on where it ended".to_owned())).into());
    }
    let report = store::check_with(data, false, objects.get(), progress)?;
    Ok((moved, report.problems.iter().map(ToString::to_string).collect()))
}
