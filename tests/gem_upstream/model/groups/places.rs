//! The repositories, and the possible members of groups.

use std::ops::Range;

pub(super) const CALLED: [&str; 6] = ["private", "paid", "far", "near", "inner", "outer"];
pub(super) const HOSTED: Range<usize> = 0..2;
pub(super) const REMOTE: Range<usize> = 2..4;
pub(super) const GROUPS: Range<usize> = 4..6;
/// The number of layouts of each group.
pub(super) const CHOICES: usize = 7;
pub(super) const LAYOUTS: [[&[usize]; CHOICES]; 2] = [
    [&[3], &[1, 3], &[3, 2], &[2, 3], &[1], &[3, 1, 2], &[2, 1]],
    [&[0, 2, 4], &[0, 2, 3], &[3, 2, 0], &[4, 0, 2], &[0, 4], &[2, 4, 1], &[1, 0, 3, 2]],
];

/// A hosted or remote member of a group.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) leaf: usize,
    /// The groups through which it is seen.
    pub(super) way: Vec<usize>,
    /// Since when it has had its place.
    pub(super) stands: i64,
}

impl Place {
    pub(super) fn is_hosted(&self) -> bool {
        HOSTED.contains(&self.leaf)
    }
}

impl super::Trial<'_> {
    /// The hosted and remote members of a group in order, each at its first place.
    pub(super) fn places(&self, group: usize) -> Vec<Place> {
        let mut places = Vec::new();
        self.gather(group, &[], i64::MIN, &mut Vec::new(), &mut places);
        places
    }

    fn gather(&self, group: usize, way: &[usize], since: i64, met: &mut Vec<usize>, places: &mut Vec<Place>) {
        let (which, way) = (group - GROUPS.start, [way, &[group]].concat());
        for (at, member) in LAYOUTS[which][self.layouts[which]].iter().enumerate() {
            let stands = since.max(self.stands[which][at]);
            match GROUPS.contains(member) {
                true => self.gather(*member, &way, stands, met, places),
                false if met.contains(member) => {}
                false => {
                    met.push(*member);
                    places.push(Place { leaf: *member, way: way.clone(), stands });
                }
            }
        }
    }
}
