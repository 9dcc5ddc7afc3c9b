//! The real client: Maven in several releases, each on a machine of its own with an empty local repository.

use super::{Said, write};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A machine with Maven.
pub(crate) struct Machine {
    folder: TempDir,
    maven: PathBuf,
}

impl Machine {
    /// With the Maven in this folder.
    pub(super) fn new(maven: &Path) -> Self {
        Self { folder: TempDir::new().unwrap(), maven: maven.join("bin/mvn") }
    }

    /// Another one with the same Maven and an empty local repository.
    pub(crate) fn another(&self) -> Self {
        Self { folder: TempDir::new().unwrap(), maven: self.maven.clone() }
    }

    /// Writes settings with this URL of the central repository, and with other repositories by id, which get `secret`.
    pub(crate) fn settings(&self, central: &str, others: &[(&str, &str)], secret: &str) {
        let mut servers = String::new();
        let mut repositories = String::new();
        for (id, url) in others {
            write!(servers, "<server><id>{id}</id><username>ci</username><password>{secret}</password></server>")
                .unwrap();
            let rules =
                "<enabled>true</enabled><updatePolicy>always</updatePolicy><checksumPolicy>fail</checksumPolicy>";
            write!(
                repositories,
                "<KIND><id>{id}</id><url>{url}</url><releases>{rules}</releases><snapshots>{rules}</snapshots></KIND>"
            )
            .unwrap();
        }
        let [ours, plugins] = ["repository", "pluginRepository"].map(|kind| repositories.replace("KIND", kind));
        let text = format!(
            "<settings><mirrors><mirror><id>mirror</id><mirrorOf>central</mirrorOf><url>{central}</url></mirror></mirrors>\
             <servers>{servers}</servers><pluginGroups><pluginGroup>example.lantern</pluginGroup></pluginGroups>\
             <profiles><profile><id>ours</id><repositories>{ours}</repositories>\
             <pluginRepositories>{plugins}</pluginRepositories></profile></profiles>\
             <activeProfiles><activeProfile>ours</activeProfile></activeProfiles></settings>"
        );
        self.saves(&text);
    }

    /// The home folder, with its settings file.
    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// Saves a settings file.
    pub(crate) fn saves(&self, text: &str) {
        write(&self.folder.path().join("settings.xml"), text);
    }

    /// A fresh copy of a project in `tests/projects`, with these values for `@name@`.
    pub(crate) fn project(&self, name: &str, values: &[(&str, &str)]) -> Project<'_> {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/projects").join(name);
        let folder = self.folder.path().join("projects").join(name);
        let _ = fs::remove_dir_all(&folder);
        for (path, bytes) in files(&from) {
            let text = String::from_utf8(bytes).unwrap();
            let text = values.iter().fold(text, |text, (name, value)| text.replace(&format!("@{name}@"), value));
            write(&folder.join(path), &text);
        }
        Project { machine: self, folder }
    }

    /// The path of a file in its local repository.
    pub(crate) fn local(&self, path: &Path) -> PathBuf {
        self.folder.path().join("repository").join(path)
    }

    /// The fetched files: its local repository, without the files that Maven itself writes there.
    pub(crate) fn fetched(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut fetched = files(&self.folder.path().join("repository"));
        fetched.retain(|path, _| {
            let name = path.file_name().unwrap().to_str().unwrap();
            // They contain the time of the build.
            !name.starts_with('_') && !name.ends_with(".lastUpdated") && name != "resolver-status.properties"
        });
        fetched
    }
}

/// A project on a machine.
pub(crate) struct Project<'a> {
    machine: &'a Machine,
    folder: PathBuf,
}

impl Project<'_> {
    /// Runs `mvn`.
    pub(crate) fn maven(&self, arguments: &[&str]) -> Said {
        let home = self.machine.folder.path();
        let mut command = Command::new(&self.machine.maven);
        command
            .args(["--batch-mode", "--no-transfer-progress", "--settings"])
            .arg(home.join("settings.xml"))
            .arg(format!("-Dmaven.repo.local={}", home.join("repository").display()))
            .args(arguments)
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", home)
            .env("MAVEN_SKIP_RC", "1")
            // Java takes the home folder from the system, not from the environment. A build here is too short to be
            // optimised.
            .env("MAVEN_OPTS", format!("-Duser.home={} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC", home.display()));
        command.output().unwrap().into()
    }

    /// The path of one of its files.
    pub(crate) fn file(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    /// The built jars, by path.
    pub(crate) fn jars(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut jars = files(&self.folder);
        jars.retain(|path, _| path.extension().is_some_and(|ending| ending == "jar"));
        jars
    }
}

/// The files below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                files.insert(path.strip_prefix(folder).unwrap().to_owned(), bytes);
            }
        }
    }
    files
}

/// The metadata of `org.example:lamp` with these versions.
pub(crate) fn metadata(versions: &[&str]) -> String {
    let versions: String = versions.iter().map(|version| format!("<version>{version}</version>")).collect();
    format!(
        "<metadata><groupId>org.example</groupId><artifactId>lamp</artifactId><versioning><versions>{versions}</versions>\
         <lastUpdated>20260101000000</lastUpdated></versioning></metadata>"
    )
}
