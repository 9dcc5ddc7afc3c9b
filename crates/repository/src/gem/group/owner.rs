//! Decides which member of a group owns a name that several members have. Pure.

use telemetry::Millis;

/// A member of a group that has or had a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holder {
    /// Its index among the hosted and remote members.
    pub(crate) place: usize,
    pub(crate) is_hosted: bool,
    /// Since when it has had that place before the members after it.
    pub(crate) stands: Millis,
    /// When it began to have the name; `None`: it always had.
    pub(crate) began: Option<Millis>,
}

impl Holder {
    /// Since when the group has the name from it.
    fn since(&self) -> Millis {
        self.began.unwrap_or(self.stands).max(self.stands)
    }

    /// Whether the group has the name from it because an administrator made it a member, and not because it began to
    /// have the name later.
    fn by_order(&self) -> bool {
        self.began.is_none_or(|began| began <= self.stands)
    }
}

/// The member that owns the name. Hosted members come before remote ones. Among these it is the first in order,
/// ignoring members that began to have the name when another member already had it. So an administrator decides by the
/// order of the members, and an upstream that begins to list a name takes nothing.
pub(crate) fn owner(holders: &[Holder]) -> Option<usize> {
    let hosted = holders.iter().any(|holder| holder.is_hosted);
    let mut holders: Vec<&Holder> = holders.iter().filter(|holder| holder.is_hosted == hosted).collect();
    holders.sort_by_key(|holder| (holder.since(), holder.place));
    let mut owner: Option<&Holder> = None;
    for holder in holders {
        if owner.is_none_or(|owner| holder.by_order() && holder.place < owner.place) {
            owner = Some(holder);
        }
    }
    owner.map(|owner| owner.place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(place: usize, stands: i64, began: Option<i64>) -> Holder {
        Holder { place, is_hosted: false, stands: Millis(stands), began: began.map(Millis) }
    }

    #[test]
    fn a_name_belongs_to_the_first_that_has_it_hosted_ones_first() {
        assert_eq!(owner(&[]), None);
        assert_eq!(owner(&[remote(1, 0, None), remote(0, 0, None)]), Some(0));
        let hosted = Holder { place: 5, is_hosted: true, stands: Millis(0), began: Some(Millis(99)) };
        assert_eq!(owner(&[remote(0, 0, None), hosted]), Some(5));
    }

    #[test]
    fn whoever_begins_to_have_a_name_does_not_take_it_from_another() {
        let (late, early) = (remote(0, 10, Some(50)), remote(1, 10, Some(20)));
        assert_eq!(owner(&[late, early]), Some(1));
        // After the other member it would not own the name anyway.
        assert_eq!(owner(&[remote(1, 10, Some(50)), remote(0, 10, Some(20))]), Some(0));
    }

    #[test]
    fn whoever_sets_the_members_decides() {
        // The first member was moved there later.
        assert_eq!(owner(&[remote(0, 60, Some(50)), remote(1, 10, Some(20))]), Some(0));
        // A member that is added at the end takes no name.
        assert_eq!(owner(&[remote(0, 10, Some(50)), remote(1, 60, Some(20))]), Some(0));
        assert_eq!(owner(&[remote(0, 10, Some(50)), remote(1, 60, None)]), Some(0));
    }
}
