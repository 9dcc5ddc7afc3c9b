//! The calls of the admin API, one line for each. The reader of URLs, the OpenAPI document and the statuses of replies come from this
//! table, so that they cannot differ.

use crate::error::{Error, Result};
use http::{Method, StatusCode};
use repository::Scope;
use std::borrow::Cow;
use telemetry::Event;

/// The placeholder for a name in a path.
pub(crate) const NAME: &str = "{name}";
/// The placeholder for an id in a path.
pub(crate) const ID: &str = "{id}";
/// The placeholder for the rest of a path, with slashes.
pub(crate) const PATH: &str = "{path}";

/// The placeholder for a package in a path.
pub(crate) const PACKAGE: &str = "{package}";
/// The placeholder for a version in a path.
pub(crate) const VERSION: &str = "{version}";

macro_rules! calls {
    ($($access:ident($verbs:ident) $about:literal {
        $($verb:ident $id:literal $method:ident $path:literal $takes:literal => $status:ident $gives:literal $doc:literal;)*
    })*) => {
        $(
            #[doc = $about]
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub enum $verbs { $(#[doc = $doc] $verb,)* }
        )*

        /// The verbs of the admin API, by the access that their callers need.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum AdminVerb { $(#[doc = $about] $access($verbs),)* }

        /// Every call.
        pub(crate) const CALLS: &[AdminCall] = &[$($(AdminCall {
            verb: AdminVerb::$access($verbs::$verb), id: $id, method: Method::$method, path: $path, takes: $takes,
            status: StatusCode::$status, gives: $gives, doc: $doc,
        },)*)*];
    };
}

calls! {
    Server(ServerVerb) "Calls that need a token with a scope for the whole server." {
        Document           "openapi"            GET    "openapi.json"                      ""              => OK ""             "This document";
        Repositories       "listRepositories"   GET    "repositories"                      ""              => OK "Repositories" "List the repositories";
        AddRepository      "addRepository"      POST   "repositories"                      "NewRepository" => CREATED "Repository"   "Create a repository";
        Repository         "showRepository"     GET    "repositories/{name}"               ""              => OK "Repository"   "Show a repository";
        ChangeRepository   "changeRepository"   PATCH  "repositories/{name}"               "Settings"      => OK "ChangedRepository" "Change settings of a repository; other settings stay, and null removes a setting";
        PreviewRepository  "previewRepository"  POST   "repositories/{name}/preview"       "Settings"      => OK "Preview"      "List the last day's requests whose answer would change with these settings, and change nothing";
        RemoveRepository   "removeRepository"   DELETE "repositories/{name}"               ""              => OK "RemovedRepository" "Remove a repository with its content; `confirm` repeats its name. It can be restored within `store.undo`";
        RestoreRepository  "restoreRepository"  POST   "repositories/{name}/restore"       "RestoreRepository" => OK "Repository" "Restore the last removed repository of this name, with its content and the rights of its tokens";
        Holding            "showHolding"        GET    "repositories/{name}/holding"       ""              => OK "Holding"      "Show the number of files, packages and bytes in a repository";
        AddException       "addException"       POST   "repositories/{name}/exceptions"        "NewException"  => CREATED "Exception"    "Allow a version before its cooldown ends; the name of the token is recorded";
        EndException       "endException"       DELETE "repositories/{name}/exceptions/{path}" ""              => NO_CONTENT ""             "End an exception; `path` is its package";
        CompactRepository  "compactRepository"  POST   "repositories/{name}/compact"       ""              => OK "Repository"   "Rewrite the `/versions` of a gem repository with one line for each gem";
        AcceptIndex        "acceptIndex"       POST   "repositories/{name}/accept-index"  ""              => OK "Repository"   "Accept the index of a gem upstream that is held back because it lacks many names";
        CheckIndex         "checkIndex"        GET    "repositories/{name}/index-check"   ""              => OK "IndexCheck"   "Compare the cached files of a gem upstream with its index, without a request to the upstream";
        Collisions         "listCollisions"     GET    "repositories/{name}/collisions"    ""              => OK "Collisions"   "List the names that several members of a gem group have, with their owners and the reasons, and the names that wait for a decision; without requests to upstreams";
        Contents           "listContents"       GET    "repositories/{name}/contents"          ""              => OK "Contents"     "List the content of a repository: versions of hosted gems, files of Maven and raw repositories, and cached files of a remote repository";
        ContentsBelow      "listContentsBelow"  GET    "repositories/{name}/contents/{path}"   ""              => OK "Contents"     "List the file at a path, or the files below it; for hosted gems NAME[:VERSION]";
        RemoveContents     "removeContents"     DELETE "repositories/{name}/contents/{path}"   ""              => OK "Removed"      "Delete the file at a path, or all files below it; they can be restored within `store.undo`. A remote repository downloads them again at the next request";
        RestoreContents    "restoreContents"    POST   "repositories/{name}/contents/{path}"   ""              => OK "Restored"     "Restore the files of the last removal at a path; for gems, the versions of NAME[:VERSION] that a cleanup removed";
        Cleanup            "cleanup"            POST   "cleanup"                           "CleanupRequest" => OK "Cleanup"     "List the files that the rules of repositories no longer keep; with `apply`, remove them";
        Purge              "purge"              POST   "repositories/{name}/purge"         "PurgeRequest"  => OK "Purge"        "List the files that a purge of a path, a package or a version removes; with `apply`, remove them and their bytes permanently";
        Clock              "repairClock"        POST   "clock"                             "ClockRepair"   => OK "Clock"        "Compare the machine's clock with the journal; with `apply`, decide which of them is right";
        Missing            "listMissing"        GET    "repositories/{name}/not-found"         ""              => OK "Missing"      "List the missing files of a remote repository's upstream";
        ForgetAllMissing   "forgetAllMissing"   DELETE "repositories/{name}/not-found"         ""              => OK "Forgotten"    "Remove all facts about missing files";
        ForgetMissing      "forgetMissing"      DELETE "repositories/{name}/not-found/{path}"  ""              => OK "Forgotten"    "Remove the facts that a path and the paths below it are missing";
        Upstreams          "listUpstreams"      GET    "upstreams"                             ""              => OK "Upstreams"    "List the hosts of upstreams with their state";
        Cluster            "showCluster"        GET    "cluster"                               ""              => OK "Cluster"      "Show the nodes that share the database, as this one sees them, and the database and object storage";
        Apps               "listApps"           GET    "apps"                                  ""              => OK "Apps"         "List the applications in front of which the server stands, with their backends, lanes and caches";
        PurgeApp           "purgeApp"           POST   "apps/{name}/purge"                     "PurgeApp"      => OK "PurgedApp"    "Drop stored responses of an application: those of these URLs, and those with these tags";
        Requests           "listRequests"       GET    "requests"                              ""              => OK "OpenRequests" "List the requests in progress that are not answered or sent at once, the oldest first, with the operations that they wait for";
        Journal            "listJournal"        GET    "journal"                               ""              => OK "Journal"      "List changes with their authors: the newest ones, or with `after` or `since` the oldest ones from there";
        Event              "showEvent"          GET    "events/{id}"                           ""              => OK "Event"        "Show the event of an answer by its `Daylight-Event`, while it is kept";
        Findings           "listFindings"       GET    "findings"                          ""              => OK "Findings"     "List what needs attention, the most expensive first: causes with the symptoms that they explain, each with its cost, the change that helps, and its evidence";
        Checks             "listChecks"         GET    "checks"                            ""              => OK "Checks"       "List the checks, with the data that some of them still need";
        Curves             "listCurves"         GET    "curves"                            ""              => OK "Curves"       "List the caches with what they answered in the last hour, and what each would have answered with other sizes";
        Mute               "muteFinding"        POST   "findings/mute/{path}"              "NewMute"       => OK "Mute"         "Do not show a finding until a moment; `path` is its id";
        Unmute             "unmuteFinding"      DELETE "findings/mute/{path}"              ""              => NO_CONTENT ""      "Show a finding again that is muted; `path` is its id";
        Alerts             "listReceivers"      GET    "alerts"                            ""              => OK "Receivers"    "List the receivers of alerts, with what they took and why they did not";
        TestAlerts         "testReceivers"      POST   "alerts/test"                       "AlertsTest"    => OK "AlertsTested" "Send a test alert and its end to each receiver, or to one of them";
        Baseline           "showBaseline"      GET    "baseline"                              ""              => OK "Baseline"     "Show what requests of the last `minutes` (up to 1440) cost whatever the machine: operations, members, calls, bytes and shares of hits, by cost class and kind of file, with their spread";
        Sizing             "showSizing"         GET    "sizing"                                ""              => OK "Sizing"       "Show how many threads, calls, bytes and machines the busiest minute of a period (`from`, `to`, usually the last day) needs, and `times` (usually 2) times its traffic";
        Tokens             "listTokens"         GET    "tokens"                            ""              => OK "Tokens"       "List the tokens";
        AddToken           "addToken"           POST   "tokens"                            "NewToken"      => CREATED "MadeToken"    "Create a token; its secret is only in this answer";
        RevokeToken        "revokeToken"        DELETE "tokens/{name}"                     ""              => NO_CONTENT ""             "Revoke a token and its keys. Any token may revoke itself and its keys, without a one-time password";
    }
    Repository(RepositoryVerb) "Calls that read the repository `{name}` like a client: without a token if it is public, otherwise with the scope `read` for it." {
        Browse             "browse"             GET    "browse/{name}"                         ""              => OK "Browse"       "List the top level of the content of a repository: folders and files, or the names of gems. `name` may have a moment, as in `maven@2026-01-01`";
        BrowseBelow        "browseBelow"        GET    "browse/{name}/{path}"                  ""              => OK "Browse"       "List one level of the content of a repository below a path, or the file at it; of a gem repository the versions of a gem";
        Packages           "listPackages"       GET    "packages/{name}"                       ""              => OK "Packages"     "List the packages of a repository, with the number of versions that clients get and that a policy hides";
        Package            "showPackage"        GET    "packages/{name}/{package}"             ""              => OK "Package"      "Show the versions of a package: who published them and when, and of versions that clients do not get the reason";
        Dependents         "listDependents"     GET    "packages/{name}/{package}/dependents"  ""              => OK "Dependents"   "List the packages of a repository whose latest version depends on a package; with `next` continue with the packages that were not examined yet";
        Downloads          "showDownloads"      GET    "packages/{name}/{package}/downloads"   ""              => OK "Downloads"    "Show how often clients downloaded a package through a repository, by day, from stored events";
        Difference         "showDifference"     GET    "packages/{name}/{package}/difference"  ""              => OK "Difference"   "Show the dependencies and files in which two versions of a package differ";
        Readme             "showReadme"         GET    "packages/{name}/{package}/{version}/readme" ""         => OK "Readme"       "Show the README of a version of a gem that is published or cached here";
        PackageVersion     "showVersion"        GET    "packages/{name}/{package}/{version}"   ""              => OK "PackageVersion" "Show a version of a package: files, digests, declared dependencies, and the lines with which clients use it";
    }
    Own(OwnVerb) "Calls that need something else." {
        Names              "knownNames"         POST   "repositories/{name}/names"         "NamesRequest"  => OK "KnownNames"   "Show the known facts about names of Maven artifacts before they are imported: whether the repository has them, and which upstreams in its groups have them";
        Search             "search"             GET    "search"                                ""              => OK "Search"       "Search packages and files of all repositories by words in their names, `GROUP:ARTIFACT`, or the SHA-1 or SHA-256 of a file";
        Explain            "explain"            GET    "explain"                               ""              => OK "Explanation"  "Show the answer to a GET of a path, and the reasons, without requests to upstreams";
        Profile            "profile"           GET    "profile"                               ""              => OK "Profile"      "Show for what the threads of the server use processors, as thread, cost class, operation and repository, measured for `seconds` (1 to 60, usually 10); a flame graph (SVG), or JSON where `Accept` has `application/json`";
        Tail               "tail"              GET    "tail"                                  ""              => OK ""             "Send finished requests and jobs as they end, as Server-Sent Events; `where` chooses them by their columns, as in `status >= 500 and layer = group`";
        Ask                "ask"                POST   "ask"                               "Question"      => OK "Answer"       "Answer a question about stored events; with `next` continue with a partial answer";
    }
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

impl ServerVerb {
    /// The scope that its caller needs. The scope `admin` includes all others.
    pub(crate) fn scope(self) -> Scope {
        use ServerVerb as V;
        match self {
            V::Event
            | V::Apps
            | V::Requests
            | V::Findings
            | V::Checks
            | V::Alerts
            | V::Curves
            | V::Baseline
            | V::Sizing
            | V::Upstreams
            | V::Cluster
            | V::Repositories
            | V::Repository
            | V::Collisions
            | V::Missing
            | V::Journal => Scope::Observe,
            _ => Scope::Admin,
        }
    }
}

impl AdminVerb {
    /// Whether it has a body.
    pub(crate) fn takes_body(self) -> bool {
        CALLS.iter().any(|call| call.verb == self && !call.takes.is_empty())
    }

    /// The parameters of its query.
    pub(crate) fn query(self) -> &'static [&'static str] {
        use {OwnVerb as O, RepositoryVerb as R, ServerVerb as S};
        match self {
            Self::Server(S::Contents | S::ContentsBelow) => &["after", "limit", "removed"],
            Self::Server(S::Collisions) => &["after", "limit", "waiting"],
            Self::Server(S::Missing | S::CheckIndex) => &["after", "limit"],
            Self::Repository(R::Packages | R::Package | R::Dependents | R::Browse | R::BrowseBelow) => {
                &["after", "limit"]
            }
            Self::Server(S::Journal) => &["repository", "by", "kind", "since", "until", "after", "before", "limit"],
            Self::Repository(R::Difference) => &["from", "to"],
            Self::Server(S::Findings) => &["state", "from", "to", "nodes"],
            Self::Server(S::Event) | Self::Own(O::Ask) => &["nodes"],
            Self::Own(O::Search) => &["q", "repository", "after", "limit"],
            Self::Server(S::RemoveRepository) => &["confirm"],
            Self::Own(O::Profile) => &["seconds"],
            Self::Server(S::Baseline) => &["minutes"],
            Self::Server(S::Sizing) => &["from", "to", "times"],
            Self::Own(O::Tail) => &["where", "all", "nodes"],
            Self::Own(O::Explain) => &["repository", "path", "as_of"],
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
    /// The package in the path; empty: the call has none.
    pub package: String,
    /// The version in the path; empty: the call has none.
    pub version: String,
}

impl AdminCall {
    fn read(&self, segments: &[&str]) -> Option<Admin> {
        let mut rest = segments.iter().copied();
        let (mut name, mut path, mut package, mut version) = Default::default();
        for part in self.path.split('/') {
            match part {
                PATH => path = [rest.next()?].into_iter().chain(rest.by_ref()).collect::<Vec<_>>().join("/"),
                NAME | ID => name = rest.next()?.to_owned(),
                PACKAGE => package = rest.next()?.to_owned(),
                VERSION => version = rest.next()?.to_owned(),
                word => rest.next().filter(|next| *next == word).map(drop)?,
            }
        }
        let (verb, id, status) = (self.verb, self.id, self.status);
        rest.next().is_none().then_some(Admin { verb, id, status, name, path, package, version })
    }

    fn takes_method(&self, method: &Method) -> bool {
        self.method == *method || (self.method == Method::GET && *method == Method::HEAD)
    }
}

/// Reads a path after `/api/v1/`.
pub(super) fn read(method: &Method, segments: &[&str]) -> Result<Admin> {
    let mut allow: Vec<&str> = Vec::new();
    for call in CALLS {
        let Some(admin) = call.read(segments) else { continue };
        if call.takes_method(method) {
            return Ok(admin);
        }
        let also = (call.method == Method::GET).then_some("HEAD");
        for method in [call.method.as_str()].into_iter().chain(also) {
            if !allow.contains(&method) {
                allow.push(method);
            }
        }
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
            let path = path.replace(PACKAGE, "g:a").replace(VERSION, "1.0-b");
            let admin = read(&call.method, &path.split('/').collect::<Vec<_>>()).unwrap();
            assert_eq!((admin.verb, admin.id), (call.verb, call.id));
            assert_eq!(admin.name, if call.path.contains(NAME) || call.path.contains(ID) { "a.b" } else { "" });
            assert_eq!(admin.path, if call.path.contains(PATH) { "org/x/1.0" } else { "" });
            assert_eq!(admin.package, if call.path.contains(PACKAGE) { "g:a" } else { "" });
            assert_eq!(admin.version, if call.path.contains(VERSION) { "1.0-b" } else { "" });
        }
        let ids: HashSet<_> = CALLS.iter().map(|call| call.id).collect();
        assert_eq!(ids.len(), CALLS.len());
    }
}
