//! Segments in object storage whose rows are of a history that is given up.

use crate::error::Result;
use crate::journal::record::Seq;
use crate::journal::segments::Segment;
use crate::objects::Objects;
use crate::objects::calls::ObjectCalls;
use crate::objects::fetch_segments::{bytes, list};

/// Takes the segments away that have other rows after `common` than the history that is kept, of which `kept` gives rows: so many after a
/// number. Each is written by `save` first, and rows up to `common` that were in it get a segment of their own. Returns how many there were. Blocks.
pub(crate) fn remove_parted(
    objects: &Objects,
    common: Seq,
    kept: &mut dyn FnMut(Seq, usize) -> Result<Vec<(Seq, String)>>,
    save: &mut dyn FnMut(&str, &[u8]) -> Result<()>,
) -> Result<u64> {
    let (calls, mut removed) = (ObjectCalls::silent(objects), 0);
    for segment in list(&calls)?.into_iter().filter(|segment| segment.last > common) {
        let found = bytes(&calls, &segment)?;
        let text = segment.text_of(found.clone())?;
        let rows = kept(Seq(segment.first.0 - 1), segment.rows_count())?;
        if rows.iter().map(|(_, row)| row.as_str()).eq(text.lines()) {
            continue;
        }
        save(&segment.name(), &found)?;
        let shared: Vec<_> = rows.into_iter().filter(|(seq, _)| *seq <= common).collect();
        let text: String = shared.iter().flat_map(|(_, row)| [row, "\n"]).collect();
        let of = calls.clone();
        let key = |segment: &Segment| of.objects.segment(&segment.name());
        let (shared, given_up) = (Segment::of(&shared, text.as_bytes()).map(|segment| key(&segment)), key(&segment));
        calls.wait({
            let calls = calls.clone();
            async move {
                if let Some(shared) = shared {
                    calls.put(shared, text.into()).await?;
                }
                calls.delete(given_up).await
            }
        })?;
        removed += 1;
    }
    Ok(removed)
}
