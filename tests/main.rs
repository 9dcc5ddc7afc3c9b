//! The program from outside: the real binary, real clients, the contract on the wire, and the tree itself.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests stop at the first surprise, say what they saw, and stand outside the walls they check"
)]

mod accounts;
mod api;
mod as_of;
mod backup;
mod cleanup;
mod conformance;
mod contents;
mod contract;
mod crash;
mod crowd;
mod debian;
mod dependencies;
mod disk_full;
mod earlier_forms;
mod expect;
mod explain_removals;
mod freshness;
mod fuzzed;
mod gem_and_bundle;
mod gem_commands;
mod gem_groups;
mod gem_upstream;
mod groups;
mod holdings;
mod hooks;
mod hostile;
mod hostile_gems;
mod http2;
mod incidents;
mod info_format;
mod isolation;
mod journal;
mod lifecycle;
mod limits;
mod long_run;
mod loops;
mod manual;
mod marshal;
mod maven_builds;
mod maven_deploys;
mod maven_groups;
mod maven_hosted;
mod maven_import;
mod maven_layout;
mod maven_model;
mod maven_retention;
mod maven_settings;
mod maven_together;
mod migration;
mod misbehaving;
mod model;
mod moved;
mod oldest_index;
mod openapi;
mod origins;
mod origins_imported;
mod overload;
mod owners;
mod pages;
mod passwords;
mod policy;
mod protocols;
mod public_url;
mod raw_hosted;
mod readme;
mod rebuild;
mod refusals;
mod remote;
mod removal;
mod restart;
mod roads;
mod ropes;
mod rows;
mod rules;
mod settings;
mod signin;
mod sinks;
mod soak;
mod specs;
mod spellings;
mod strangers;
mod tidy;
mod tls;
mod tokens;
mod upstream;
mod views;
mod warm;
mod world;
mod year;
