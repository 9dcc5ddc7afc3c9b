//! The owner of a name and the reason, for the event of an answer: a record of each member that was asked or passed
//! over, and a text for `daylight explain`.

use crate::error::{Error, Result};
use crate::gem::Question;
use crate::gem::group::GroupGems;
use crate::gem::group::members::KnownMembers;
use crate::gem::group::owner::Holder;
use crate::gem::left_out;
use crate::group::is_hosted;
use format::gem::spelling::{READINGS, readings};
use telemetry::{Event, MemberRecord, MemberSaid, Reason};

impl GroupGems<'_> {
    /// Records the members that have or had the name and are not asked for it.
    pub(crate) fn tell_passed_over(self, name: &str, members: &KnownMembers, owners: &[usize], event: &mut Event) {
        let holders = members.holders(name);
        for holder in holders.iter().filter(|holder| !owners.contains(&holder.place)) {
            let Some(leaf) = self.leaves().get(holder.place) else { continue };
            if event.members.iter().any(|record| record.member == *leaf.record.name) {
                continue;
            }
            let detail = self.why_not(name, holder, members, owners);
            let record = MemberRecord::new(&leaf.record.name, MemberSaid::Blocked, Some(Reason::HiddenByPolicy));
            event.absorb(MemberRecord { detail, ..record });
        }
    }

    /// Records the answer of a member, unless the member recorded it itself.
    pub(crate) fn tell_asked<T>(self, place: usize, found: &Result<T>, event: &mut Event) {
        self.tell(place, found.as_ref().err(), event);
    }

    fn tell(self, place: usize, error: Option<&Error>, event: &mut Event) {
        let Some(leaf) = self.leaves().get(place) else { return };
        if event.members.iter().any(|record| record.member == *leaf.record.name) {
            return;
        }
        let said = match error {
            None => MemberSaid::Hit,
            Some(Error::Unasked) => MemberSaid::Unknown,
            Some(Error::Hidden(_)) => MemberSaid::Blocked,
            Some(Error::NoSuchPackage | Error::NoSuchGem | Error::NoSuchGemVersion | Error::Withdrawn(_)) => {
                MemberSaid::NotFound
            }
            Some(error) if error.is_absence() => MemberSaid::NotFound,
            Some(error) if error.reason() == Reason::UpstreamTimeout => MemberSaid::Timeout,
            Some(_) => MemberSaid::Failed,
        };
        let reason = error.map(Error::reason).filter(|_| said != MemberSaid::Unknown);
        let detail = match error {
            Some(Error::Upstream(failure)) => failure.detail(),
            _ => String::new(),
        };
        event.absorb(MemberRecord { detail, ..MemberRecord::new(&leaf.record.name, said, reason) });
    }

    /// Records the members whose index was never seen, so that the owner of the name is unknown.
    pub(crate) fn tell_unknown(self, unknown: &[(usize, Error)], event: &mut Event) {
        for (place, error) in unknown {
            self.tell(*place, Some(error), event);
        }
    }

    /// Records the state of each member's index, for the answer with a whole index.
    pub(crate) fn tell_all(self, event: &mut Event) {
        for leaf in self.leaves() {
            if event.members.iter().any(|record| record.member == *leaf.record.name) {
                continue; // its index was never seen
            }
            let failed = match is_hosted(leaf) {
                true => None,
                false => leaf.shared.gems().followed.read(leaf.origin, |known| known.failed).flatten(),
            };
            let said = if failed.is_some() { MemberSaid::Stale } else { MemberSaid::Hit };
            event.absorb(MemberRecord::new(&leaf.record.name, said, failed));
        }
    }

    /// Sorts the records in the order of the members.
    pub(crate) fn order_members(self, event: &mut Event) {
        let place = |record: &MemberRecord| self.leaves().iter().position(|leaf| *leaf.record.name == record.member);
        event.members.sort_by_key(|record| place(record).unwrap_or(usize::MAX));
    }

    /// Why a member is not asked for a name that it has.
    pub(crate) fn why_not(self, name: &str, holder: &Holder, members: &KnownMembers, owners: &[usize]) -> String {
        let Some(owner) = owners.first().and_then(|place| self.leaves().get(*place)) else { return String::new() };
        let of = &owner.record.name;
        if members.claiming(name) == owners.first().copied() {
            return format!("`{name}` belongs to `{of}`, which claims it");
        }
        let owned = members.holders(name).into_iter().find(|one| owners.first() == Some(&one.place));
        let own = &self.leaves()[holder.place].record.name;
        let command = format!("`daylight repo set {own} --claim {name}` gives this member the name");
        match (is_hosted(owner), holder.is_hosted) {
            (true, false) if owned.is_some_and(|owned| members.waits_for(&owned, holder)) => format!(
                "`{name}` belongs to `{of}`, which had it before this upstream was first seen, and waits for an administrator; {command}"
            ),
            (true, false) => format!("`{name}` belongs to `{of}`, a hosted member that has or had it"),
            _ if owners.first().is_some_and(|owner| *owner < holder.place) => {
                format!("`{name}` belongs to `{of}`, which precedes it in the order of members")
            }
            _ => {
                let began = holder.began.map(|began| format!(", on {began},")).unwrap_or_default();
                format!(
                    "`{name}` belongs to `{of}`: this member listed it later{began} and waits for an administrator; \
                     {command}"
                )
            }
        }
    }

    /// Adds the owner of the requested name and the source of its answer to the event, for `daylight explain`. This
    /// calls no upstream.
    pub(crate) async fn explain(self, question: &Question<'_>, event: &mut Event) -> Result<()> {
        let names: Vec<&str> = match *question {
            Question::Info(name) => vec![name],
            Question::Gem(full_name) | Question::Gemspec(full_name) => {
                readings(full_name).take(READINGS).map(|reading| reading.name).collect()
            }
            _ => Vec::new(),
        };
        let mut told = Vec::new();
        if matches!(question, Question::Versions | Question::Names | Question::Specs(_)) {
            for place in 0..self.leaves().len() {
                told.extend(self.explain_member(place, question, event).await);
            }
        }
        let members = KnownMembers::of_names(self, names.iter().copied(), event).await?;
        for name in &names {
            let (holders, owners) = (members.holders(name), members.owners(name));
            // Most readings of a full name match no gem.
            if owners.is_empty() && names.len() > 1 {
                continue;
            }
            told.push(self.whose(name, &holders, &members, &owners));
            for place in owners {
                self.tell_left_out(place, question, event).await?;
                told.extend(self.explain_member(place, question, event).await);
            }
        }
        if !event.detail.is_empty() {
            told.insert(0, std::mem::take(&mut event.detail));
        }
        event.detail = told.join("; ");
        Ok(())
    }

    /// The owner of a name, in words.
    fn whose(self, name: &str, holders: &[Holder], members: &KnownMembers, owners: &[usize]) -> String {
        let named = |place: &usize| self.leaves().get(*place).map(|leaf| format!("`{}`", leaf.record.name));
        let of = owners.iter().filter_map(named).collect::<Vec<_>>().join(", ");
        let others = || holders.iter().filter(|holder| !owners.contains(&holder.place)).count();
        match owners {
            [] => format!("no member has or ever had `{name}`"),
            [_, _, ..] => format!("{of} share `{name}`"),
            [owner] if members.claiming(name) == Some(*owner) => format!("`{name}` belongs to {of}, which claims it"),
            [owner] if is_hosted(&self.leaves()[*owner]) => {
                format!("`{name}` belongs to {of}, the first hosted member that has or had it")
            }
            [_] if others() == 0 => format!("`{name}` belongs to {of}, the only member that lists it"),
            [_] => format!("`{name}` belongs to {of}, which listed it first or is earlier in the order of members"),
        }
    }

    /// Adds the versions that the `/info` of a member leaves out to the record of this member.
    async fn tell_left_out(self, place: usize, question: &Question<'_>, event: &mut Event) -> Result<()> {
        let (Some(leaf), Question::Info(name)) = (self.leaves().get(place), question) else { return Ok(()) };
        let member = self.member(leaf);
        let text = match member.upstream() {
            None => left_out::of_hosted(member.local, name, self.now(), event).await?,
            Some(remote) => remote.left_out(name),
        };
        if let Some(record) = event.members.iter_mut().find(|record| record.member == *leaf.record.name)
            && let Some(text) = text
        {
            record.detail = text;
        }
        Ok(())
    }

    /// The source of a remote member's answer.
    async fn explain_member(self, place: usize, question: &Question<'_>, event: &mut Event) -> Option<String> {
        let leaf = self.leaves().get(place)?;
        let (member, mut own) = (self.member(leaf), Event::job("member", self.now()));
        member.upstream()?.explain(question, &mut own).await;
        own.tallies().for_each(|(op, tally)| event.add_all(op, tally));
        Some(format!("`{}`: {}", leaf.record.name, own.detail))
    }
}
