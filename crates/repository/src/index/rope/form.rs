//! What an index is put together from, as a file: what it says about itself, then bytes. Whether it is whole was seen
//! when it was read; whether it belongs to this truth is seen by its [`Mark`].

use crate::error::Error;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use store::{Digest, Seq, Store};
use telemetry::Event;

/// Bytes of the length in front.
const LENGTH: usize = 4;

/// Up to where in which journal something was made: the truth may have been put back to an older one, and have gone
/// another way since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The number of the last change that is in it.
    pub(crate) through: Seq,
    /// The digest of that row of the journal.
    pub(crate) row: Digest,
}

impl Mark {
    /// The mark of that change, if it is in the journal.
    pub(crate) async fn of(store: &Store, through: Seq, event: &mut Event) -> Result<Option<Self>, Error> {
        let Some(before) = through.0.checked_sub(1) else { return Ok(None) };
        let rows = store.journal(Seq(before), 1, event).await?;
        let row = rows.first().filter(|row| row.seq == through).and_then(|row| serde_json::to_vec(row).ok());
        Ok(row.map(|row| Self { through, row: Digest(Sha256::digest(row).into()) }))
    }
}

/// A file that says `head` of what follows.
pub(crate) fn write(head: &impl Serialize, body: Vec<Bytes>) -> Option<Vec<Bytes>> {
    let head = serde_json::to_vec(head).ok()?;
    let length = u32::try_from(head.len()).ok()?.to_le_bytes();
    let mut parts = vec![Bytes::copy_from_slice(&length), head.into()];
    parts.extend(body);
    Some(parts)
}

/// What a file says about itself, and what follows.
pub(crate) fn read<T: DeserializeOwned>(mut bytes: Bytes) -> Option<(T, Bytes)> {
    let length = u32::from_le_bytes(bytes.get(..LENGTH)?.try_into().ok()?);
    let end = LENGTH.checked_add(usize::try_from(length).ok()?)?;
    let head = serde_json::from_slice(bytes.get(LENGTH..end)?).ok()?;
    Some((head, bytes.split_off(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_cut_off_is_not() {
        let parts = write(&"head", vec![Bytes::from_static(b"bo"), Bytes::from_static(b"dy")]).unwrap();
        let whole = Bytes::from(parts.concat());
        assert_eq!(read::<String>(whole.clone()).unwrap(), ("head".into(), Bytes::from_static(b"body")));
        assert!((0..10).all(|end| read::<String>(whole.slice(..end)).is_none()));
        assert!(read::<u32>(whole).is_none());
        assert!(read::<String>(Bytes::from_static(&[0xff; 8])).is_none());
    }
}
