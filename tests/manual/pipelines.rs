//! Runs the pipelines of docs/ci.md: the one of GitLab with `gitlab-ci-local`, which `scripts/setup test` installs, and the steps of
//! GitHub's as its runner does (docs.github.com, "Workflow syntax", `defaults.run.shell`: `bash -e`).

use super::session::Session;
use super::stage::Stage;
use crate::world::{ADMIN, npm_package};
use serde_json::Value;
use std::fs;

const GEMSPEC: &str = r#"Gem::Specification.new do |s|
  s.name, s.version, s.summary, s.authors, s.files = "acme-house", "VERSION", "House", ["You"], ["lib/acme-house.rb"]
end
"#;
const POM: &str = "<project><modelVersion>4.0.0</modelVersion><packaging>pom</packaging><groupId>com.acme</groupId>\
                   <artifactId>house</artifactId><version>VERSION</version></project>";

/// Runs a pipeline for a tag: it builds a gem and an artifact of a new version, and publishes them.
pub(super) fn run(stage: &Stage, text: &str) -> Result<(), String> {
    let (version, commands) = match text.starts_with("# .gitlab-ci.yml") {
        true => ("1.0.0", gitlab()),
        false => ("1.0.1", github(&steps(stage, text))),
    };
    let project = stage.home().join(version);
    fs::create_dir_all(project.join("lib")).unwrap();
    let write = |name: &str, text: &str| fs::write(project.join(name), text.replace("VERSION", version)).unwrap();
    write("Gemfile", "source \"https://rubygems.org\"\ngem \"lamp\"\n");
    write("acme-house.gemspec", GEMSPEC);
    write("lib/acme-house.rb", "require \"lamp\"\n");
    write("pom.xml", POM);
    write(".gitlab-ci.yml", text);
    let script =
        format!("cd {version}\ngit init --quiet\ngit remote add origin git@git.example:acme/house.git\n{commands}");
    Session::open(stage).run(stage, &script, None).either().map_err(|said| format!("{script}\n{said}"))?;
    for file in ["gems-private/gems/acme-house-V.gem", "maven-releases/com/acme/house/V/house-V.pom"] {
        stage.world.anon().get(&format!("/repository/{}", file.replace('V', version))).expect(200);
    }
    Ok(())
}

fn gitlab() -> String {
    let program = npm_package("pipelines", "gitlab-ci-local/src/index.js");
    format!(
        "git add . && git -c user.name=You -c user.email=you@example.org commit --quiet --message House\n\
         node {} --force-shell-executor --variable DAYLIGHT_TOKEN={ADMIN} --variable CI_COMMIT_TAG=v1",
        program.display()
    )
}

/// The steps of all jobs with their variables, in shell.
fn github(steps: &[String]) -> String {
    steps.iter().map(|step| format!("bash -e <<'STEP'\n{step}\nSTEP\n")).collect()
}

fn steps(stage: &Stage, text: &str) -> Vec<String> {
    let file = stage.home().join(".workflow.yml");
    fs::write(&file, text).unwrap();
    let mut ruby = std::process::Command::new("ruby");
    let read =
        ruby.args(["-ryaml", "-rjson", "-e", "print YAML.load_file(ARGV[0]).to_json"]).arg(&file).output().unwrap();
    let workflow: Value = serde_json::from_slice(&read.stdout).unwrap();
    let jobs = workflow["jobs"].as_object().unwrap().values();
    let steps =
        jobs.flat_map(|job| job["steps"].as_array().unwrap()).filter(|step| step["uses"] != "actions/checkout@v5");
    steps.map(|step| variables(&workflow) + &variables(step) + step["run"].as_str().unwrap()).collect()
}

/// The variables of a workflow or of a step, exported.
fn variables(of: &Value) -> String {
    let all = of["env"].as_object().into_iter().flatten();
    let export = |(name, value): (&String, &Value)| {
        format!("export {name}='{}'\n", value.as_str().unwrap().replace("${{ secrets.DAYLIGHT_TOKEN }}", ADMIN))
    };
    all.map(export).collect()
}
