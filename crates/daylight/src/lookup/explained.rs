//! The value of an explanation, as far as its reader may know it: the name of a private repository is for its readers; names of
//! tokens, hosts of upstreams and times are for callers who may observe the server.

use crate::access::Caller;
use crate::error::Error;
use repository::{Hidden, Repository, RepositoryTable, Since, Why};
use std::collections::HashSet;
use telemetry::Event;
use web::{HidingRule, MemberAnswer};

/// The answer that a request would get.
pub(crate) struct Explanation {
    /// The event of the answer.
    pub(crate) event: Event,
    /// How a removed file can be restored.
    pub(crate) removal_hint: Option<String>,
    /// The error that the client would get.
    pub(crate) error: Option<Error>,
    /// The member whose upstream decides.
    pub(crate) depends: Option<String>,
    /// Whether that upstream fails now.
    pub(crate) fails: bool,
}

/// The reader of an explanation.
#[derive(Debug)]
pub(crate) struct Reader {
    /// The caller.
    pub(crate) caller: Caller,
    /// Whether the request comes from a user of this machine who may observe the server.
    pub(crate) is_local: bool,
}

impl Reader {
    /// Whether they may see what events contain.
    pub(crate) fn observes(&self) -> bool {
        self.is_local || self.caller.observes()
    }
}

/// The keys of an event that only real requests have.
const OF_REQUESTS: [&str; 9] =
    ["id", "kind", "bytes_in", "bytes_out", "first_byte_ms", "duration_ms", "unaccounted_ms", "weight", "kept_because"];
/// The beginning of the detail of a list that a policy shortens (`Hidden::describe`). It names rules and versions only.
const SHORTENED: &str = "left out are ";

/// The value for this reader.
pub(crate) fn value(
    explanation: Explanation,
    reader: &Reader,
    repository: &Repository,
    table: &RepositoryTable,
) -> web::Explanation {
    let Explanation { event, removal_hint, error, depends, fails } = explanation;
    let reason = event.reason;
    let mut value: web::Explanation = serde_json::from_value(event.json()).unwrap_or_default();
    OF_REQUESTS.iter().for_each(|key| drop(value.costs.remove(*key)));
    value.why = reason.map(|reason| reason.doc().to_owned()).unwrap_or_default();
    let error = error.as_ref();
    let hint = removal_hint.or_else(|| error.and_then(|error| error.hint(None)));
    value.hint = hint.unwrap_or_default();
    if let Some(Error::Repository(repository::Error::Hidden(hidden))) = error {
        value.rule = Some(rule(hidden));
    }
    if !reader.observes() {
        withhold(&mut value, error, depends.as_deref().map(|member| (member, fails)), reader, repository, table);
    }
    value
}

/// The rule that hides a version.
fn rule(hidden: &Hidden) -> HidingRule {
    let is_since = |is: fn(&Since) -> bool| matches!(&hidden.why, Why::Young { since, .. } if is(since));
    HidingRule {
        repository: hidden.repository.clone(),
        package: hidden.what.clone(),
        kind: hidden.rule().into(),
        text: hidden.rule_in_words(),
        since: hidden.since().map(|since| since.to_string()),
        first_seen: is_since(|since| matches!(since, Since::FirstSeen(_))),
        existed_by: is_since(|since| matches!(since, Since::By(_))),
        until: hidden.until().map(|until| until.to_string()),
        command: hidden.command(),
    }
}

/// Leaves out what only observers may know. What remains is what a client is told, the rules, and the members with their answers.
fn withhold(
    value: &mut web::Explanation,
    error: Option<&Error>,
    depends: Option<(&str, bool)>,
    reader: &Reader,
    repository: &Repository,
    table: &RepositoryTable,
) {
    let reads = |name: &str| table.by_name.get(name).is_some_and(|one| reader.caller.reads(one));
    // A detail about one member may name another.
    let is_open = reads_all(repository, reader, table);
    value.costs.clear();
    value.detail = match error {
        Some(Error::Repository(repository::Error::Hidden(_))) => String::new(), // it is in the rule
        Some(_) if value.status == 500 => String::new(),                        // the log has the cause
        Some(error) => error.shown(),
        None => match depends {
            Some((member, fails)) => {
                let of = if reads(member) { format!("`{member}`") } else { "a member".to_owned() };
                let fails = if fails { "; it cannot be used at present" } else { "" };
                format!("the upstream of {of} would be asked{fails}")
            }
            None if is_open && value.detail.starts_with(SHORTENED) => std::mem::take(&mut value.detail),
            None => String::new(),
        },
    };
    if let Some(rule) = value.rule.as_mut().filter(|rule| !reads(&rule.repository)) {
        (rule.repository, rule.command) = (String::new(), None);
        value.hint = String::new();
    }
    for member in &mut value.members {
        member.costs.clear();
        let tells = member.said == "blocked" || member.detail.starts_with(SHORTENED);
        if !is_open || !tells {
            member.detail = String::new();
        }
        if !reads(&member.member) {
            *member = MemberAnswer { said: std::mem::take(&mut member.said), ..MemberAnswer::default() };
        }
    }
}

/// Whether the reader may read the repository and all its members, at any depth.
fn reads_all(repository: &Repository, reader: &Reader, table: &RepositoryTable) -> bool {
    let mut seen = HashSet::new();
    let mut next = vec![repository];
    while let Some(one) = next.pop() {
        if !reader.caller.reads(one) {
            return false;
        }
        if seen.insert(one.id) {
            next.extend(one.record.members.iter().filter_map(|name| table.by_name.get(name)).map(|one| &**one));
        }
    }
    true
}
