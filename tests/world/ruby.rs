//! The real clients, `gem` and `bundle`, with a home folder of their own and without other sources.

use super::{Client, Gem, Said, write};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A machine with Ruby and without installed gems.
pub(crate) struct Ruby {
    folder: TempDir,
    client: Client,
}

impl Ruby {
    /// A new one with the client of this test run.
    pub(crate) fn new() -> Self {
        Self::with(Client::chosen())
    }

    /// A new one with this machine's own client, for tests that use Ruby itself or other programs of this machine.
    pub(crate) fn here() -> Self {
        Self::with(Client::Here)
    }

    /// A fresh one, with this client.
    pub(crate) fn with(client: Client) -> Self {
        let folder = TempDir::new().unwrap();
        // Without this folder, RubyGems 3.2 cannot store its key.
        std::fs::create_dir_all(folder.path().join(".local/share")).unwrap();
        Self { folder, client }
    }

    /// The version of RubyGems, as comparable numbers: `[4, 0, 22]`.
    pub(crate) fn gem_version(&self) -> Vec<u32> {
        numbers(&self.shell("", "gem --version").good())
    }

    /// Runs a command in a folder, with `key` as the API key.
    pub(crate) fn run(&self, folder: &Path, key: &str, program: &str, arguments: &[&str]) -> Said {
        self.command(folder, key, program, arguments).output().unwrap().into()
    }

    /// A command in a folder of this machine.
    fn command(&self, folder: &Path, key: &str, program: &str, arguments: &[&str]) -> Command {
        let home = self.folder.path();
        let mut command = self.client.command(folder, program);
        command
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .envs(self.client.environment())
            .env("PATH", self.client.path())
            .env("LANG", "C.UTF-8")
            .env("HOME", home)
            .env("GEM_HOME", home.join("gems"))
            .env("GEM_HOST_API_KEY", key)
            .env("BUNDLE_USER_HOME", home.join("bundle"))
            .env("BUNDLE_APP_CONFIG", folder.join(".bundle"))
            .env("BUNDLE_PATH", home.join("installed"))
            .env("BUNDLE_SILENCE_ROOT_WARNING", "1")
            .env("no_proxy", "127.0.0.1");
        command
    }

    /// Builds gems from the installed files of Debian's packages, and returns their files.
    pub(crate) fn debian(&self, names: &[&str]) -> Vec<PathBuf> {
        let (script, folder) = (self.folder.path().join("debian.rb"), self.folder.path().join("debian"));
        write(&script, include_str!("debian.rb"));
        std::fs::create_dir(&folder).unwrap();
        let arguments = [&[script.to_str().unwrap(), folder.to_str().unwrap()], names].concat();
        let built = self.run(self.folder.path(), "", "ruby", &arguments).good();
        built.lines().map(PathBuf::from).collect()
    }

    /// Publishes a file with `gem push`.
    pub(crate) fn push_file(&self, host: &str, key: &str, file: &Path) -> Said {
        self.run(self.folder.path(), key, "gem", &["push", "--host", host, file.to_str().unwrap()])
    }

    /// Its home folder.
    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// Builds a gem with `gem build`.
    pub(crate) fn build(&self, gem: &Gem) -> PathBuf {
        let folder = self.folder.path().join(format!("{}-{}", gem.name, gem.version));
        source(gem, &folder);
        self.run(&folder, "", "gem", &["build", &format!("{}.gemspec", gem.name)]).good();
        folder.join(gem.file())
    }

    /// Runs shell lines up to the first failure, in the home folder.
    pub(crate) fn shell(&self, key: &str, script: &str) -> Said {
        self.run(self.folder.path(), key, "bash", &["-euc", script])
    }

    /// The output of a Ruby script that gets these bytes in the file `ARGV[0]`. RubyGems is loaded.
    #[track_caller]
    pub(crate) fn judge(&self, bytes: &[u8], script: &str) -> String {
        let file = self.folder.path().join("judged");
        std::fs::write(&file, bytes).unwrap();
        self.run(self.folder.path(), "", "ruby", &["-e", script, file.to_str().unwrap()]).good()
    }

    /// Runs a command on a terminal, in the home folder, and answers each prompt as it appears. The client uses only
    /// its own stored key.
    pub(crate) fn asked(&self, command: &[&str], answers: &[(&str, &str)]) -> Said {
        let answers: Vec<[&str; 2]> = answers.iter().map(|(prompt, answer)| [*prompt, *answer]).collect();
        let script = format!(
            "require 'pty'; require 'expect'; $expect_verbose = true; ENV.delete('GEM_HOST_API_KEY')\n\
             out, into, pid = PTY.spawn(*{command:?})\n\
             {answers:?}.each {{ |prompt, answer| out.expect(prompt, 60) or abort(\"no prompt #{{prompt}}\"); into.puts answer }}\n\
             begin; loop {{ print out.readpartial(4096) }}; rescue EOFError, Errno::EIO; end\n\
             Process.wait(pid); exit($?.exitstatus)"
        );
        self.run(self.folder.path(), "", "ruby", &["-e", &script])
    }

    /// Builds a gem, and pushes it on a terminal.
    pub(crate) fn push_asked(&self, host: &str, gem: &Gem, more: &[&str], answers: &[(&str, &str)]) -> Said {
        let file = self.build(gem);
        let command = ["gem", "push", "--host", host, file.to_str().unwrap()];
        self.asked(&[&command[..], more].concat(), answers)
    }

    /// The stored keys of the client.
    pub(crate) fn credentials(&self) -> Option<String> {
        let home = self.folder.path();
        [".gem/credentials", ".local/share/gem/credentials"]
            .iter()
            .find_map(|file| std::fs::read_to_string(home.join(file)).ok())
    }

    /// Installs a gem that was built in the process, without its dependencies.
    pub(crate) fn install_file(&self, gem: &Gem) -> Said {
        let file = self.folder.path().join(gem.file());
        std::fs::write(&file, gem.bytes()).unwrap();
        self.run(self.folder.path(), "", "gem", &["install", "--local", "--force", file.to_str().unwrap()])
    }

    /// Builds a gem and publishes it with `gem push`.
    pub(crate) fn push(&self, host: &str, key: &str, gem: &Gem) -> Said {
        self.push_file(host, key, &self.build(gem))
    }

    /// Publishes any bytes with `gem push`.
    pub(crate) fn push_bytes(&self, host: &str, key: &str, bytes: &[u8]) -> Said {
        let file = self.folder.path().join("pushed.gem");
        std::fs::write(&file, bytes).unwrap();
        self.push_file(host, key, &file)
    }

    /// Yanks a version with `gem yank`.
    pub(crate) fn yank(&self, host: &str, key: &str, name: &str, version: &str) -> Said {
        self.run(self.folder.path(), key, "gem", &["yank", name, "--version", version, "--host", host])
    }

    /// An application in a folder of its own, with these Gemfile lines below its one source.
    pub(crate) fn app(&self, name: &str, source: &str, gems: &str) -> App<'_> {
        let app = App { ruby: self, folder: self.folder.path().join(name) };
        app.gemfile(source, gems);
        app
    }
}

/// An application that uses Bundler.
pub(crate) struct App<'a> {
    ruby: &'a Ruby,
    folder: PathBuf,
}

impl App<'_> {
    /// Writes its Gemfile.
    pub(crate) fn gemfile(&self, source: &str, gems: &str) {
        write(&self.folder.join("Gemfile"), &format!("source \"{source}\"\n{gems}\n"));
    }

    /// Deletes the lock file.
    pub(crate) fn unlock(&self) {
        std::fs::remove_file(self.folder.join("Gemfile.lock")).unwrap();
    }

    /// The lock file.
    pub(crate) fn lock(&self) -> String {
        std::fs::read_to_string(self.folder.join("Gemfile.lock")).unwrap()
    }

    /// Runs `bundle`.
    pub(crate) fn bundle(&self, arguments: &[&str]) -> Said {
        self.ruby.run(&self.folder, "", "bundle", arguments)
    }

    /// Writes one of its files.
    pub(crate) fn file(&self, name: &str, text: &str) {
        write(&self.folder.join(name), text);
    }

    /// Starts Puma with `config.ru`. Returns the process and its address.
    pub(crate) fn serve(&self) -> (Process, SocketAddr) {
        let arguments = ["exec", "puma", "--bind", "tcp://127.0.0.1:0"];
        let mut command = self.ruby.command(&self.folder, "", "bundle", &arguments);
        let mut process = Process(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        let mut said = String::new();
        for line in BufReader::new(process.0.stdout.take().unwrap()).lines().map_while(Result::ok) {
            if let Some((_, address)) = line.split_once("Listening on http://") {
                return (process, address.parse().unwrap());
            }
            said = said + &line + "\n";
        }
        process.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        panic!("it did not start:\n{said}");
    }

    /// Runs a line of Ruby with the application's gems.
    pub(crate) fn ruby(&self, code: &str) -> String {
        self.bundle(&["exec", "ruby", "-e", code]).good()
    }
}

/// The numbers of a version in the last word of a client's output.
fn numbers(said: &str) -> Vec<u32> {
    let version = said.split_whitespace().next_back().unwrap();
    version.split('.').map_while(|number| number.parse().ok()).collect()
}

/// A process. Dropping it ends the process.
pub(crate) struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Writes the sources for `gem build NAME.gemspec`.
fn source(gem: &Gem, folder: &Path) {
    let name = &gem.name;
    write(&folder.join(format!("lib/{name}.rb")), &gem.code());
    let mut spec = format!(
        "Gem::Specification.new do |s|\n  s.name = \"{name}\"\n  s.version = \"{}\"\n  s.summary = \"A test\"\n  \
         s.authors = [\"Somebody\"]\n  s.license = \"MIT\"\n  s.homepage = \"http://localhost/\"\n  \
         s.files = [\"lib/{name}.rb\"]\n",
        gem.version
    );
    for (name, requirement) in &gem.dependencies {
        writeln!(spec, "  s.add_dependency \"{name}\", \"{requirement}\"").unwrap();
    }
    write(&folder.join(format!("{name}.gemspec")), &(spec + "end\n"));
}
