//! `daylight explain`: how an answer came about, or what the server would answer.

mod record;

use super::api::{Api, decode};
use super::context::Context;
use format::percent::segment;
use record::Record;

/// Say what would be answered for a path, or how an answer came to be
///
/// Which repositories are asked, what each says and why, and what takes how long. For a path it is what would be answered
/// now; no upstream is asked for that. Of a hosted file that somebody took away it says who, when and why, and how it comes back.
#[derive(Debug, clap::Args)]
pub(super) struct Explain {
    /// Name of the repository
    #[arg(required_unless_present = "event")]
    repository: Option<String>,
    /// Path below it
    #[arg(required_unless_present = "event")]
    path: Option<String>,
    /// As of when: a day (its end, in UTC), a moment, or `seq-N`
    #[arg(long, value_name = "MOMENT", conflicts_with = "event")]
    as_of: Option<String>,
    /// The answer whose `Daylight-Event` this was
    #[arg(long, value_name = "ID", conflicts_with_all = ["repository", "path"])]
    event: Option<String>,
}

impl Explain {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let api = Api::new(context)?;
        let url = match self.event {
            Some(id) => format!("/api/v1/events/{}", segment(&id)),
            None => {
                let [repository, path] = [self.repository, self.path].map(|text| segment(&text.unwrap_or_default()));
                let as_of = self.as_of.map(|as_of| format!("&as_of={}", segment(&as_of))).unwrap_or_default();
                format!("/api/v1/explain?repository={repository}&path={path}{as_of}")
            }
        };
        let answer = api.get(&url)?;
        if api.print_json(&answer, context)? {
            return Ok(());
        }
        Ok(decode::<Record>(answer)?.show(context)?)
    }
}
