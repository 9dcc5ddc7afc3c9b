//! The state of a name in the `/versions` of a group: from one hosted member, or from several members.

use crate::content::soonest;
use crate::error::Result;
use crate::gem::indexes::view_log::{Md5OfInfo, ToSay};
use crate::gem::info_lines::info_lines;
use crate::gem::upstream::learned::Learned;
use crate::policy::rules::View;
use crate::repository::Repository;
use crate::visible::{next_change, visible};
use format::gem::info::{md5_hex, render};
use store::Entry;

/// The state of a name in a hosted member with these rows.
pub(crate) fn hosted_says(rows: &[Entry], leaf: &Repository, view: View<'_>) -> Result<ToSay> {
    let until = next_change(rows, view);
    let (lines, _) = info_lines(visible(rows, view), leaf.info_format())?;
    if lines.is_empty() {
        return Ok(ToSay::nothing(until));
    }
    let tokens = lines.iter().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    Ok(ToSay { tokens, md5: Md5OfInfo::Known(md5_hex(&render(&lines))), until })
}

/// The joined state of several members that share a name: each version comes from the first member that has it.
/// `learned` has the MD5s of files that were rendered from such lines.
pub(crate) fn joined(says: Vec<ToSay>, learned: Option<&Learned>) -> Option<ToSay> {
    let many = says.len() > 1;
    let mut says = says.into_iter();
    let mut joined = says.next()?;
    if !many {
        return Some(joined);
    }
    let md5 = |md5: &Md5OfInfo| match md5 {
        Md5OfInfo::Known(md5) | Md5OfInfo::Unknown { basis: md5, .. } => md5.clone(),
    };
    let mut basis = vec![joined.tokens.join(","), md5(&joined.md5)];
    for other in says {
        basis.extend([other.tokens.join(","), md5(&other.md5)]);
        joined.until = soonest(joined.until, other.until);
        for token in other.tokens {
            if !joined.tokens.contains(&token) {
                joined.tokens.push(token);
            }
        }
    }
    if joined.tokens.is_empty() {
        return Some(ToSay::nothing(joined.until));
    }
    let basis = md5_hex(basis.join(" ").as_bytes());
    let known = learned.and_then(|learned| learned.md5(&basis));
    joined.md5 = Md5OfInfo::Unknown { basis, known, likely: None };
    Some(joined)
}
