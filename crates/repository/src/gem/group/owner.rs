//! Whose a name is that several members of a group have. Pure.

use telemetry::Millis;

/// A member of a group that has a name, or had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holder {
    /// Its place among the hosted and remote members.
    pub(crate) place: usize,
    pub(crate) is_hosted: bool,
    /// Since when it stands there, before those behind it.
    pub(crate) stands: Millis,
    /// When it began to have the name; `None`: it always had.
    pub(crate) began: Option<Millis>,
}

impl Holder {
    /// Since when the group has the name from it.
    fn since(&self) -> Millis {
        self.began.unwrap_or(self.stands).max(self.stands)
    }

    /// Whether the group has the name from it because somebody made it a member, and not because it began to have the name.
    fn by_order(&self) -> bool {
        self.began.is_none_or(|began| began <= self.stands)
    }
}

/// The member whose the name is: a hosted one before others; among these the first, but for those that began to have the name when
/// another member of the group had it. Who sets the order of members decides by that; an upstream that lists a name does not.
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
        // Behind the other it would not have it anyway.
        assert_eq!(owner(&[remote(1, 10, Some(50)), remote(0, 10, Some(20))]), Some(0));
    }

    #[test]
    fn whoever_sets_the_members_decides() {
        // The first was moved there later.
        assert_eq!(owner(&[remote(0, 60, Some(50)), remote(1, 10, Some(20))]), Some(0));
        // Another that is added behind takes nothing.
        assert_eq!(owner(&[remote(0, 10, Some(50)), remote(1, 60, Some(20))]), Some(0));
        assert_eq!(owner(&[remote(0, 10, Some(50)), remote(1, 60, None)]), Some(0));
    }
}
