//! Examples for the help and the manual page of each command. A test reads each as a command line.

use clap::Command;

/// The commands by their names below `daylight`, each with its examples.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("serve", &["daylight serve", "daylight serve --data /var/lib/daylight --listen 0.0.0.0:8080"]),
    (
        "front",
        &[
            "daylight front --to http://127.0.0.1:3000",
            "daylight front --listen 0.0.0.0:8080 -- puma",
            "daylight front --config /etc/daylight-front.toml --check",
        ],
    ),
    (
        "front purge",
        &["daylight front purge app --url /prices", "daylight front purge shop --tag product-7 --tag product-8"],
    ),
    ("init", &["daylight init --data /var/lib/daylight"]),
    ("config show", &["daylight config show", "daylight config show --config /etc/daylight.toml --json"]),
    ("config check", &["daylight config check", "daylight config check --config /etc/daylight.toml --json"]),
    (
        "health",
        &["daylight health --config /etc/daylight/daylight.toml", "daylight health --live --listen 127.0.0.1:8080"],
    ),
    ("repo list", &["daylight repo list", "daylight repo list --json --server https://packages.example"]),
    (
        "repo add",
        &[
            "daylight repo add team-gems --private",
            "daylight repo add central --format maven --remote https://repo.example/maven2",
            "daylight repo add builds --format maven --koji https://koji.example.org/kojihub --koji-files https://koji.example.org/kojifiles --koji-tag 'app-*-released'",
            "daylight repo add all-maven --format maven --member maven-releases --member central",
        ],
    ),
    ("repo show", &["daylight repo show gems"]),
    (
        "repo set",
        &[
            "daylight repo set maven-central --cooldown 7d",
            "daylight repo set gems-private --keep-versions 10 --keep-unused 90d",
            "daylight repo set maven --member maven-releases --member maven-central --preview",
        ],
    ),
    ("repo compact", &["daylight repo compact gems-private"]),
    ("repo accept-index", &["daylight repo accept-index rubygems"]),
    ("repo contents", &["daylight repo contents maven-releases org/example", "daylight repo contents tools --deleted"]),
    ("repo delete", &["daylight repo delete maven-releases org/example/lamp/1.0"]),
    (
        "repo restore",
        &[
            "daylight repo restore maven-releases org/example/lamp/1.0",
            "daylight repo restore team-gems --as former-gems",
        ],
    ),
    ("repo missing", &["daylight repo missing maven-central"]),
    ("repo forget", &["daylight repo forget maven-central org.example:lamp:1.0"]),
    ("repo remove", &["daylight repo remove team-gems"]),
    (
        "policy allow",
        &[
            "daylight policy allow maven-central org.example:lamp:1.2 --why security-fix --until 14d",
            "daylight policy allow gems --lock Gemfile.lock --why locked-before",
        ],
    ),
    ("policy list", &["daylight policy list maven-central"]),
    ("policy withdraw", &["daylight policy withdraw maven-central org.example:lamp:1.2"]),
    ("cleanup", &["daylight cleanup", "daylight cleanup maven-releases --yes"]),
    ("purge", &["daylight purge gems-private acme-lamp:1.0.0 --why contains-a-password"]),
    (
        "token create",
        &[
            "daylight token create ci --scope read,write --repository gems-private --expires 30d",
            "daylight token create laptop --owner ada --scope read",
        ],
    ),
    ("token list", &["daylight token list"]),
    ("token revoke", &["daylight token revoke ci"]),
    ("upstreams", &["daylight upstreams"]),
    ("journal", &["daylight journal --repository gems-private", "daylight journal --since -1h --kind yank,delete"]),
    (
        "explain",
        &[
            "daylight explain maven org/example/lamp/1.0/lamp-1.0.pom",
            "daylight explain gems info/rack --as-of 2026-11-01",
            "daylight explain http://127.0.0.1:8080/repository/gems/info/rack",
        ],
    ),
    ("tail", &["daylight tail", "daylight tail layer=group", "daylight tail --all --out events.jsonl"]),
    ("ask", &["daylight ask count", "daylight ask count by repository, outcome"]),
    ("findings", &["daylight findings", "daylight findings --at -2h..-1h", "daylight findings --state muted,closed"]),
    ("curves", &["daylight curves", "daylight curves pages", "daylight curves pages --with 1GiB"]),
    ("findings mute", &["daylight findings mute disk-fills@disk --why new-disk-on-Monday --until 7d"]),
    ("report", &["daylight report --from -7d --out report.html", "daylight report --from 2026-11-01 --to 2026-12-01"]),
    ("mcp", &["daylight mcp --server https://packages.example"]),
    ("findings unmute", &["daylight findings unmute disk-fills@disk"]),
    ("alerts", &["daylight alerts", "daylight alerts --json"]),
    ("alerts test", &["daylight alerts test", "daylight alerts test night"]),
    ("baseline export", &["daylight baseline export --output before.json", "daylight baseline export --minutes 60"]),
    ("baseline compare", &["daylight baseline compare before.json after.json"]),
    ("sizing", &["daylight sizing", "daylight sizing --from -7d --times 3"]),
    (
        "replay",
        &[
            "daylight replay events.jsonl --against http://127.0.0.1:8081",
            "daylight replay events.jsonl --against https://staging.example --speed 2 --connections 200",
        ],
    ),
    (
        "probe",
        &[
            "daylight probe https://packages.example/repository/maven/org/example/lamp/1.0/lamp-1.0.pom",
            "daylight probe https://packages.example/health/live --count 100 --server http://10.0.0.7:8080",
        ],
    ),
    ("import gems", &["daylight import gems /srv/geminabox/data --into gems-private"]),
    (
        "import maven",
        &[
            "daylight import maven /srv/nexus-export --into maven-releases --dry-run",
            "daylight import maven /srv/nexus-export --into maven-releases --claim com.acme",
        ],
    ),
    ("import raw", &["daylight import raw /srv/files --into tools"]),
    ("export", &["daylight export gems-private /srv/gems", "daylight export maven-releases /srv/maven"]),
    ("settings", &["daylight settings maven > daylight-settings.xml", "daylight settings maven --merge"]),
    ("backup", &["daylight backup /mnt/backup --data /var/lib/daylight"]),
    ("restore", &["daylight restore /mnt/backup --data /var/lib/daylight --verify"]),
    ("check", &["daylight check --data /var/lib/daylight", "daylight check --index gems-private"]),
    ("rebuild", &["daylight rebuild --data /var/lib/daylight"]),
    ("cluster status", &["daylight cluster status"]),
    ("cluster adopt", &["daylight cluster adopt --data /var/lib/daylight --config /etc/daylight/daylight.toml"]),
    (
        "cluster resolve",
        &[
            "daylight cluster resolve --data /var/lib/daylight --config /etc/daylight/daylight.toml",
            "daylight cluster resolve --data /var/lib/daylight --config /etc/daylight/daylight.toml --keep database --yes",
        ],
    ),
    (
        "repair clock",
        &[
            "daylight repair clock --clock-is-right",
            "daylight repair clock --rows-are-right --data /var/lib/daylight --yes",
        ],
    ),
    ("upgrade", &["daylight upgrade --rehearse --data /var/lib/daylight"]),
    (
        "completions",
        &[
            "daylight completions bash > /etc/bash_completion.d/daylight",
            "daylight completions zsh > /usr/local/share/zsh/site-functions/_daylight",
            "daylight completions fish > /etc/fish/completions/daylight.fish",
        ],
    ),
    ("manual", &["daylight manual /usr/local/share/man/man1"]),
];

/// The examples of a command: `repo add`.
pub(super) fn of(command: &str) -> &'static [&'static str] {
    EXAMPLES.iter().find(|(name, _)| *name == command).map_or(&[], |(_, examples)| examples)
}

/// Adds the examples to the help of the command `path` and of those below it.
pub(super) fn attach(mut command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    for name in names {
        let below = format!("{path} {name}");
        command = command.mut_subcommand(name, |command| attach(command, below.trim_start()));
    }
    match of(path) {
        [] => command,
        examples => command.after_help(format!("Examples:\n  {}", examples.join("\n  "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{global_flags, parse};

    fn leaves(command: &Command, path: &str, found: &mut Vec<String>) {
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            leaves(below, format!("{path} {}", below.get_name()).trim_start(), found);
        }
        // One whose subcommand may be left out is a command itself.
        if !command.has_subcommands() || !(path.is_empty() || command.is_subcommand_required_set()) {
            found.push(path.to_owned());
        }
    }

    #[test]
    fn every_command_has_an_example_and_each_example_is_a_command_line_of_it() {
        let mut commands = Vec::new();
        leaves(&global_flags::tree(), "", &mut commands);
        let without: Vec<&String> = commands.iter().filter(|command| of(command).is_empty()).collect();
        assert!(without.is_empty(), "{without:?}");
        let unknown: Vec<_> =
            EXAMPLES.iter().filter(|(name, _)| !commands.iter().any(|command| command == name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        for (command, examples) in EXAMPLES {
            for example in *examples {
                assert!(example.starts_with(&format!("daylight {command}")), "`{example}` is not of `{command}`");
                let line = example.split(" > ").next().unwrap();
                let arguments: Vec<_> = line.split(' ').map(std::ffi::OsString::from).collect();
                let (cli, first) = parse(&arguments).unwrap_or_else(|error| panic!("`{example}`: {error}"));
                cli.flags.check(&first).unwrap_or_else(|error| panic!("`{example}`: {error}"));
            }
        }
    }
}
