//! The place of a file below the URL of a hub's files.

use crate::koji::left_out::is_plain;
use crate::koji::model::Nvr;
use crate::percent;

/// The volume whose files are directly below the URL.
const DEFAULT_VOLUME: &str = "DEFAULT";

/// The path of a file below the URL of the files, not percent-encoded. `folder` is that of Maven, such as
/// `org/example/lamp/1.0`. `None`: a part of it could lead out of that URL.
pub fn path(nvr: &Nvr, volume: &str, folder: &str, filename: &str) -> Option<String> {
    let Nvr { name, version, release } = nvr;
    let of_build = [name, version, release].into_iter().map(String::as_str);
    let is_safe = of_build.chain([volume, filename]).chain(folder.split('/')).all(is_plain);
    let volume = if volume == DEFAULT_VOLUME { String::new() } else { format!("vol/{volume}/") };
    is_safe.then(|| format!("{volume}packages/{name}/{version}/{release}/maven/{folder}/{filename}"))
}

/// A path as it stands in a URL.
pub fn encoded(path: &str) -> String {
    path.split('/').map(percent::segment).collect::<Vec<_>>().join("/")
}
