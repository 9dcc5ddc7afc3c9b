//! What clients are told of failures whose texts are for operators alone.

use super::Error;

impl Error {
    /// What clients are told instead of the text of the error and its hint, which name hosts, accounts, buckets and keys. `None`: these name
    /// none.
    pub fn withheld(&self) -> Option<&'static str> {
        Some(match self {
            Self::DatabaseAway { .. } | Self::DatabaseRefuses { .. } | Self::NoCopy { .. } => {
                "the database of this server cannot be used now, so nothing is written"
            }
            Self::DatabaseOther { .. }
            | Self::Parted { .. }
            | Self::DatabaseAhead { .. }
            | Self::NodeBehind { .. }
            | Self::NotAdopted { .. } => {
                "the database of this server cannot be used until an administrator acts, so nothing is written"
            }
            Self::ObjectsAway { .. } | Self::ObjectsRefuse { .. } => {
                "the object storage of this server cannot be used now"
            }
            Self::ObjectsAhead { .. } => {
                "the object storage of this server cannot be used until an administrator acts, so nothing is written"
            }
            Self::BlobMissing(_) => "this server lacks the bytes of this file, which was published",
            Self::ObjectMissing { .. } => "the object storage of this server lacks the bytes of this file",
            Self::ObjectDamaged { .. } => {
                "the object storage of this server sent other bytes than those of this file, and they are not served"
            }
            _ => return None,
        })
    }
}
