//! The place in object storage to which a data folder belongs: its file `objects` names it.

use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::error::{Error, Result};
use crate::objects::Objects;

/// An error unless the blobs of the folder are where the settings say.
pub(crate) fn belongs(disk: &dyn Disk, layout: &Layout, objects: Option<&Objects>) -> Result<()> {
    let data = layout.data().to_owned();
    match (layout.objects_url(disk)?, objects) {
        (Some(url), None) => Err(Error::ObjectsUnset { data, url }),
        (Some(url), Some(set)) if url != set.url => Err(Error::ObjectsOther { data, url, other: set.url.clone() }),
        (None, _) | (Some(_), Some(_)) => Ok(()),
    }
}

/// Notes the place in the folder, because from now on blobs may be missing on the disk. Object storage has answered: a place that was
/// named wrongly is never noted.
pub(crate) fn note(disk: &dyn Disk, layout: &Layout, space: &Space, objects: &Objects) -> Result<()> {
    match layout.objects_url(disk)? {
        Some(_) => Ok(()),
        None => {
            let text = format!("{}\n", objects.url);
            space.put(&layout.data().join("objects.new"), &layout.objects(), text.as_bytes())
        }
    }
}
