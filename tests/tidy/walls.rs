//! What only one module does: reading URLs, choosing a status, conditional replies, connecting, binding, and reading the environment.
//!
//! The test searches the code for the words that such a thing takes. Compilers and clippy do not know most of these rules.

use super::{nothing_wrong, shipped, sources};

/// One thing that only one module does.
struct Wall {
    rule: &'static str,
    /// The crates that are searched.
    crates: &'static [&'static str],
    /// Words that the thing takes.
    words: &'static [&'static str],
    /// Where the words may stand (a file, or the beginning of paths below `crates`), and why. An entry that allows nothing fails.
    allowed: &'static [(&'static str, &'static str)],
}

const ALL: &[&str] = &["telemetry", "format", "store", "client", "repository", "front", "insight", "web", "daylight"];

const WALLS: &[Wall] = &[
    Wall {
        rule: "only `route` reads URLs",
        crates: &["front", "daylight"],
        words: &[
            "request.path()",
            "request.query()",
            "request.uri",
            "percent::decode",
            "percent::Form",
            "percent::{Form",
        ],
        allowed: &[
            ("daylight/src/route", "reads them"),
            ("daylight/src/answer.rs", "hands the path to `route`, and the query to the question that reads it"),
            ("daylight/src/serve/handler.rs", "hands the path to `route`"),
            ("daylight/src/serve/http_door.rs", "hands the path to `route`"),
            ("daylight/src/conformance/", "names the path in an error"),
            ("daylight/src/reply", "writes errors of the API as problem documents"),
            ("daylight/src/site/browse.rs", "hands the query of a list to the code that reads parts of lists"),
            ("daylight/src/site/search.rs", "reads its own parameters from the query"),
            ("daylight/src/site/question.rs", "reads its own parameters from the query"),
            ("daylight/src/admin/baseline.rs", "reads its own parameters from the query"),
            ("daylight/src/admin/sizing.rs", "reads its own parameters from the query"),
            ("daylight/src/admin/findings.rs", "reads its own parameters from the query"),
            ("daylight/src/admin/profile.rs", "reads its own parameters from the query"),
            ("daylight/src/lookup/search.rs", "reads its own parameters from the query"),
            ("daylight/src/lookup/difference.rs", "reads its own parameters from the query"),
            ("daylight/src/site/packages.rs", "hands the query of a list to the code that reads parts of lists"),
            ("daylight/src/admin/packages.rs", "hands the query of a list to the code that reads parts of lists"),
            ("daylight/src/admin/mod.rs", "hands the query to the call that reads it"),
            ("daylight/src/nodes/mod.rs", "hands the query to the code that reads whether other nodes are asked"),
            ("daylight/src/admin/contents.rs", "reads its own parameters from the query"),
            ("daylight/src/lookup/explain.rs", "reads its own parameters from the query"),
            ("daylight/src/admin/journal.rs", "reads its own parameters from the query"),
            ("daylight/src/lookup/pagination.rs", "reads the parameters of lists from the query"),
            ("daylight/src/admin/removal.rs", "reads its own parameters from the query"),
            ("daylight/src/admin/tail.rs", "reads its own parameters from the query"),
            ("daylight/src/site/mod.rs", "hands the query to the page that reads it"),
            ("daylight/src/site/sign_in.rs", "reads the fields of its form"),
            ("daylight/src/accounts/keys.rs", "`gem` sends the fields of a key as a form or as a query"),
            (
                "daylight/src/cli/replay/left_out.rs",
                "leaves recorded paths out in every form in which a server may read them",
            ),
            ("daylight/src/otlp/receiver.rs", "reads the headers of a setting, which are escaped as in a URL"),
            ("front/src/pages/mod.rs", "hands path and query to the hook that finds the page of a URL"),
        ],
    },
    Wall {
        rule: "only `reply` turns an outcome or an error into a status",
        crates: &["repository", "daylight"],
        words: &["StatusCode"],
        allowed: &[
            ("daylight/src/reply", "chooses it"),
            ("daylight/src/serve/handler.rs", "logs failures, which it knows by their status"),
            ("daylight/src/route/admin.rs", "is the table of the calls of the API, each with its status"),
            ("daylight/src/cli/", "reads the statuses of other servers"),
        ],
    },
    Wall {
        rule: "`front::conditional` is the only code for 304, 412, ranges and `HEAD`",
        crates: &["repository", "front", "daylight"],
        words: &[
            "NOT_MODIFIED",
            "PARTIAL_CONTENT",
            "PRECONDITION_FAILED",
            "RANGE_NOT_SATISFIABLE",
            "ACCEPT_RANGES",
            "CONTENT_RANGE",
            "IF_MATCH",
            "IF_MODIFIED_SINCE",
            "IF_NONE_MATCH",
            "IF_RANGE",
            "IF_UNMODIFIED_SINCE",
            "header::RANGE",
            "== Method::HEAD",
            "!= Method::HEAD",
        ],
        allowed: &[
            ("front/src/conditional/", "is that code"),
            (
                "daylight/src/reply/status.rs",
                "a change is refused by a condition that is decided with it, before there is a reply",
            ),
            ("daylight/src/route/admin.rs", "a call that is a `GET` is also called by `HEAD`"),
            ("daylight/src/reply/ivy.rs", "Ivy asks by `HEAD` whether to upload a checksum"),
            ("daylight/src/cli/replay/requests.rs", "asks another server for a status that was recorded"),
        ],
    },
    Wall {
        rule: "only `client` connects to other servers",
        crates: ALL,
        words: &[
            "TcpStream::connect",
            "TcpSocket",
            "UdpSocket",
            "UnixDatagram",
            "UnixStream",
            "ToSocketAddrs",
            "TlsConnector",
            "lookup_host",
            "hyper::client",
        ],
        allowed: &[
            ("client/src/", "connects"),
            ("daylight/src/serve/supervisor.rs", "tells the service manager of this machine how the server is"),
        ],
    },
    Wall {
        rule: "only `front::listen` binds",
        crates: ALL,
        words: &["TcpListener::bind", "UnixListener", "socket.bind(", "Type::STREAM"],
        allowed: &[("front/src/listen/", "binds")],
    },
    Wall {
        rule: "only `config` reads the environment",
        crates: ALL,
        words: &["env::var", "env::set_var", "env::remove_var", "env::home_dir", "env::temp_dir", "env::current_dir"],
        allowed: &[("daylight/src/config/", "reads it")],
    },
];

/// What breaks the rule of a wall.
fn breaches(wall: &Wall) -> Vec<String> {
    let folders: Vec<String> = wall.crates.iter().map(|name| format!("crates/{name}/src")).collect();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let (mut wrong, mut used) = (Vec::new(), vec![false; wall.allowed.len()]);
    for source in sources(&folders, "rs") {
        if source.path.split('/').any(|part| part == "tests" || part == "tests.rs") {
            continue;
        }
        let path = source.path.trim_start_matches("crates/");
        for line in shipped(&source.text).into_iter().filter(|line| wall.words.iter().any(|word| line.contains(word))) {
            match wall.allowed.iter().position(|(place, _)| path.starts_with(place)) {
                Some(place) => used[place] = true,
                None => wrong.push(format!("{}: `{}`, but {}", source.path, line.trim(), wall.rule)),
            }
        }
    }
    let idle = wall.allowed.iter().zip(used).filter(|(_, used)| !used);
    wrong.extend(idle.map(|((place, _), _)| format!("{place}: listed where {}, and does nothing of it", wall.rule)));
    wrong
}

#[test]
fn what_is_the_task_of_one_module_is_done_nowhere_else() {
    nothing_wrong(WALLS.iter().flat_map(breaches).collect());
}
