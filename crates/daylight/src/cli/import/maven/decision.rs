//! Whose each name of a folder is: ours, which is imported; others', which builds get from upstreams; or undecided.

use super::closed::{Closed, ClosedIn, listed};
use crate::cli::context::Context;
use crate::cli::failure::{Failure, plain};
use crate::cli::import::flags::{ImportFlags, NameFlags};
use format::tree;
use repository::name_of_folder;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// How many groups of others' names are printed.
const SHOWN: usize = 10;
/// Why an undecided name is ours.
const CLAIMED_BLINDLY: &str = "claimed by `--claim` alone; the folder does not say where it came from";

/// The known facts about a name.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// How many files it has in the folder.
    pub(super) files: u64,
    /// Whether a file was installed on this machine.
    pub(super) installed: bool,
    /// The ids of the repositories that files were downloaded from.
    pub(super) downloaded: BTreeSet<String>,
    /// Whether a pattern claims it.
    pub(super) claimed: bool,
    /// Whether there are patterns, so that an installed name that none matches is left out.
    pub(super) only_matching: bool,
    /// Whether upstreams were asked.
    pub(super) asked: bool,
    /// The facts that the server knows about the name.
    pub(super) known: KnownName,
}

/// The facts that the server knows about a name.
#[derive(Debug, Default, Deserialize)]
pub(super) struct KnownName {
    pub(super) folder: String,
    hosted: bool,
    private: bool,
    cached: bool,
    cached_by: Vec<String>,
    listed: Option<bool>,
    listed_by: Vec<String>,
    #[serde(default)]
    pub(super) closed_in: Vec<ClosedIn>,
}

/// Whether a name is ours or of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    Ours,
    Others,
    Undecided,
}

/// Whether a name is ours or of others, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Verdict {
    whose: Whose,
    why: String,
}

impl Verdict {
    pub(super) fn is_undecided(&self) -> bool {
        self.whose == Whose::Undecided
    }
}

impl Evidence {
    /// Decides whether the name is ours. `all`: undecided names are claimed.
    pub(super) fn verdict(&self, all: bool) -> Verdict {
        let of = |whose, why: &str| Verdict { whose, why: why.to_owned() };
        let KnownName { hosted, private, cached, cached_by, listed, listed_by, .. } = &self.known;
        match () {
            () if self.claimed => of(Whose::Ours, "claimed"),
            () if *private => of(Whose::Ours, "kept from upstreams by a private prefix"),
            () if *cached => of(Whose::Others, &format!("cached of {}", upstreams(cached_by))),
            () if !self.downloaded.is_empty() => {
                let ids: Vec<_> = self.downloaded.iter().map(|id| format!("`{id}`")).collect();
                let too = if self.installed { ", and installed on this machine, too" } else { "" };
                of(Whose::Others, &format!("downloaded from {}{too}", ids.join(" and ")))
            }
            () if self.installed && self.only_matching => {
                of(Whose::Undecided, "installed on this machine, but no pattern matches it")
            }
            () if self.installed => of(Whose::Ours, "installed on this machine"),
            () if *hosted => of(Whose::Ours, "published here before"),
            () if *listed == Some(true) => of(Whose::Others, &format!("in {}", upstreams(listed_by))),
            () if *listed == Some(false) => of(Whose::Ours, "in no upstream"),
            () if all => of(Whose::Ours, CLAIMED_BLINDLY),
            () if self.asked => of(Whose::Undecided, "an upstream gave no answer"),
            () => of(Whose::Undecided, "the folder does not say where it came from"),
        }
    }
}

/// The remote members of these names; none: the caller may not know them.
fn upstreams(members: &[String]) -> String {
    let members: Vec<_> = members.iter().map(|member| format!("`{member}`")).collect();
    if members.is_empty() { "an upstream".to_owned() } else { members.join(" and ") }
}

/// The decision about all names of a folder.
#[derive(Debug)]
pub(super) struct Decision {
    /// The names and their numbers of files.
    verdicts: BTreeMap<Verdict, Vec<(String, u64)>>,
    /// The folders of the names that are not imported.
    left_out: HashSet<String>,
    /// The groups that will ask no upstream for a name of ours which the repository did not have.
    closed_in: HashMap<String, Vec<ClosedIn>>,
}

impl Decision {
    /// From the folder of each name, its number of files, and what the server knows about it.
    pub(super) fn new(all: impl Iterator<Item = (String, u64, Verdict, KnownName)>) -> Self {
        let (mut verdicts, mut left_out, mut closed_in) =
            (BTreeMap::<_, Vec<_>>::new(), HashSet::new(), HashMap::new());
        for (folder, files, verdict, known) in all {
            let name = name_of_folder(&folder).unwrap_or_else(|| folder.clone());
            if verdict.whose != Whose::Ours {
                left_out.insert(folder);
            } else if !known.hosted {
                closed_in.insert(folder, known.closed_in);
            }
            verdicts.entry(verdict).or_default().push((name, files));
        }
        Self { verdicts, left_out, closed_in }
    }

    /// What the uploads to these folders of names changed for the clients of groups.
    pub(super) fn closed(&self, folders: &BTreeSet<String>) -> Vec<Closed> {
        let mut closed = BTreeMap::<&Option<String>, Closed>::new();
        for folder in folders {
            for ClosedIn { group, command } in self.closed_in.get(folder).into_iter().flatten() {
                let one = || Closed { group: group.clone(), names: BTreeSet::new(), command: command.clone() };
                closed.entry(group).or_insert_with(one).names.extend(name_of_folder(folder));
            }
        }
        closed.into_values().collect()
    }

    /// Whether the file at this path is imported.
    pub(super) fn is_ours(&self, path: &str) -> bool {
        !self.left_out.contains(folder_of(path))
    }

    /// How many names and files are decided in this way.
    fn count(&self, whose: Whose) -> (usize, u64) {
        let rows = || self.of(whose).flat_map(|(_, names)| names);
        (rows().count(), rows().map(|(_, files)| files).sum())
    }

    fn of(&self, whose: Whose) -> impl Iterator<Item = (&str, &[(String, u64)])> {
        let all = self.verdicts.iter().filter(move |(verdict, _)| verdict.whose == whose);
        all.map(|(verdict, names)| (verdict.why.as_str(), names.as_slice()))
    }

    /// The names for the report.
    pub(super) fn to_json(&self) -> Value {
        let rows = |whose| {
            let row = |why: &str, (name, files): &(String, u64)| json!({ "name": name, "files": files, "why": why });
            let mut rows: Vec<Value> =
                self.of(whose).flat_map(|(why, names)| names.iter().map(move |name| row(why, name))).collect();
            rows.sort_by(|one, other| one["name"].as_str().cmp(&other["name"].as_str()));
            rows
        };
        json!({ "ours": rows(Whose::Ours), "others": rows(Whose::Others), "undecided": rows(Whose::Undecided) })
    }

    /// Shows the decision. Returns whether to import: an error where it cannot be, `false` where it was only to be shown.
    pub(super) fn goes_on(
        &self,
        import: &ImportFlags,
        flags: &NameFlags,
        context: &mut Context<'_>,
    ) -> anyhow::Result<bool> {
        let ((ours, _), (others, _), (undecided, _)) =
            (self.count(Whose::Ours), self.count(Whose::Others), self.count(Whose::Undecided));
        // Without names there is only one thing to do.
        let nothing = ours == 0 && others > 0;
        let blindly =
            self.of(Whose::Ours).filter(|(why, _)| *why == CLAIMED_BLINDLY).map(|(_, names)| names.len()).sum();
        let unconfirmed = blindly > 0 && !flags.yes && !context.can_ask();
        let stops = (undecided > 0 && flags.claim.is_empty()) || nothing || unconfirmed;
        if !context.flags.json {
            self.write(context)?;
        } else if flags.dry_run || stops {
            writeln!(context.out, "{:#}", json!({ "dry_run": flags.dry_run, "names": self.to_json() }))?;
        }
        if flags.dry_run {
            return Ok(false);
        }
        let dir = import.dir.display();
        if undecided > 0 && flags.claim.is_empty() {
            let text = format!("`{dir}` has {undecided} undecided name{}: nothing was uploaded", plural(undecided));
            let hint = "`--claim com.acme` imports the names of your group as yours (repeat the flag for several), `--claim` alone all \
                        undecided names; `--ask-upstreams` asks the upstreams, which learn the names";
            return Err(Failure::new(text, Some(hint.to_owned())).into());
        }
        if nothing {
            let text =
                format!("nothing of `{dir}` is yours: builds get its {others} name{} from upstreams", plural(others));
            let hint = "`--claim GROUP:ARTIFACT` imports the names that match as yours, and hides the upstreams' versions of them";
            return Err(Failure::new(text, Some(hint.to_owned())).into());
        }
        if blindly > 0 && !flags.yes {
            confirm(blindly, context)?;
        }
        Ok(true)
    }

    fn write(&self, context: &mut Context<'_>) -> std::io::Result<()> {
        for (whose, title) in
            [(Whose::Ours, "yours"), (Whose::Others, "others', left out"), (Whose::Undecided, "undecided, left out")]
        {
            let (names, files) = self.count(whose);
            if names > 0 {
                let (s, files_s) = (plural(names), if files == 1 { "" } else { "s" });
                writeln!(context.out, "{title}: {names} name{s} with {files} file{files_s}")?;
            }
            for (why, names) in self.of(whose) {
                // All groups of ours are shown: a public one among them is to be seen.
                let most = if whose == Whose::Ours { usize::MAX } else { SHOWN };
                writeln!(
                    context.out,
                    "  {}: {}",
                    plain(why),
                    listed(names.iter().map(|(name, _)| name.as_str()), most)
                )?;
            }
        }
        Ok(())
    }
}

/// The folder of the name that a file belongs to: `org/example/lamp`. Empty: it belongs to none.
pub(super) fn folder_of(path: &str) -> &str {
    Some(tree::folder(tree::folder(path))).filter(|folder| folder.contains('/')).unwrap_or_default()
}

/// Asks whether all undecided names are to be ours. Without a terminal nothing is uploaded.
fn confirm(names: usize, context: &mut Context<'_>) -> anyhow::Result<()> {
    let s = plural(names);
    if !context.can_ask() {
        let text = format!(
            "`--claim` alone makes {names} name{s} yours, and no terminal is there to confirm it: nothing was uploaded"
        );
        let hint = "`--claim com.acme` claims the names of your group alone; `--yes` claims all undecided names without asking";
        return Err(Failure::usage(text, hint).into());
    }
    let question = format!(
        "If others have one of the {names} claimed name{s}, builds get no version of theirs any more. Type `yes` to claim all: "
    );
    match context.ask(&question)?.trim() {
        "yes" => Ok(()),
        _ => Err(Failure::new(
            "nothing was uploaded",
            Some("`--claim com.acme` claims the names of your group alone".to_owned()),
        )
        .into()),
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_decides_in_an_order_in_which_no_public_name_becomes_ours_by_itself() {
        let known = |change: fn(&mut KnownName)| {
            let mut known = KnownName::default();
            change(&mut known);
            Evidence { known, ..Evidence::default() }
        };
        let central = || BTreeSet::from(["central".to_owned()]);
        let whose = |evidence: &Evidence| [false, true].map(|all| evidence.verdict(all).whose);
        use Whose::{Others, Ours, Undecided};
        assert_eq!(whose(&Evidence::default()), [Undecided, Ours]);
        assert_eq!(whose(&Evidence { installed: true, ..Evidence::default() }), [Ours; 2]);
        let both = Evidence { installed: true, downloaded: central(), ..Evidence::default() };
        assert_eq!(whose(&both), [Others; 2], "a patched build of a public library");
        assert_eq!(whose(&Evidence { claimed: true, ..both }), [Ours; 2]);
        assert_eq!(whose(&Evidence { installed: true, ..known(|known| known.cached = true) }), [Others; 2]);
        let outside = || Evidence { installed: true, only_matching: true, ..Evidence::default() };
        assert_eq!(outside().verdict(false).whose, Undecided, "a fork of a public library, and there are patterns");
        assert_eq!(Evidence { claimed: true, ..outside() }.verdict(false).whose, Ours);
        assert_eq!(whose(&Evidence { downloaded: central(), ..known(|known| known.hosted = true) }), [Others; 2]);
        assert_eq!(whose(&Evidence { downloaded: central(), ..known(|known| known.private = true) }), [Ours; 2]);
        assert_eq!(whose(&known(|known| known.hosted = true)), [Ours; 2], "the same import again");
        assert_eq!(whose(&known(|known| known.listed = Some(true))), [Others; 2]);
        assert_eq!(whose(&known(|known| known.listed = Some(false))), [Ours; 2]);
        assert_eq!(whose(&Evidence { asked: true, ..Evidence::default() }), [Undecided, Ours]);
    }
}
