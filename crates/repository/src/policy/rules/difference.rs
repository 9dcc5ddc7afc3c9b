//! Of which packages two sets of rules may say something else.

use crate::policy::rules::{Policy, Rules};
use crate::record::PolicyRecord;
use md5::{Digest as _, Md5};
use std::collections::BTreeSet;

impl Rules {
    /// What tells these rules from others, also those of an earlier start of the server.
    pub(crate) fn fingerprint(&self) -> String {
        let text = |policy: &std::sync::Arc<Policy>| {
            let Policy { repository: _, format, allow, deny, cooldown, exceptions, private, shared } = &**policy;
            format!("{:?}", (format, allow, deny, cooldown, exceptions, private, shared))
        };
        let texts: Vec<String> = self.layers.iter().map(text).collect();
        Md5::digest(texts.join("\n")).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The packages of which others may say something else, where they are few and their patterns name them. `None`: it may be any. A
    /// repository that has no policy hides nothing, as one does with an empty policy.
    pub(crate) fn names_of_difference(&self, other: &Rules) -> Option<BTreeSet<String>> {
        let of = |rules: &Rules| rules.layers.iter().map(|layer| layer.repository.clone()).collect::<BTreeSet<_>>();
        let mut names = BTreeSet::new();
        for repository in of(self).union(&of(other)) {
            let [one, other] = [self, other].map(|rules| rules.layer(repository));
            let nothing = one.or(other).map(|layer| Policy::of(repository, layer.format, &PolicyRecord::default()))?;
            let (one, other) = (one.unwrap_or(&nothing), other.unwrap_or(&nothing));
            // Where nothing is allowed by name, everything is.
            let same = one.format == other.format
                && one.cooldown == other.cooldown
                && one.private == other.private
                && one.allow.is_empty() == other.allow.is_empty();
            if !same {
                return None;
            }
            let lists = [(&one.deny, &other.deny), (&one.allow, &other.allow), (&one.shared, &other.shared)];
            let patterns = lists.into_iter().flat_map(|(one, other)| differing(one, other));
            let exceptions = differing(&one.exceptions, &other.exceptions).map(|(pattern, _)| pattern);
            for pattern in patterns.chain(exceptions) {
                names.insert(pattern.package()?.to_owned());
            }
        }
        Some(names)
    }

    /// The policy of a repository.
    fn layer(&self, repository: &str) -> Option<&Policy> {
        self.layers.iter().find(|layer| layer.repository == repository).map(|layer| &**layer)
    }
}

/// What only one of two lists has.
fn differing<'a, T: PartialEq>(one: &'a [T], other: &'a [T]) -> impl Iterator<Item = &'a T> {
    let only = one.iter().filter(|it| !other.contains(it));
    only.chain(other.iter().filter(|it| !one.contains(it)))
}
