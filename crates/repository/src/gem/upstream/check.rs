//! Checks the stored index of an upstream: the rows of the journal must be readable and match the answers, and each
//! cached file must be listed. This calls no upstream.

use crate::error::{Error, Result};
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::Known;
use crate::maven::koji::check::KojiCheck;
use crate::upstream::{PATIENCE, Remembered, document_bytes};
use format::gem::upstream::full_name::candidates;
use format::gem::upstream::{INFO_BYTES, Info, Text};
use schemars::JsonSchema;
use serde::Serialize;
use store::{CachedFile, Digest, Lane};
use telemetry::{Event, Op};
use tokio::time::timeout;

/// What a check of the index of an upstream found. The figures of the index are in the first part, those of its files in each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IndexCheck {
    /// How many names the index ever listed.
    pub names: usize,
    /// How many versions it lists.
    pub versions: usize,
    /// Kept files of `/info` that were compared with it.
    pub infos: u64,
    /// Those of them that are older than it.
    pub older: u64,
    /// Kept packages that were compared with the lines of their versions.
    pub gems: u64,
    /// Kept packages of which no kept line has a checksum.
    pub unproven: u64,
    /// Of a Koji hub: its map, and the files that are kept of its builds. The figures above are 0 then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "KojiCheck")]
    pub koji: Option<KojiCheck>,
    /// A sentence for each mismatch.
    pub problems: Vec<String>,
    /// What to give as `after` for the next part, which may be empty; null: this was the last.
    pub next: Option<String>,
}

/// The lines of the gem whose packages were compared last.
#[derive(Debug, Default)]
struct Lines {
    name: String,
    info: Option<Info>,
}

impl Follow {
    /// Checks the rows if `after` is empty, and the cached files that come after it, at most `limit`.
    pub(crate) async fn check(&self, after: &str, limit: usize, event: &mut Event) -> Result<IndexCheck> {
        let mut check = IndexCheck::default();
        if after.is_empty() {
            match self.check_rows(&mut check, event).await {
                Err(error @ (Error::Unreadable { .. } | Error::Unsupported(_))) => {
                    check.problems.push(format!("the journal's rows of `/versions` cannot be read: {error}"));
                    return Ok(check);
                }
                checked => checked?,
            }
        }
        let origin = self.remote.repository.origin;
        let rows = self.remote.remotes.store.cached_files(origin, "", after, limit, event).await?;
        check.next = rows.last().filter(|_| rows.len() >= limit).map(|(path, _)| path.clone());
        let mut lines = Lines::default();
        for (path, kept) in &rows {
            if let Some(name) = path.strip_prefix("info/") {
                self.check_info(name, kept, &mut check);
            } else if let Some(full_name) = path.strip_prefix("gems/").and_then(|file| file.strip_suffix(".gem")) {
                self.check_gem(full_name, kept, &mut lines, &mut check, event).await?;
            }
        }
        Ok(check)
    }

    /// Reads the rows and compares them with the answers. If the index is not in memory, it is loaded.
    async fn check_rows(&self, check: &mut IndexCheck, event: &mut Event) -> Result<()> {
        let (origin, shared) = (self.remote.repository.origin, self.remote.repository.shared.clone());
        if shared.gems().followed.read(origin, |_| ()).is_none() {
            // A look reads the rows before it calls the upstream.
            let looking = shared.gems().followed.looking.clone().lock_owned();
            let turn = event.waited(Op::TurnWait, timeout(PATIENCE, looking)).await;
            if turn.is_ok()
                && shared.gems().followed.read(origin, |_| ()).is_none()
                && let Some(known) = self.read_journal(event).await?
            {
                shared.gems().followed.replace(known);
            }
        }
        let Some(read) = self.read_journal(event).await? else { return Ok(()) };
        let compare = move |(): &mut ()| {
            let (log, mut problems) = (read.listing.log(), Vec::new());
            let answered = |known: &Known| {
                let text = known.listing.log().text();
                // Lines that arrived meanwhile are not in the rows that were read.
                known.last != read.last || same(text, log.text())
            };
            if shared.gems().followed.read(origin, answered) == Some(false) {
                problems.push("`/versions` is answered otherwise than the journal's rows say".to_owned());
            }
            if log.unreadable() > 0 {
                problems.push(format!("{} lines of `/versions` cannot be read by clients", log.unreadable()));
            }
            (
                log.names(),
                read.listing.all(|_, gem| gem.versions.len()).into_iter().map(|(_, count)| count).sum(),
                problems,
            )
        };
        (check.names, check.versions, check.problems) =
            self.context.workers.run(Lane::Index, Op::IndexRender, event, compare).await?;
        Ok(())
    }

    fn check_info(&self, name: &str, kept: &CachedFile, check: &mut IndexCheck) {
        check.infos += 1;
        // Only a fetch that compared it makes it at once. Others call the upstream again.
        let Some(md5) = &kept.hashes.md5 else { return };
        let said = self.index().read(self.remote.repository.origin, |known| {
            let listed = known.listing.gem(name)?;
            Some((listed.md5, known.listing.log().ever_said(name, md5)))
        });
        match said.flatten() {
            Some((listed, _)) if listed == *md5 => {}
            Some((_, true)) => check.older += 1,
            Some((listed, false)) => check.problems.push(format!(
                "`info/{name}` is kept with the MD5 {md5}, which `/versions` never said; it says {listed}"
            )),
            None => check.problems.push(format!("`info/{name}` is kept, and `/versions` never listed `{name}`")),
        }
    }

    async fn check_gem(
        &self,
        full_name: &str,
        kept: &CachedFile,
        lines: &mut Lines,
        check: &mut IndexCheck,
        event: &mut Event,
    ) -> Result<()> {
        let meant =
            self.index().read(self.remote.repository.origin, |known| candidates(known.listing.log(), full_name));
        let (mut said, is) = (Vec::new(), kept.hashes.sha256);
        for candidate in meant.unwrap_or_default() {
            if lines.name != candidate.name {
                *lines = Lines { info: self.kept_info(&candidate.name, event).await?, name: candidate.name };
            }
            let line = lines.info.iter().flat_map(Info::lines).find(|line| line.token == candidate.token);
            said.extend(line.and_then(|line| line.checksum()).map(|checksum| Digest(checksum.0)));
        }
        match said.first() {
            None => check.unproven += 1,
            Some(_) if said.contains(&is) => check.gems += 1,
            Some(said) => {
                check.gems += 1;
                let text = format!(
                    "`gems/{full_name}.gem` is kept with the SHA-256 {is}, and the line of its version says {said}"
                );
                check.problems.push(text);
            }
        }
        Ok(())
    }

    /// The cached `/info` of a gem.
    async fn kept_info(&self, name: &str, event: &mut Event) -> Result<Option<Info>> {
        let path = format!("info/{name}");
        let Some(Remembered::File(kept)) = self.remote.recall(&self.remote.repository.file(&path), event).await? else {
            return Ok(None);
        };
        let read = document_bytes::read(&kept.held, kept.known.hashes.size_bytes, INFO_BYTES);
        let read = move |(): &mut ()| read().ok().and_then(|body| Info::read(body).ok());
        Ok(self.context.workers.run(Lane::Index, Op::PackageRead, event, read).await?)
    }
}

fn same(one: &Text, other: &Text) -> bool {
    let bytes = |text: &Text| text.pieces().to_vec();
    one.len() == other.len() && bytes(one).iter().flatten().eq(bytes(other).iter().flatten())
}
