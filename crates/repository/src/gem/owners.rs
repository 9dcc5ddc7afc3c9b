//! The owners of a gem: the person who pushed it first, and everybody whom an owner adds.
//!
//! Owners are always recorded. A setting of the repository decides whether they restrict changes, so that a team from a
//! server without owners can work as before and enforce owners later.

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::gem::Found;
use crate::gem::hosted::Hosted;
use crate::gem::program::{OwnerChange, Role};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Change, CommitError, Expect};
use telemetry::{Event, Millis};

/// Maximum number of attempts of a change that conflicts with others.
const TRIES: usize = 100;
/// Maximum number of owners of a gem.
const OWNERS_MAX: usize = 100;

/// The facts about a gem, apart from its versions, in the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Owners {
    owners: Vec<Owner>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    name: String,
    #[serde(default)]
    role: Role,
}

impl Owners {
    pub(crate) fn read(unit: &str, facts: Value) -> Result<Self> {
        if facts.is_null() {
            return Ok(Self::default());
        }
        serde_json::from_value(facts).map_err(|source| Error::Unreadable { key: unit.to_owned(), source })
    }

    fn facts(&self, unit: &str) -> Result<Value> {
        serde_json::to_value(self).map_err(|source| Error::Unreadable { key: unit.to_owned(), source })
    }

    pub(crate) fn role(&self, name: &str) -> Option<Role> {
        self.owners.iter().find(|owner| owner.name == name).map(|owner| owner.role)
    }

    /// The owners in the form that `gem owner` reads.
    pub(crate) fn shown(&self) -> Value {
        let one = |owner: &Owner| {
            let email = owner.name.contains('@').then_some(&owner.name);
            json!({ "id": owner.name, "handle": owner.name, "email": email, "role": owner.role })
        };
        self.owners.iter().map(one).collect()
    }

    /// Applies the change. Returns a description of it.
    fn change(&mut self, name: &str, change: OwnerChange) -> Result<String> {
        let at = self.owners.iter().position(|owner| owner.name == name);
        let said = match (change, at) {
            (OwnerChange::Add(_), Some(_)) => return Err(Error::OwnerAlready(name.to_owned())),
            (OwnerChange::Add(_), None) if self.owners.len() >= OWNERS_MAX => return Err(Error::TooManyOwners),
            (OwnerChange::Add(role), None) => {
                self.owners.push(Owner { name: name.to_owned(), role });
                format!("{name} was added as an owner.")
            }
            (_, None) => return Err(Error::NoSuchOwner),
            (OwnerChange::Remove, Some(at)) => {
                self.owners.remove(at);
                "Owner removed successfully.".to_owned()
            }
            (OwnerChange::Become(role), Some(at)) => {
                self.owners[at].role = role;
                "Owner updated successfully.".to_owned()
            }
        };
        // At least one owner must remain who can add others.
        if self.owners.iter().all(|owner| owner.role != Role::Owner) {
            return Err(Error::LastOwner);
        }
        Ok(said)
    }
}

/// Checks whether `by` may push the gem. For a new gem, returns the change that makes them its owner.
pub(crate) async fn claim(
    hosted: Hosted<'_>,
    name: &str,
    new: bool,
    by: Actor<'_>,
    event: &mut Event,
) -> Result<Option<Change>> {
    let (id, enforced) = (hosted.repository.id, hosted.repository.record.owners_enforced);
    if !new && (!enforced || by.admin) {
        return Ok(None);
    }
    let owners = Owners::read(name, hosted.store.facts(id, name, event).await?.facts)?;
    if owners.role(by.owner).is_some() {
        return Ok(None);
    }
    if !owners.owners.is_empty() || !new {
        return if enforced && !by.admin { Err(Error::NotAnOwner(name.to_owned())) } else { Ok(None) };
    }
    if by.owner.is_empty() {
        return Ok(None);
    }
    let first = Owners { owners: vec![Owner { name: by.owner.to_owned(), role: Role::Owner }] };
    Ok(Some(Change::Unit { repository: id, unit: name.to_owned(), facts: first.facts(name)? }))
}

/// Refuses a yank by a person who does not own the gem, if owners are enforced.
pub(crate) async fn may_withdraw(hosted: Hosted<'_>, name: &str, by: Actor<'_>, event: &mut Event) -> Result<()> {
    if by.admin || !hosted.repository.record.owners_enforced {
        return Ok(());
    }
    let owners = Owners::read(name, hosted.store.facts(hosted.repository.id, name, event).await?.facts)?;
    owners.role(by.owner).map(drop).ok_or(Error::NotAnOwnerToWithdraw)
}

/// Changes the owners of a gem. `person` is the owner of a token.
pub(crate) async fn change(
    hosted: Hosted<'_>,
    name: &str,
    person: &str,
    change: OwnerChange,
    by: Actor<'_>,
    now: impl Fn() -> Millis,
    event: &mut Event,
) -> Result<Found> {
    let (store, repository) = (hosted.store, hosted.repository);
    by.may_change(name)?;
    for _ in 0..TRIES {
        let known = store.facts(repository.id, name, event).await?;
        if known.seq == store::Seq(0) {
            return Err(Error::NoSuchGem);
        }
        let mut owners = Owners::read(name, known.facts)?;
        let enforced = repository.record.owners_enforced;
        if enforced && !by.admin && owners.role(by.owner) != Some(Role::Owner) {
            return Err(Error::NotAnOwner(name.to_owned()));
        }
        let said = owners.change(person, change)?;
        let expect = vec![
            Expect::RepositoryLives(repository.id),
            Expect::UnitAt { repository: repository.id, unit: name.to_owned(), seq: known.seq },
        ];
        let changes =
            vec![Change::Unit { repository: repository.id, unit: name.to_owned(), facts: owners.facts(name)? }];
        let batch = by.batch(now(), expect, changes);
        match store.commit(batch, event).await {
            Ok(_) => return Ok(Found::Said(said)),
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::UnitAt { .. }) => {}
            Err(CommitError::Conflict(_)) => return Err(Error::NoSuchRepository(repository.record.name.clone())),
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_always_left_who_can_name_others() {
        let mut owners = Owners::default();
        owners.change("mira", OwnerChange::Add(Role::Owner)).unwrap();
        assert!(matches!(owners.clone().change("mira", OwnerChange::Remove), Err(Error::LastOwner)));
        assert!(matches!(owners.clone().change("mira", OwnerChange::Become(Role::Maintainer)), Err(Error::LastOwner)));
        owners.change("olaf", OwnerChange::Add(Role::Maintainer)).unwrap();
        assert!(matches!(owners.clone().change("mira", OwnerChange::Remove), Err(Error::LastOwner)));
        assert!(matches!(owners.clone().change("olaf", OwnerChange::Add(Role::Owner)), Err(Error::OwnerAlready(_))));
        assert!(matches!(owners.clone().change("nobody", OwnerChange::Remove), Err(Error::NoSuchOwner)));
        owners.change("olaf", OwnerChange::Become(Role::Owner)).unwrap();
        owners.change("mira", OwnerChange::Remove).unwrap();
        let again = Owners::read("lamp", owners.facts("lamp").unwrap()).unwrap();
        assert_eq!((again.role("olaf"), again.role("mira")), (Some(Role::Owner), None));
    }
}
