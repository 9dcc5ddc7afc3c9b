//! `daylight config check`: whether the settings can be used, and the database and the object storage that they name be reached.

use crate::cli::context::Context;
use crate::cli::failure::{Failure, plain};
use crate::cli::folder;
use crate::cli::stored_objects::StoredObjects;
use crate::config::Settings;
use crate::instance::database;
use store::Error;

/// Try whether the settings can be used
///
/// Reads the settings as `daylight serve` does, connects to the database of `cluster.database`, and lists the journal in the object storage
/// of `store.objects`, each where it is set. Changes nothing, and needs no data folder. A server may be running: where a node with the name
/// `cluster.node` lives, it says so.
#[derive(Debug, clap::Args)]
pub(super) struct Check;

/// What was tried: what it is, and how it went.
type Tried = (&'static str, Result<String, Error>);

impl Check {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let (settings, _) = folder::load(context)?;
        let tried = tried(&settings)?;
        if context.flags.json {
            let one = |(what, went): &Tried| {
                let (text, hint) = match went {
                    Ok(text) => (text.clone(), None),
                    Err(error) => (error.to_string(), error.hint()),
                };
                ((*what).to_owned(), serde_json::json!({ "usable": went.is_ok(), "text": text, "hint": hint }))
            };
            let all: serde_json::Map<_, _> = tried.iter().map(one).collect();
            writeln!(context.out, "{:#}", serde_json::Value::from(all))?;
        } else {
            for (what, went) in &tried {
                match went {
                    Ok(text) => writeln!(context.out, "{what}: {}", plain(text))?,
                    Err(error) => writeln!(context.out, "{what}: {}", plain(&error.to_string()))?,
                }
            }
        }
        match tried.into_iter().find_map(|(what, went)| Some((what, went.err()?))) {
            Some((what, error)) => Err(Failure::new(format!("{what} cannot be used"), error.hint()).into()),
            None if context.flags.json => Ok(()),
            None => Ok(writeln!(context.out, "settings: they can be used")?),
        }
    }
}

fn tried(settings: &Settings) -> anyhow::Result<Vec<Tried>> {
    let (mut tried, stored) = (Vec::new(), StoredObjects::of(settings)?);
    if let Some(options) = database::of(settings)? {
        let place = stored.get().map(|objects| objects.url.as_str());
        let mut same_name = None;
        let went = store::try_database(&options, place).map(|tried| match tried {
            Some(tried) => {
                same_name = tried.same_name;
                format!("`{}` has changes up to {}", options.url, tried.last.0)
            }
            None => format!("`{}` has no tables yet, which the first server makes", options.url),
        });
        tried.push(("cluster.database", went));
        if let Some(url) = same_name {
            let node = &options.node;
            let text =
                format!("`{node}` runs at `{url}`; unless it is the server of this data folder, choose another name");
            tried.push(("cluster.node", Ok(text)));
        }
    }
    if let Some(objects) = stored.get() {
        let went = store::list_segments(objects).map(|segments| format!("`{}` has {segments} segments", objects.url));
        tried.push(("store.objects", went));
    }
    Ok(tried)
}
