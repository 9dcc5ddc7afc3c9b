//! Gems built in the process, for tests that need many. The benchmarks use this file too.

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::Write as _;

/// A gem with one file, which defines a module with its version.
#[derive(Debug, Clone)]
pub(crate) struct Gem {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) dependencies: Vec<(String, String)>,
    payload: Vec<u8>,
    platform: String,
    /// The name in its metadata, as YAML, if it differs from its name.
    declared: Option<String>,
    /// What it says about itself, in place of its author, summary, description, licence and home page.
    about: Option<String>,
    /// Pairs of its metadata, and further files.
    pairs: Vec<(String, String)>,
    files: Vec<(String, Vec<u8>)>,
    /// Its file, if it is not built here.
    file: Option<Vec<u8>>,
}

impl Gem {
    /// A gem without dependencies.
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            dependencies: Vec::new(),
            payload: Vec::new(),
            platform: "ruby".to_owned(),
            declared: None,
            about: None,
            pairs: Vec::new(),
            files: Vec::new(),
            file: None,
        }
    }

    /// Adds a runtime dependency; `requirement` as in `~> 1.0`.
    pub(crate) fn needs(mut self, name: &str, requirement: &str) -> Self {
        self.dependencies.push((name.to_owned(), requirement.to_owned()));
        self
    }

    /// Adds these bytes.
    pub(crate) fn payload(mut self, bytes: &[u8]) -> Self {
        self.payload = bytes.to_vec();
        self
    }

    /// Sets the platform.
    #[cfg_attr(not(test), expect(dead_code, reason = "the benchmarks need none"))]
    pub(crate) fn platform(mut self, platform: &str) -> Self {
        self.platform = platform.to_owned();
        self
    }

    /// Sets another name in its metadata.
    pub(crate) fn claims(mut self, name: &str) -> Self {
        self.declared = Some(format!("{name:?}"));
        self
    }

    /// Sets what it says about itself.
    #[cfg_attr(not(test), expect(dead_code, reason = "the benchmarks need none"))]
    pub(crate) fn says(mut self, text: &str) -> Self {
        self.about = Some(format!("{text:?}"));
        self
    }

    /// Adds a pair to its metadata: a link.
    #[cfg_attr(not(test), expect(dead_code, reason = "the benchmarks need none"))]
    pub(crate) fn links(mut self, key: &str, url: &str) -> Self {
        self.pairs.push((key.to_owned(), format!("{url:?}")));
        self
    }

    /// Adds a file to its content.
    #[cfg_attr(not(test), expect(dead_code, reason = "the benchmarks need none"))]
    pub(crate) fn with(mut self, path: &str, bytes: &[u8]) -> Self {
        self.files.push((path.to_owned(), bytes.to_vec()));
        self
    }

    /// Sets its file.
    #[cfg_attr(not(test), expect(dead_code, reason = "the benchmarks need none"))]
    pub(crate) fn made_of(mut self, bytes: Vec<u8>) -> Self {
        self.file = Some(bytes);
        self
    }

    /// Its file name.
    pub(crate) fn file(&self) -> String {
        format!("{}-{}.gem", self.name, self.number())
    }

    /// Its version and platform, in the form of indexes.
    pub(crate) fn number(&self) -> String {
        let platform = if self.platform == "ruby" { String::new() } else { format!("-{}", self.platform) };
        self.version.clone() + &platform
    }

    fn module(&self) -> String {
        let (first, rest) = self.name.split_at(1);
        first.to_uppercase() + rest
    }

    /// Its one file.
    pub(crate) fn code(&self) -> String {
        format!("module {}\n  VERSION = \"{}\"\nend\n", self.module(), self.version)
    }

    /// The .gem file, the same bytes every time.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        if let Some(file) = &self.file {
            return file.clone();
        }
        let (path, code) = (format!("lib/{}.rb", self.name), self.code());
        let more = self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
        let files = [(path.as_str(), code.as_bytes()), ("payload", &self.payload)].into_iter().chain(more);
        let data = gzip(&tar(&files.collect::<Vec<_>>()));
        let metadata = gzip(self.metadata().as_bytes());
        let sums = format!(
            "---\nSHA256:\n  metadata.gz: {}\n  data.tar.gz: {}\n",
            hex(&Sha256::digest(&metadata)),
            hex(&Sha256::digest(&data))
        );
        tar(&[("metadata.gz", &metadata), ("data.tar.gz", &data), ("checksums.yaml.gz", &gzip(sums.as_bytes()))])
    }

    fn metadata(&self) -> String {
        let about = |otherwise: &str| self.about.clone().unwrap_or_else(|| otherwise.to_owned());
        let mut yaml = format!(
            "--- !ruby/object:Gem::Specification\nname: {}\nversion: !ruby/object:Gem::Version\n  version: '{}'\n\
             platform: '{}'\nauthors:\n- {}\nbindir: bin\ncert_chain: []\ndate: 2026-01-01 00:00:00.000000000 Z\n",
            self.declared.as_ref().unwrap_or(&self.name),
            self.version,
            self.platform,
            about("Somebody")
        );
        yaml += if self.dependencies.is_empty() { "dependencies: []\n" } else { "dependencies:\n" };
        for (name, requirement) in &self.dependencies {
            let one = requirement_yaml(requirement, "    ");
            write!(
                yaml,
                "- !ruby/object:Gem::Dependency\n  name: {name}\n  requirement: {one}  type: :runtime\n  \
                 prerelease: false\n  version_requirements: {one}"
            )
            .unwrap();
        }
        let any = requirement_yaml(">= 0", "  ");
        write!(
            yaml,
            "description: {}\nemail:\nexecutables: []\nextensions: []\nextra_rdoc_files: []\nfiles:\n- lib/{}.rb\n\
             homepage: {}\nlicenses:\n- {}\nmetadata:{}\nrequire_paths:\n- lib\nrequired_ruby_version: {any}\
             required_rubygems_version: {any}requirements: []\nrubygems_version: 3.3.15\nspecification_version: 4\n\
             summary: {}\ntest_files: []\n",
            about(""),
            self.name,
            about(""),
            about("MIT"),
            match self.pairs.is_empty() {
                true => " {}".to_owned(),
                false => self.pairs.iter().map(|(key, value)| format!("\n  {key}: {value}")).collect(),
            },
            about("One of many")
        )
        .unwrap();
        yaml
    }
}

fn requirement_yaml(requirement: &str, indent: &str) -> String {
    let (operator, version) = requirement.split_once(' ').unwrap();
    format!(
        "!ruby/object:Gem::Requirement\n{indent}requirements:\n{indent}- - \"{operator}\"\n\
         {indent}  - !ruby/object:Gem::Version\n{indent}    version: '{version}'\n"
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzBuilder::new().mtime(0).write(Vec::new(), Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o444);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
