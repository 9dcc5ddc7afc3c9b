//! The gemspec of an upstream's gem (`.rz`), extracted from the gem itself. The gem is verified, and some upstreams
//! lack the gemspecs of some gems.

use crate::content::{Content, Grown, Source};
use crate::error::{Error, Result};
use crate::gem::Found;
use crate::gem::download::Names;
use crate::gem::upstream::RemoteGems;
use crate::index::document::Index;
use crate::upstream::failure::Failure;
use format::gem::{Limits, package, quick};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use store::Lane;
use telemetry::{Event, Op, Reason};

impl RemoteGems<'_> {
    /// The gemspec of the gem of this full name.
    pub(crate) async fn gemspec(self, full_name: &str, of: Names<'_>, event: &mut Event) -> Result<Found> {
        let row = self.version(full_name, of, event).await?;
        let gem = whole(self.gem(full_name, of, event).await?, event).await?;
        let published = row.created_at.unwrap_or_else(|| row.moment().seconds());
        let make = move |(): &mut ()| -> Result<Vec<u8>> {
            let invalid = |why: String| {
                let text = format!("the gem that the upstream lists as `{}-{}` {why}", row.name, row.token);
                Error::from(Failure::new(Reason::UpstreamInvalid, text))
            };
            let gem = package::read_installable(gem, &Limits::default()).map_err(|why| match why.is_ours() {
                true => why.into(),
                false => invalid(format!("cannot be read: {why}")),
            })?;
            // The index proves the bytes, but not that they are a package of this gem.
            if !row.is_of(&gem) {
                return Err(invalid(format!("says that it is {} {} for {}", gem.name, gem.number, gem.platform)));
            }
            Ok(quick::render(&gem, published))
        };
        let made = self.context.workers.run(Lane::Index, Op::PackageRead, event, make).await??;
        Ok(Found::Gemspec(Index::of(made)))
    }
}

/// Reads a file by offset, because other requests read it at the same time.
pub(crate) struct SharedFile {
    pub(crate) file: Arc<File>,
    pub(crate) at: u64,
}

impl Read for SharedFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(to, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// The bytes of a file after it has arrived.
async fn whole(content: Content, event: &mut Event) -> Result<Box<dyn Read + Send>> {
    Ok(match content.source {
        Source::Memory(bytes) => Box::new(Cursor::new(bytes)),
        Source::File(file) => Box::new(SharedFile { file, at: 0 }),
        Source::Growing(mut growing) => {
            let ended = async {
                let ended = growing.grown.wait_for(|grown| !matches!(grown, Grown::Going(_))).await;
                ended.is_ok_and(|grown| matches!(*grown, Grown::Whole(_)))
            };
            if !event.during(Op::FlightWait, ended).await {
                return Err(Error::GivenUp);
            }
            Box::new(SharedFile { file: growing.file, at: 0 })
        }
    })
}
