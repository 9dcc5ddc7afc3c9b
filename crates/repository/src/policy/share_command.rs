//! The command that shares a name: upstreams are asked for it although a hosted member has it.

use crate::record::RepositoryRecord;

/// The command that shares a name besides the names that are shared already.
pub(crate) fn share_command(group: &RepositoryRecord, name: &str) -> String {
    let others = group.policy.iter().flat_map(|policy| &policy.shared).map(String::as_str);
    let flags: Vec<String> = others.chain([name]).map(|pattern| format!("--shared {}", quoted(pattern))).collect();
    format!("daylight repo set {} {}", group.name, flags.join(" "))
}

/// A pattern as a shell takes it.
fn quoted(pattern: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".:-_/+@".contains(c);
    if pattern.chars().all(plain) { pattern.to_owned() } else { format!("'{}'", pattern.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::PolicyRecord;

    #[test]
    fn the_command_that_gives_a_name_back_keeps_the_other_shared_names() {
        let mut group = RepositoryRecord::new("all", "maven", store::RepositoryKind::Group, telemetry::Millis(0));
        assert_eq!(share_command(&group, "com.acme:lamp"), "daylight repo set all --shared com.acme:lamp");
        group.policy = Some(Box::new(PolicyRecord { shared: vec!["org.*:oil".to_owned()], ..PolicyRecord::default() }));
        let command = share_command(&group, "com.acme:lamp");
        assert_eq!(command, "daylight repo set all --shared 'org.*:oil' --shared com.acme:lamp");
    }
}
