//! Checks the settings of a policy.

use crate::bad_setting::BadSetting;
use crate::format::Format;
use crate::policy::pattern::Pattern;
use crate::policy::prefix::Prefix;
use crate::record::PolicyRecord;
use store::RepositoryKind;

/// Maximum number of patterns, of prefixes, and of exceptions.
const LIST_MAX: usize = 1_000;
/// Maximum cooldown, in seconds: ten years.
const COOLDOWN_MAX_S: u64 = 10 * 366 * 86_400;
/// Maximum length of the reason, in bytes.
const WHY_MAX: usize = 1_000;

/// Refuses invalid settings, and normalises the others. `None`: they hide nothing.
pub(crate) fn settle(
    policy: PolicyRecord,
    kind: RepositoryKind,
    format: Format,
) -> Result<Option<PolicyRecord>, BadSetting> {
    let mut policy = policy;
    for (name, list) in
        [("policy.allow", &policy.allow), ("policy.deny", &policy.deny), ("policy.shared", &policy.shared)]
    {
        few(name, list.len())?;
        list.iter().try_for_each(|text| Pattern::read(name, format, text).map(drop))?;
    }
    few("policy.private_prefixes", policy.private_prefixes.len())?;
    for text in &mut policy.private_prefixes {
        *text = Prefix::read(text, format)?.text().to_owned();
    }
    let about_upstreams =
        [("policy.private_prefixes", policy.private_prefixes.is_empty()), ("policy.shared", policy.shared.is_empty())];
    if let Some((name, _)) = about_upstreams.iter().find(|(_, none)| !none && kind == RepositoryKind::Hosted) {
        let text = format!("`{name}` is about upstreams, and a hosted repository has none");
        return Err(BadSetting::new(text, "set it on the group, or on the remote repository"));
    }
    if policy.cooldown_s.is_some_and(|cooldown| cooldown > COOLDOWN_MAX_S) {
        let text = format!("`policy.cooldown_s` cannot be {}", policy.cooldown_s.unwrap_or_default());
        return Err(BadSetting::new(text, &format!("up to {COOLDOWN_MAX_S} seconds, which is ten years")));
    }
    policy.cooldown_s = policy.cooldown_s.filter(|cooldown| *cooldown > 0);
    few("policy.exceptions", policy.exceptions.len())?;
    for exception in &policy.exceptions {
        Pattern::read("package", format, &exception.package)?;
        let why = &exception.why;
        if why.trim().is_empty() || why.len() > WHY_MAX || why.chars().any(char::is_control) {
            let text = format!(
                "an exception needs a reason, of {WHY_MAX} bytes at most in one line, without control characters"
            );
            return Err(BadSetting::new(text, "say in `why` what the next person needs to know"));
        }
    }
    Ok(Some(policy).filter(|policy| *policy != PolicyRecord::default()))
}

fn few(name: &str, count: usize) -> Result<(), BadSetting> {
    match count {
        ..=LIST_MAX => Ok(()),
        _ => Err(BadSetting::new(
            format!("`{name}` has {LIST_MAX} lines at most, not {count}"),
            "a `*` stands for any text",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::ExceptionRecord;
    use telemetry::Millis;

    fn settle(policy: PolicyRecord, kind: RepositoryKind) -> Result<Option<PolicyRecord>, BadSetting> {
        super::settle(policy, kind, Format::named("maven").unwrap())
    }

    fn prefixes(texts: &[&str]) -> PolicyRecord {
        PolicyRecord {
            private_prefixes: texts.iter().map(|text| (*text).to_owned()).collect(),
            ..PolicyRecord::default()
        }
    }

    #[test]
    fn what_says_nothing_is_no_policy_and_prefixes_lose_their_dots() {
        assert_eq!(settle(PolicyRecord::default(), RepositoryKind::Group).unwrap(), None);
        assert_eq!(
            settle(PolicyRecord { cooldown_s: Some(0), ..PolicyRecord::default() }, RepositoryKind::Group).unwrap(),
            None
        );
        assert_eq!(
            settle(prefixes(&["com.example."]), RepositoryKind::Group).unwrap(),
            Some(prefixes(&["com.example"]))
        );
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_name() {
        let refused = |policy, kind| settle(policy, kind).unwrap_err().to_string();
        assert!(refused(prefixes(&["com.example"]), RepositoryKind::Hosted).contains("a hosted repository has none"));
        let many = PolicyRecord { deny: vec!["a".to_owned(); LIST_MAX + 1], ..PolicyRecord::default() };
        assert!(refused(many, RepositoryKind::Group).starts_with("`policy.deny` has"));
        let long = PolicyRecord { cooldown_s: Some(COOLDOWN_MAX_S + 1), ..PolicyRecord::default() };
        assert!(refused(long, RepositoryKind::Group).starts_with("`policy.cooldown_s`"));
        for why in [" ", "a\u{1b}[2Jb", "two\nlines"] {
            let (package, why) = ("a:b:1".to_owned(), why.to_owned());
            let exception =
                ExceptionRecord { package, why, who: "ops".into(), made: Millis(0), since: None, until: None };
            let silent = PolicyRecord { exceptions: vec![exception], ..PolicyRecord::default() };
            assert!(refused(silent, RepositoryKind::Group).contains("needs a reason"));
        }
    }
}
