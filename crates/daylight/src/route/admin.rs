//! The calls of the admin API, one line for each. The reader of URLs, the OpenAPI document and the statuses of replies come from this
//! table, so that they cannot differ.

use crate::error::Error;
use http::{Method, StatusCode};
use std::borrow::Cow;
use telemetry::Event;

/// The placeholder for a name in a path.
pub(crate) const NAME: &str = "{name}";
/// The placeholder for an id in a path.
pub(crate) const ID: &str = "{id}";
/// The placeholder for the rest of a path, with slashes.
pub(crate) const PATH: &str = "{path}";

macro_rules! calls {
    ($($verb:ident $id:literal $method:ident $path:literal $takes:literal => $status:ident $gives:literal $doc:literal;)*) => {
        /// The verbs of the admin API.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum AdminVerb { $(#[doc = $doc] $verb,)* }

        /// Every call.
        pub(crate) const CALLS: &[AdminCall] = &[$(AdminCall {
            verb: AdminVerb::$verb, id: $id, method: Method::$method, path: $path, takes: $takes,
            status: StatusCode::$status, gives: $gives, doc: $doc,
        },)*];
    };
}

calls! {
    Document           "openapi"            GET    "openapi.json"                      ""              => OK ""             "This document";
    Repositories       "listRepositories"   GET    "repositories"                      ""              => OK "Repositories" "List the repositories";
    AddRepository      "addRepository"      POST   "repositories"                      "NewRepository" => CREATED "Repository"   "Make a repository";
    Repository         "showRepository"     GET    "repositories/{name}"               ""              => OK "Repository"   "Show a repository";
    ChangeRepository   "changeRepository"   PATCH  "repositories/{name}"               "Settings"      => OK "ChangedRepository" "Change settings of a repository; what is not named stays, and null takes a setting away";
    PreviewRepository  "previewRepository"  POST   "repositories/{name}/preview"       "Settings"      => OK "Preview"      "Say which of the last day's requests would be answered otherwise with such settings, and change nothing";
    RemoveRepository   "removeRepository"   DELETE "repositories/{name}"               ""              => OK "RemovedRepository" "Remove a repository with all that is in it; `confirm` repeats its name. Within `store.undo` that can be undone";
    RestoreRepository  "restoreRepository"  POST   "repositories/{name}/restore"       "RestoreRepository" => OK "Repository" "Bring back the repository that was removed last under this name: with what it held, and for the tokens that were for it";
    Holding            "showHolding"        GET    "repositories/{name}/holding"       ""              => OK "Holding"      "Say how many files and packages a repository holds, and how many bytes the files have";
    AddException       "addException"       POST   "repositories/{name}/exceptions"        "NewException"  => CREATED "Exception"    "Let a version be seen though it is younger than the repository's policy wants; whose token that is done with is written down";
    EndException       "endException"       DELETE "repositories/{name}/exceptions/{path}" ""              => NO_CONTENT ""             "End an exception; `path` is its package";
    CompactRepository  "compactRepository"  POST   "repositories/{name}/compact"       ""              => OK "Repository"   "Begin the list of versions of a repository of gems anew";
    AcceptIndex        "acceptIndex"       POST   "repositories/{name}/accept-index"  ""              => OK "Repository"   "Believe at once an index of the upstream that is held back because it lacks many names; of remote repositories of gems";
    CheckIndex         "checkIndex"        GET    "repositories/{name}/index-check"   ""              => OK "IndexCheck"   "Compare what is kept of the upstream of a remote repository of gems with its index, without asking it";
    Collisions         "listCollisions"     GET    "repositories/{name}/collisions"    ""              => OK "Collisions"   "List the names that several members of a group of gems have: whose each is and why, and which wait for somebody who decides; no upstream is asked";
    Contents           "listContents"       GET    "repositories/{name}/contents"          ""              => OK "Contents"     "List what a repository holds: the versions of hosted gems, the files of Maven and raw repositories, and of a remote repository the files that are cached";
    ContentsBelow      "listContentsBelow"  GET    "repositories/{name}/contents/{path}"   ""              => OK "Contents"     "List the file at a path, or those below it; of hosted gems NAME[:VERSION]";
    RemoveContents     "removeContents"     DELETE "repositories/{name}/contents/{path}"   ""              => OK "Removed"      "Delete the file at a path, or all below it; within `store.undo` that can be undone. A remote repository fetches them again when somebody asks for them";
    RestoreContents    "restoreContents"    POST   "repositories/{name}/contents/{path}"   ""              => OK "Restored"     "Restore what the last removal of a path removed; of gems, what a cleanup removed of NAME[:VERSION]";
    Cleanup            "cleanup"            POST   "cleanup"                           "CleanupRequest" => OK "Cleanup"     "Say what the rules of repositories no longer keep; with `apply`, remove it";
    Purge              "purge"              POST   "repositories/{name}/purge"         "PurgeRequest"  => OK "Purge"        "Say what a purge of a path, a package or a version removes; with `apply`, remove it and its bytes permanently";
    Missing            "listMissing"        GET    "repositories/{name}/not-found"         ""              => OK "Missing"      "List what the upstream of a remote repository was proven not to have";
    ForgetAllMissing   "forgetAllMissing"   DELETE "repositories/{name}/not-found"         ""              => OK "Forgotten"    "Forget all of that";
    ForgetMissing      "forgetMissing"      DELETE "repositories/{name}/not-found/{path}"  ""              => OK "Forgotten"    "Forget that a path, and what is below it, is missing";
    Upstreams          "listUpstreams"      GET    "upstreams"                             ""              => OK "Upstreams"    "List the hosts that upstreams are on, and how they stand";
    Journal            "listJournal"        GET    "journal"                               ""              => OK "Journal"      "List who changed what: the newest changes, or with `after` or `since` the oldest of those";
    Explain            "explain"            GET    "explain"                               ""              => OK "Explanation"  "Say what would be answered to a GET of a path, and why, without asking upstreams";
    Event              "showEvent"          GET    "events/{id}"                           ""              => OK "Event"        "Show the event of an answer: what `Daylight-Event` names, while it is kept";
    Tokens             "listTokens"         GET    "tokens"                            ""              => OK "Tokens"       "List the tokens";
    AddToken           "addToken"           POST   "tokens"                            "NewToken"      => CREATED "MadeToken"    "Make a token; its secret is in this answer only";
    RevokeToken        "revokeToken"        DELETE "tokens/{name}"                     ""              => NO_CONTENT ""             "Revoke a token, and the keys that were made with it. Any token may revoke itself and its keys, without a one-time password";
}

/// A call of the API.
#[derive(Debug)]
pub(crate) struct AdminCall {
    pub(crate) verb: AdminVerb,
    /// Its name in the document and in events.
    pub(crate) id: &'static str,
    pub(crate) method: Method,
    /// Below `/api/v1/`.
    pub(crate) path: &'static str,
    /// The schema of its body; empty: it has none.
    pub(crate) takes: &'static str,
    /// The status of its success.
    pub(crate) status: StatusCode,
    /// The schema of its answer; empty: the answer has none.
    pub(crate) gives: &'static str,
    /// Its summary.
    pub(crate) doc: &'static str,
}

impl AdminVerb {
    /// The parameters of its query.
    pub(crate) fn query(self) -> &'static [&'static str] {
        match self {
            AdminVerb::Contents | AdminVerb::ContentsBelow => &["after", "limit", "removed"],
            AdminVerb::Collisions => &["after", "limit", "waiting"],
            AdminVerb::Missing | AdminVerb::CheckIndex => &["after", "limit"],
            AdminVerb::Journal => &["repository", "by", "kind", "since", "until", "after", "before", "limit"],
            AdminVerb::RemoveRepository => &["confirm"],
            AdminVerb::Explain => &["repository", "path", "as_of"],
            _ => &[],
        }
    }
}

/// A call that a request makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admin {
    /// The verb.
    pub verb: AdminVerb,
    /// The call's name.
    pub id: &'static str,
    /// The status of its success.
    pub status: StatusCode,
    /// The name or the id in the path; empty: the call has none.
    pub name: String,
    /// The rest of the path, without a slash at the beginning; empty: the call has none.
    pub path: String,
}

impl AdminCall {
    fn read(&self, segments: &[&str]) -> Option<Admin> {
        let mut rest = segments.iter().copied();
        let (mut name, mut path) = (String::new(), String::new());
        for part in self.path.split('/') {
            match part {
                PATH => path = [rest.next()?].into_iter().chain(rest.by_ref()).collect::<Vec<_>>().join("/"),
                NAME | ID => name = rest.next()?.to_owned(),
                word => rest.next().filter(|next| *next == word).map(drop)?,
            }
        }
        rest.next().is_none().then_some(Admin { verb: self.verb, id: self.id, status: self.status, name, path })
    }

    fn takes_method(&self, method: &Method) -> bool {
        self.method == *method || (self.method == Method::GET && *method == Method::HEAD)
    }
}

/// Reads a path after `/api/v1/`.
pub(super) fn read(method: &Method, segments: &[&str]) -> Result<Admin, Error> {
    let mut allow: Vec<&str> = Vec::new();
    for call in CALLS {
        let Some(admin) = call.read(segments) else { continue };
        if call.takes_method(method) {
            return Ok(admin);
        }
        allow.push(call.method.as_str());
        allow.extend((call.method == Method::GET).then_some("HEAD"));
    }
    if allow.is_empty() {
        return Err(Error::NoSuchRoute(Event::text(&format!("/api/v1/{}", segments.join("/")))));
    }
    Err(Error::MethodNotAllowed { method: Event::text(method.as_str()), allow: Cow::Owned(allow.join(", ")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_call_is_read_as_itself_only() {
        for call in CALLS {
            let path = call.path.replace(NAME, "a.b").replace(ID, "a.b").replace(PATH, "org/x/1.0");
            let admin = read(&call.method, &path.split('/').collect::<Vec<_>>()).unwrap();
            assert_eq!((admin.verb, admin.id), (call.verb, call.id));
            assert_eq!(admin.name, if call.path.contains(NAME) || call.path.contains(ID) { "a.b" } else { "" });
            assert_eq!(admin.path, if call.path.contains(PATH) { "org/x/1.0" } else { "" });
        }
        let ids: HashSet<_> = CALLS.iter().map(|call| call.id).collect();
        assert_eq!(ids.len(), CALLS.len());
    }
}
