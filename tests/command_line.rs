//! Completions and manual pages, as shells and `man` take them.

use crate::world::program;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn daylight(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder with the completions for a shell in a file of this name.
fn completions(shell: &str, file: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let printed = daylight(&["completions", shell]);
    assert!(printed.status.success() && printed.stderr.is_empty(), "{}", text(&printed.stderr));
    std::fs::write(folder.path().join(file), printed.stdout).unwrap();
    folder
}

/// What a shell prints for a script, with the completions in its folder.
fn shell(program: &str, arguments: &[&str], folder: &Path) -> String {
    let run = Command::new(program).args(arguments).current_dir(folder).env("HOME", folder).output().unwrap();
    assert!(run.status.success() && run.stderr.is_empty(), "{program}: {}", text(&run.stderr));
    text(&run.stdout)
}

#[test]
fn bash_completes_commands_and_the_flags_that_a_command_takes() {
    let folder = completions("bash", "daylight");
    let complete = |words: &str| {
        let script = format!(
            "source ./daylight; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
             _daylight daylight \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        shell("bash", &["--norc", "-c", &script], folder.path())
    };
    assert_eq!(complete("daylight rebu"), "rebuild\n");
    assert_eq!(complete("daylight repo acc"), "accept-index\n");
    assert_eq!(complete("daylight repo list --se"), "--server --server-trust\n");
    assert_eq!(complete("daylight serve --se"), "\n", "`serve` calls no server");
    assert_eq!(complete("daylight completions z"), "zsh\n");
}

#[test]
fn fish_completes_commands_and_zsh_loads_its_script() {
    let folder = completions("fish", "daylight.fish");
    let complete = "source daylight.fish; complete -C 'daylight repo acc'";
    assert!(shell("fish", &["--no-config", "-c", complete], folder.path()).starts_with("accept-index\t"));
    let folder = completions("zsh", "_daylight");
    let load =
        "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; echo $_comps[daylight]; autoload +X _daylight";
    assert_eq!(shell("zsh", &["-f", "-c", load], folder.path()), "_daylight\n");
}

#[test]
fn each_command_has_a_manual_page_that_mandoc_and_man_take_without_a_warning() {
    let folder = TempDir::new().unwrap();
    let pages = folder.path().join("man/man1");
    let written = daylight(&["manual", pages.to_str().unwrap()]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    // Again: pages are replaced.
    assert!(daylight(&["manual", pages.to_str().unwrap(), "--json"]).status.success());
    let names: Vec<String> =
        std::fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for name in ["daylight.1", "daylight-repo.1", "daylight-repo-add.1", "daylight-import-maven.1"] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    assert!(names.iter().all(|name| name.starts_with("daylight") && name.ends_with(".1")), "{names:?}");
    for name in &names {
        let page = pages.join(name);
        let linted = Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&page).output().unwrap();
        assert!(linted.status.success(), "{name}: {}", text(&linted.stdout));
        let shown = Command::new("man").args(["--warnings", "-l"]).arg(&page).env("MANPAGER", "cat").output().unwrap();
        assert!(shown.status.success() && shown.stderr.is_empty(), "{name}: {}", text(&shown.stderr));
    }
    let add = Command::new("mandoc").args(["-T", "utf8"]).arg(pages.join("daylight-repo-add.1")).output().unwrap();
    let add = text(&add.stdout);
    assert!(add.contains("daylight repo add team-gems --private"), "{add}");
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for folder in [&file, &file.join("below")] {
        let refused = daylight(&["manual", folder.to_str().unwrap()]);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        let error = format!("error: cannot write manual pages into `{}`: ", folder.display());
        assert!(said.starts_with(&error) && said.contains("\nhint: "), "{said}");
    }
}
