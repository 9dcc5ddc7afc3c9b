//! What the commands of a page run on: a server, a home, and what the names on the page mean in this test.

use crate::world::World;
use std::any::Any;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Changes something between two blocks, as somebody at another terminal would.
type Step = Box<dyn FnOnce(&mut Stage)>;
/// Returns the problem of a block of some language.
pub(super) type Reader = Box<dyn Fn(&Stage, &str) -> Result<(), String>>;

/// Where the variables of the shell are between two blocks, in the home.
pub(super) const STATE: &str = ".state";
/// Where the calls of programs that stand in are written down, in the home.
pub(super) const CALLS: &str = ".calls";

/// What the commands of a page run on. Its parts are named by a piece of the text of the block that they are for.
pub(super) struct Stage {
    pub(super) world: World,
    /// Where the server was when it last ran: after `world.resume()` it is elsewhere.
    address: String,
    home: TempDir,
    names: Vec<(String, String)>,
    pub(super) before: Vec<(&'static str, Step)>,
    pub(super) answers: Vec<(&'static str, Vec<(String, String)>)>,
    pub(super) failing: Vec<&'static str>,
    pub(super) readers: Vec<(&'static str, Reader)>,
    pub(super) after: Vec<Step>,
    kept: Vec<Box<dyn Any>>,
}

impl Stage {
    /// With this server, for which `http://127.0.0.1:8080` and `http://daylight.example` on the page stand.
    pub(super) fn on(world: World) -> Self {
        let address = world.address().to_string();
        let home = TempDir::new().unwrap();
        // Where there is none, some releases of RubyGems cannot keep their key.
        std::fs::create_dir_all(home.path().join(".local/share")).unwrap();
        let (names, before, answers, failing) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (readers, after, kept) = (Vec::new(), Vec::new(), Vec::new());
        Self { world, address, home, names, before, answers, failing, readers, after, kept }
    }

    /// Text of the page that stands for something of the test.
    pub(super) fn name(mut self, text: &str, means: &str) -> Self {
        self.names.push((text.to_owned(), means.to_owned()));
        self
    }

    /// The same, for something that began while the page is read.
    pub(super) fn rename(&mut self, text: &str, means: &str) {
        self.names.push((text.to_owned(), means.to_owned()));
    }

    /// A folder of the page, which is made below the home.
    pub(super) fn folder(self, path: &str) -> Self {
        let made = self.home.path().join("machine").join(path.trim_start_matches('/'));
        std::fs::create_dir_all(&made).unwrap();
        self.name(path, made.to_str().unwrap())
    }

    /// Replaces `path`, the data folder on the page, by the data folder of the server.
    pub(super) fn data(self, path: &str) -> Self {
        let data = self.world.data();
        self.name(path, data.to_str().unwrap())
    }

    /// Done before the block that has this text.
    pub(super) fn before(mut self, block: &'static str, step: impl FnOnce(&mut Self) + 'static) -> Self {
        self.before.push((block, Box::new(step)));
        self
    }

    /// Done when all blocks have run.
    pub(super) fn after(mut self, step: impl FnOnce(&mut Self) + 'static) -> Self {
        self.after.push(Box::new(step));
        self
    }

    /// The block that has this text runs on a terminal, where each prompt is answered.
    pub(super) fn answers(mut self, block: &'static str, answers: &[(&str, &str)]) -> Self {
        let answers = answers.iter().map(|(prompt, answer)| ((*prompt).to_owned(), (*answer).to_owned())).collect();
        self.answers.push((block, answers));
        self
    }

    /// The last command of the block that has this text must fail: the page shows an error.
    pub(super) fn fails(mut self, block: &'static str) -> Self {
        self.failing.push(block);
        self
    }

    /// What reads the blocks of a language that the runner does not know, or knows less well.
    pub(super) fn reads(
        mut self,
        language: &'static str,
        reader: impl Fn(&Self, &str) -> Result<(), String> + 'static,
    ) -> Self {
        self.readers.push((language, Box::new(reader)));
        self
    }

    /// Holds on to an upstream or another server until the page has run.
    pub(super) fn keep(mut self, thing: impl Any) -> Self {
        self.kept.push(Box::new(thing));
        self
    }

    /// The same, for something that began while the page is read.
    pub(super) fn hold(&mut self, thing: impl Any) {
        self.kept.push(Box::new(thing));
    }

    /// The home folder of the user who follows the page.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// A file of the page, whose path begins in the home or with a folder that the page names.
    pub(super) fn path(&self, of_the_page: &str) -> PathBuf {
        self.home.path().join(self.text(of_the_page))
    }

    /// What a variable of the shell holds after the block before.
    pub(super) fn variable(&self, name: &str) -> String {
        let state = std::fs::read_to_string(self.home().join(STATE)).unwrap();
        let value = state.lines().find_map(|line| line.strip_prefix(&format!("declare -x {name}=\"")));
        value.unwrap_or_else(|| panic!("no variable {name}")).trim_end_matches('"').to_owned()
    }

    /// How the programs that stand in for others were called, a line for each call.
    pub(super) fn calls(&self) -> String {
        std::fs::read_to_string(self.home().join(CALLS)).unwrap_or_default()
    }

    /// Where the server is, or was before it stopped.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Starts the server again after `world.stop()`.
    pub(super) fn resume(&mut self) {
        self.world.resume();
        self.address = self.world.address().to_string();
    }

    /// The commands of the page call another server from here on.
    pub(super) fn call(&mut self, address: &str) {
        address.clone_into(&mut self.address);
    }

    /// A text of the page with what its names mean.
    pub(super) fn text(&self, text: &str) -> String {
        let text = self.names.iter().fold(text.to_owned(), |text, (name, means)| text.replace(name, means));
        let url = format!("http://{}", self.address);
        text.replace("https://daylight.example", &url)
            .replace("http://daylight.example", &url)
            .replace("127.0.0.1:8080", &self.address)
            .replace("daylight_...", crate::world::ADMIN)
    }
}
