//! Repositories of raw files, as programs are told of them that speak plain HTTP, such as curl.

mod export;
mod usage;

use crate::face::Face;
use format::percent::segment;
use repository::Error;

/// The face of raw files.
pub(crate) const FACE: Face = Face {
    option: "raw for any files",
    noun: "file",
    // No program is for raw files alone.
    agents: &[],
    prints_bodies: false,
    shows_details_only: false,
    token_variable: "DAYLIGHT_TOKEN",
    token_source: |_| {
        "send it as `Authorization: Bearer TOKEN`, or as the password of any user (`curl --user x:TOKEN`); the commands of \
         `daylight` take it from DAYLIGHT_TOKEN"
    },
    token_store: "the one that was sent is in `Authorization`; the commands of `daylight` take it from DAYLIGHT_TOKEN",
    about_groups: "",
    without_repository: |_| None,
    elsewhere: |url, path, _| {
        format!("send the request to {url}/{}", path.split('/').map(segment).collect::<Vec<_>>().join("/"))
    },
    unrequested: |_| None,
    upload_field: None,
    unsaved: Error::Store,
    usage: usage::describe,
    publishing: |_, url| format!("curl -fT FILE --user x:TOKEN {url}/PATH"),
    snippets: |_| Vec::new(),
    first_push: |_| None,
    first_fetch: |_| None,
    has_readmes: false,
    browses_names: false,
    has_index: false,
    exported: "files",
    export: export::export,
    default_hosted: |_| Vec::new(),
    default_remote: |_| None,
    default_group: None,
};
