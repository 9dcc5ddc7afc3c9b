//! Facts from Maven's super POM.

use std::fs;
use std::process::Command;

/// The URL of the central repository in Maven's super POM, from which all models inherit.
pub(crate) fn public_url() -> String {
    let maven = fs::canonicalize("/usr/bin/mvn").unwrap();
    let jars = fs::read_dir(maven.parent().unwrap().join("../lib")).unwrap();
    let jar = jars
        .map(|jar| jar.unwrap().path())
        .find(|jar| jar.file_name().unwrap().to_str().unwrap().starts_with("maven-model-builder"));
    let model = Command::new("unzip").arg("-p").arg(jar.unwrap()).arg("*/pom-4.0.0.xml").output().unwrap();
    let model = String::from_utf8(model.stdout).unwrap();
    let (_, after) = model.split_once("<url>").unwrap_or_else(|| panic!("no URL in {model}"));
    after.split_once("</url>").unwrap().0.to_owned()
}
