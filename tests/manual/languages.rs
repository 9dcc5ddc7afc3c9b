//! Reads the blocks of a page that are no commands, each with the program that it is for or with what comes nearest to it.

use super::shims;
use super::stage::Stage;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A project that Maven reads without asking anybody.
const PROJECT: &str = "<modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version><packaging>pom</packaging>";

/// Returns the problem of a block, or an error for an unknown language.
pub(super) fn read(stage: &Stage, language: &str, text: &str) -> Result<(), String> {
    if let Some((_, reader)) = stage.readers.iter().find(|(known, _)| *known == language) {
        return reader(stage, text);
    }
    let file = stage.home().join(format!(".block.{language}"));
    fs::write(&file, text).unwrap();
    match language {
        "toml" => toml(stage, &file, text),
        "json" => serde_json::from_str::<serde_json::Value>(text).map(drop).map_err(|error| error.to_string()),
        "ruby" => said(Command::new("ruby").arg("-c").arg(&file)),
        "yaml" => yaml(stage, text),
        "xml" => maven(stage, text),
        "ini" => sections(text),
        // There is no current Gradle, no sbt and no Clojure on this machine: the test checks that brackets close, and that the repositories exist.
        "kotlin" | "groovy" | "scala" | "clojure" => balanced(text).and_then(|()| repositories(stage, text)),
        "cron" => crontab(text),
        "text" => Err("it is not right below commands that print it; indent text that is not output".to_owned()),
        "" => Err("it has no language: `sh` is run".to_owned()),
        other => Err(format!("nobody reads `{other}`: the page's stage can, with `reads`")),
    }
}

/// It is YAML.
pub(super) fn yaml(stage: &Stage, text: &str) -> Result<(), String> {
    let file = stage.home().join(".block.yaml");
    fs::write(&file, text).unwrap();
    said(Command::new("ruby").args(["-ryaml", "-e", "YAML.load_file(ARGV[0])"]).arg(&file))
}

fn said(command: &mut Command) -> Result<(), String> {
    let output =
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(text.into_owned()) }
}

/// The program knows all settings in it and accepts its applications; where there are repositories, a server starts with them.
fn toml(stage: &Stage, file: &Path, text: &str) -> Result<(), String> {
    let verb: &[&str] = match text {
        _ if text.contains("[[app]]") => &["front", "--check"],
        _ if text.contains("[[repository]]") => &["serve"],
        _ => &["config", "show"],
    };
    said(
        Command::new(shims::daylight(stage.home()))
            .args(verb)
            .arg("--data")
            .arg(stage.home().join(".unused"))
            .arg("--config")
            .arg(file),
    )
}

/// Maven reads it as settings or as (a part of) a project, without a warning.
fn maven(stage: &Stage, text: &str) -> Result<(), String> {
    let text = text.trim().trim_start_matches("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").trim();
    let element: String = text.chars().skip(1).take_while(char::is_ascii_alphanumeric).collect();
    let (settings, project) = match element.as_str() {
        "settings" => (text.to_owned(), format!("<project>{PROJECT}</project>")),
        "servers" | "mirrors" | "profiles" => {
            (format!("<settings>{text}</settings>"), format!("<project>{PROJECT}</project>"))
        }
        "project" => ("<settings/>".to_owned(), text.to_owned()),
        _ => ("<settings/>".to_owned(), format!("<project>{PROJECT}{text}</project>")),
    };
    let folder = stage.home().join(".maven");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.xml"), settings).unwrap();
    fs::write(folder.join("pom.xml"), project).unwrap();
    let output = Command::new("mvn")
        .args(["--batch-mode", "--offline", "--settings", "settings.xml", "validate"])
        .arg(format!("-Dmaven.repo.local={}", folder.join("repository").display()))
        .current_dir(&folder)
        .env("MAVEN_SKIP_RC", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && !said.contains("[WARNING]") { Ok(()) } else { Err(said.into_owned()) }
}

/// A file of systemd's form: sections with `Key=value` lines.
fn sections(text: &str) -> Result<(), String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    let wrong = |line: &&str| !(line.contains('=') || line.starts_with('[') && line.ends_with(']'));
    lines.into_iter().find(wrong).map_or(Ok(()), |line| Err(format!("`{line}` is neither a section nor a setting")))
}

fn balanced(text: &str) -> Result<(), String> {
    for (open, close) in [('{', '}'), ('(', ')'), ('[', ']')] {
        if text.matches(open).count() != text.matches(close).count() {
            return Err(format!("`{open}` and `{close}` do not balance"));
        }
    }
    Ok(())
}

/// Each repository that a text names by the server's URL is there.
pub(super) fn repositories(stage: &Stage, text: &str) -> Result<(), String> {
    let begin = format!("{}/repository/", stage.address());
    let names = text.split(&begin).skip(1);
    for name in names.map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c)).next().unwrap())
    {
        let status = stage.world.admin().get(&format!("/api/v1/repositories/{name}")).status;
        if status != 200 {
            return Err(format!("{status}: there is no repository `{name}`"));
        }
    }
    Ok(())
}

/// Lines of `/etc/cron.d`: five fields, a user, and a command that works.
fn crontab(text: &str) -> Result<(), String> {
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut rest = line;
        for _ in 0..6 {
            (_, rest) = rest.trim_start().split_once(' ').ok_or_else(|| format!("`{line}` has too few fields"))?;
        }
        let program = Path::new(env!("CARGO_BIN_EXE_daylight")).to_str().unwrap();
        let command = rest.trim().replace("\\%", "%").replace("/usr/bin/daylight", program);
        said(Command::new("sh").args(["-c", &command]))?;
    }
    Ok(())
}
