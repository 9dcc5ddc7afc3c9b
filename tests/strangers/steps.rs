//! The random steps of a history.

use proptest::prelude::*;

const REPOSITORIES: usize = 2;
/// Scopes that a token may have.
pub(super) const SCOPES: [&str; 4] = ["read", "write", "delete", "admin"];
/// The readable files of a repository.
pub(super) const WHAT: [&str; 8] = [
    "info/lamp",
    "names",
    "versions",
    "gems/lamp-1.0.gem",
    "gems/lamp-1.1.gem",
    "api/v1/versions/lamp.json",
    "api/v1/search.json?query=lamp",
    "api/v1/gems/lamp/owners.json",
];

/// The credentials of a request. A number selects one of the created tokens, modulo their count.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shown {
    Nothing,
    Bare(usize),
    Bearer(usize),
    User(usize),
    Password(usize),
    /// One as the user, one as the password. The password is looked up first.
    Both(usize, usize),
    /// A token without its last letter.
    Cut(usize),
    Longer(usize),
    Garbage,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Make {
        repository: usize,
        private: bool,
    },
    Remove {
        repository: usize,
    },
    Mint {
        scope: usize,
        repository: Option<usize>,
        seconds: Option<u8>,
    },
    Revoke {
        token: usize,
    },
    Wait {
        seconds: u8,
    },
    Push {
        shown: Shown,
        repository: usize,
        version: u8,
    },
    Yank {
        shown: Shown,
        repository: usize,
        version: u8,
    },
    /// Several times, so that later answers may be pages.
    Read {
        shown: Shown,
        repository: usize,
        what: usize,
        head: bool,
        unchanged: bool,
        times: u8,
    },
}

fn shown() -> impl Strategy<Value = Shown> {
    let token = || 0usize..4;
    prop_oneof![
        3 => Just(Shown::Nothing),
        3 => token().prop_map(Shown::Bare),
        2 => token().prop_map(Shown::Bearer),
        2 => token().prop_map(Shown::User),
        2 => token().prop_map(Shown::Password),
        1 => (token(), token()).prop_map(|(user, password)| Shown::Both(user, password)),
        1 => token().prop_map(Shown::Cut),
        1 => token().prop_map(Shown::Longer),
        1 => Just(Shown::Garbage),
    ]
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (one, flag) = (|| 0..REPOSITORIES, any::<bool>);
    // Few of everything, so that the same file is read before and after its change.
    let scope = || prop_oneof![3 => Just(0), 2 => Just(3), 1 => Just(1), 1 => Just(2)];
    let step = prop_oneof![
        3 => (one(), flag()).prop_map(|(repository, private)| Step::Make { repository, private }),
        1 => one().prop_map(|repository| Step::Remove { repository }),
        3 => (scope(), prop::option::of(one()), prop::option::of(1u8..12))
            .prop_map(|(scope, repository, seconds)| Step::Mint { scope, repository, seconds }),
        1 => (0usize..4).prop_map(|token| Step::Revoke { token }),
        1 => (1u8..15).prop_map(|seconds| Step::Wait { seconds }),
        4 => (shown(), one(), 0u8..2).prop_map(|(shown, repository, version)| Step::Push { shown, repository, version }),
        1 => (shown(), one(), 0u8..2).prop_map(|(shown, repository, version)| Step::Yank { shown, repository, version }),
        12 => (shown(), one(), 0..WHAT.len(), flag(), flag(), 1u8..5).prop_map(
            |(shown, repository, what, head, unchanged, times)| {
                Step::Read { shown, repository, what, head, unchanged, times }
            }
        ),
    ];
    prop::collection::vec(step, 10..80)
}
