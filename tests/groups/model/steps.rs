//! The steps of a sequence.

use super::policy::{Rule, rules};
use proptest::prelude::*;

pub(super) const ARTIFACTS: [&str; 2] = ["lamp", "oil"];
/// In Maven's order.
pub(super) const VERSIONS: [&str; 3] = ["1.9", "1.10", "2.0"];
pub(super) const FILES: [&str; 2] = [".pom", ".jar"];

/// The repositories: two hosted, two remote, and two groups, the inner one first.
pub(super) const NAMES: [&str; 6] = ["ours", "theirs", "near", "far", "inner", "all"];
pub(super) const HOSTED: std::ops::Range<usize> = 0..2;
pub(super) const REMOTE: std::ops::Range<usize> = 2..4;
pub(super) const GROUPS: std::ops::Range<usize> = 4..6;
const INNER: usize = 4;
/// The group that receives most requests.
pub(super) const ALL: usize = 5;

/// The possible members of each group.
pub(super) const LAYOUTS: [&[&[usize]]; 2] =
    [&[&[2, 1], &[1], &[3, 2], &[2]], &[&[0, INNER, 3], &[3, INNER], &[INNER, 0], &[2, 3], &[1, 3, 2]]];

/// The size of the one file that is larger than a page, in bytes.
const LARGE: usize = 66 << 10;

/// A file: the indexes of its artifact, version and file name above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) artifact: usize,
    pub(super) version: usize,
    pub(super) file: usize,
}

impl Place {
    /// All files of a version.
    pub(super) fn of((artifact, version): (usize, usize)) -> impl Iterator<Item = Self> {
        (0..FILES.len()).map(move |file| Self { artifact, version, file })
    }

    pub(super) fn what(self) -> (usize, usize) {
        (self.artifact, self.version)
    }

    pub(super) fn folder(self) -> String {
        format!("org/example/{}/{}", ARTIFACTS[self.artifact], VERSIONS[self.version])
    }

    pub(super) fn path(self) -> String {
        let (artifact, version) = (ARTIFACTS[self.artifact], VERSIONS[self.version]);
        format!("{}/{artifact}-{version}{}", self.folder(), FILES[self.file])
    }

    /// The bytes of a repository at this place, in this edition.
    pub(super) fn content(self, repository: usize, edition: u32) -> String {
        let text = format!("{} {edition} {}", NAMES[repository], self.path());
        let large = self == Self { artifact: 0, version: 2, file: 1 };
        if large { text.clone() + &" ".repeat(LARGE - text.len()) } else { text }
    }
}

/// The `Last-Modified` of the upstream.
#[derive(Debug, Clone, Copy)]
pub(super) enum Dated {
    Now,
    /// This number of seconds before it appeared.
    Before(u64),
    Not,
}

/// A change of an upstream.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    Appears(Place, Dated),
    Goes(Place),
    /// Everything is refused, so its content is unknown.
    Fails,
    Recovers,
}

/// The form in which the request is repeated after the answer is known.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Sum,
    Head,
    /// With the ETag of the answer, and with that of an earlier one.
    Tagged,
    Part,
}

/// A read, as of now or of an earlier moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) repository: usize,
    pub(super) form: Form,
    pub(super) past: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Deploy(usize, Place),
    Delete(usize, usize, usize),
    Upstream(usize, Change),
    Layout(usize, usize),
    Policy(usize, Rule),
    Wait(u64),
    Read(Look, Place),
    Versions(Look, usize),
    /// Reads a version with all requests that can reveal it.
    Everywhere(Place, Form),
}

/// Files, half of which are this one: a change of a file that is never read shows nothing.
fn places(often: Place) -> impl Strategy<Value = Place> {
    prop_oneof![Just(often), any_place()]
}

fn any_place() -> impl Strategy<Value = Place> {
    (0..ARTIFACTS.len(), 0..VERSIONS.len(), 0..FILES.len()).prop_map(|(artifact, version, file)| Place {
        artifact,
        version,
        file,
    })
}

fn forms() -> impl Strategy<Value = Form> {
    prop_oneof![Just(Form::Sum), Just(Form::Head), Just(Form::Tagged), Just(Form::Part)]
}

/// Repositories, most of which are the group with most requests.
fn repositories() -> impl Strategy<Value = usize> {
    prop_oneof![3 => Just(ALL), 2 => 0..NAMES.len()]
}

fn looks() -> impl Strategy<Value = Look> {
    let past = prop::option::weighted(0.2, 0..9usize);
    (repositories(), forms(), past).prop_map(|(repository, form, past)| Look { repository, form, past })
}

fn changes(often: Place) -> impl Strategy<Value = Change> {
    let dated = prop_oneof![2 => Just(Dated::Now), 1 => Just(Dated::Before(150)), 1 => Just(Dated::Not)];
    prop_oneof![
        6 => (places(often), dated).prop_map(|(place, dated)| Change::Appears(place, dated)),
        2 => places(often).prop_map(Change::Goes),
        1 => Just(Change::Fails),
        2 => Just(Change::Recovers),
    ]
}

fn steps(often: Place) -> impl Strategy<Value = Step> {
    let places = || places(often);
    prop_oneof![
        2 => (HOSTED, places()).prop_map(|(at, place)| Step::Deploy(at, place)),
        1 => (HOSTED, places()).prop_map(|(at, place)| Step::Delete(at, place.artifact, place.version)),
        6 => (REMOTE, changes(often)).prop_map(|(at, change)| Step::Upstream(at, change)),
        2 => (GROUPS, 0..5usize).prop_map(|(at, layout)| Step::Layout(at, layout)),
        5 => (repositories(), rules(often.what())).prop_map(|(at, rule)| Step::Policy(at, rule)),
        3 => prop_oneof![Just(1), Just(99), Just(100), Just(301), Just(901)].prop_map(Step::Wait),
        8 => (looks(), places()).prop_map(|(look, place)| Step::Read(look, place)),
        4 => (looks(), places()).prop_map(|(look, place)| Step::Versions(look, place.artifact)),
        2 => (places(), forms()).prop_map(|(place, form)| Step::Everywhere(place, form)),
    ]
}

/// The TTLs, and the steps.
pub(super) fn all() -> impl Strategy<Value = (usize, Vec<Step>)> {
    any_place().prop_flat_map(|often| (0..2usize, prop::collection::vec(steps(often), 1..40)))
}
