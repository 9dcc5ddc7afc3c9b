//! The saved form of an index: a header, then bytes. Reading checks that the file is complete; its [`Mark`] shows
//! whether it matches the database.

use crate::error::Result;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use store::{Digest, Seq, Store};
use telemetry::Event;

/// Bytes of the length field at the beginning.
const LENGTH: usize = 4;

/// The position in the journal that a file was made from. The digest detects a database that was restored to an older
/// state and then changed in another way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The number of the last change that the file contains.
    pub(crate) through: Seq,
    /// The digest of the journal row of that change.
    pub(crate) row: Digest,
}

impl Mark {
    /// The mark of that change, if the journal has it.
    pub(crate) async fn of(store: &Store, through: Seq, event: &mut Event) -> Result<Option<Self>> {
        let Some(before) = through.0.checked_sub(1) else { return Ok(None) };
        let rows = store.journal(Seq(before), 1, event).await?;
        let row = rows.first().filter(|row| row.seq == through).and_then(|row| serde_json::to_vec(row).ok());
        Ok(row.map(|row| Self { through, row: Digest(Sha256::digest(row).into()) }))
    }
}

/// A file with this header and body.
pub(crate) fn write(head: &impl Serialize, body: Vec<Bytes>) -> Option<Vec<Bytes>> {
    let head = serde_json::to_vec(head).ok()?;
    let length = u32::try_from(head.len()).ok()?.to_le_bytes();
    let mut parts = vec![Bytes::copy_from_slice(&length), head.into()];
    parts.extend(body);
    Some(parts)
}

/// The header and the body of a file.
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
