//! The reasons that events record for failures of the store.

use telemetry::Reason;

/// The reason that events record for a failure of the store.
pub fn store_reason(error: &store::Error) -> Reason {
    match error {
        store::Error::DiskNearlyFull { .. } => Reason::DiskNearlyFull,
        full if full.is_disk_full() => Reason::DiskNearlyFull,
        store::Error::Clock(_) => Reason::ClockDoubted,
        store::Error::DatabaseAway { .. }
        | store::Error::TokensDoubted(_)
        | store::Error::DatabaseOther { .. }
        | store::Error::Parted { .. }
        | store::Error::DatabaseAhead { .. }
        | store::Error::DatabaseRefuses { .. }
        | store::Error::NodeBehind { .. }
        | store::Error::NotAdopted { .. } => Reason::TruthUnreachable,
        store::Error::Poisoned => Reason::StorePoisoned,
        store::Error::Busy(_) => Reason::BoundFull,
        store::Error::BlobMissing(_) => Reason::BlobMissing,
        store::Error::ObjectsAway { .. }
        | store::Error::ObjectsRefuse { .. }
        | store::Error::ObjectsAhead { .. }
        | store::Error::ObjectsElsewhere { .. } => Reason::ObjectsAway,
        store::Error::ObjectMissing { .. } | store::Error::ObjectDamaged { .. } => Reason::ObjectMissing,
        _ => Reason::Io,
    }
}
