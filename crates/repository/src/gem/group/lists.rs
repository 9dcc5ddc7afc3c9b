//! `/names` and the older index of a group, made of what its `/versions` says.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::group::GroupGems;
use crate::index::document::Index;
use format::gem::specs;
use telemetry::Event;

impl GroupGems<'_> {
    /// `/names`.
    pub(crate) async fn names(self, _event: &mut Event) -> Result<Index, Error> {
        Err(Error::Unsupported("groups of gems have no `/names` yet".into()))
    }

    /// One of the three files of the older index.
    pub(crate) async fn specs(self, _file: specs::File, _event: &mut Event) -> Result<Found, Error> {
        Err(Error::Unsupported("groups of gems have no older index yet".into()))
    }
}
