//! Merges small segments: each is a file of a few rows and takes at least a disk block. Once there are many, they are merged into
//! one compressed segment, and removed after that is synced. So a push costs the bytes of its rows and not a block.

use super::{Form, SEGMENT_BYTES, SEGMENT_ROWS, Segment, TEMPORARY, all, hash};
use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::error::{Error, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write as _};
use telemetry::give_way;

/// The least number of rows that a segment counts for. A merge waits for 256 small segments.
const ROWS_LEAST: usize = SEGMENT_ROWS / 256;
/// Bytes that are compressed at a time.
const PIECE: usize = 1 << 16;

/// The weight of a segment. A merge waits until the sum is [`SEGMENT_ROWS`].
pub(crate) fn weight(segment: &Segment) -> usize {
    match segment.form {
        Form::Gzip => 0,
        Form::Text => ((segment.last.0 - segment.first.0 + 1) as usize).max(ROWS_LEAST),
    }
}

/// Merges the first small segments into a compressed one if there are enough, and removes them. Returns the weight of the
/// remaining small ones; 0: there were not enough. The rows are read from the segments and not from the truth, so that damage of
/// the truth cannot spread to them.
pub(crate) fn merge(disk: &dyn Disk, space: &Space, layout: &Layout) -> Result<usize> {
    let folder = layout.segments();
    let remove = |segment: &Segment| {
        let path = folder.join(segment.name());
        disk.unlink(&path).map_err(Error::io("remove", &path))
    };
    // After a failed sync it is unknown which names in the folder are durable.
    space.check_sound()?;
    let (segments, covered) = all(disk, layout)?;
    // The process ended during an earlier merge.
    covered.iter().try_for_each(remove)?;
    let young = enough(&segments);
    let (Some(first), mut text, mut merged) = (young.first(), String::new(), 0) else { return Ok(0) };
    for segment in young {
        let more = segment.read(disk, layout)?;
        if merged > 0 && text.len() + more.len() > SEGMENT_BYTES {
            break;
        }
        text.push_str(&more);
        merged += 1;
    }
    let young = &young[..merged];
    let bytes = compress(&text).map_err(Error::io("compress", &folder))?;
    let last = young.last().unwrap_or(first).last;
    let whole = Segment { first: first.first, last, form: Form::Gzip, hash: hash(&bytes) };
    space.put(&folder.join(TEMPORARY), &folder.join(whole.name()), &bytes)?;
    young.iter().try_for_each(remove)?;
    let weights = |segments: &[Segment]| segments.iter().map(weight).sum::<usize>();
    Ok(weights(&segments) - weights(young))
}

/// The first small segments without a gap, if they are enough for a merge.
fn enough(segments: &[Segment]) -> &[Segment] {
    let runs = segments.chunk_by(|one, next| one.form == next.form && one.last.0 + 1 == next.first.0);
    for run in runs {
        let mut sum = 0;
        let whole = run.iter().position(|segment| {
            sum += weight(segment);
            sum >= SEGMENT_ROWS
        });
        if let Some(at) = whole {
            return &run[..=at];
        }
    }
    &[]
}

fn compress(text: &str) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for piece in text.as_bytes().chunks(PIECE) {
        give_way();
        encoder.write_all(piece)?;
    }
    encoder.finish()
}
