//! The releases of RubyGems and Bundler that are tried: what this machine has, and what other releases of Debian have.
//!
//! JRuby comes from Maven's central repository. `scripts/rubies` unpacks the others into the cache folder, each as a root with its own Ruby. A command runs there with
//! this machine's network with its names, processes and temporary folder, so that its paths are the same as outside.

use super::central::{cache, jruby};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Mounts the necessary folders into the root `$0`, then runs the command `$3...` there, in the folder `$2`.
const ENTER: &str = "root=$0; here=$2
touch \"$root/etc/hosts\"; mount --bind /etc/hosts \"$root/etc/hosts\"
for shown in /dev /proc \"$1\"; do mkdir -p \"$root$shown\"; mount --rbind \"$shown\" \"$root$shown\"; done
shift 2; exec /usr/sbin/chroot \"$root\" env -C \"$here\" \"$@\"";

/// A release of RubyGems with a release of Bundler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    /// `gem` and `bundle` of this machine. Updates of Debian change them, so tests ask for their versions.
    Here,
    /// The oldest Bundler on this machine: an update of Debian's Ruby added a newer one.
    OldestBundler,
    /// RubyGems 3.2 and Bundler 2.2, of Debian 11.
    Bullseye,
    /// RubyGems 3.5 and Bundler 2.5, which Debian 13 has beside its own.
    TrixieRuby,
    /// RubyGems 3.6 and Bundler 2.6, of Debian 13.
    Trixie,
    /// The newest in Debian: 4.0 in November 2026.
    Newest,
    /// RubyGems 3.6 and Bundler 2.6 on Java, which prefer gems for the platform `java`. Each command takes seconds.
    Jruby,
}

impl Client {
    /// All that run on C Ruby from Debian.
    pub(crate) const ALL: [Self; 6] =
        [Self::Here, Self::OldestBundler, Self::Bullseye, Self::TrixieRuby, Self::Trixie, Self::Newest];

    /// The client of tests that need only one: this machine's, or the one that `DAYLIGHT_RUBY` names.
    pub(crate) fn chosen() -> Self {
        let Ok(name) = std::env::var("DAYLIGHT_RUBY") else { return Self::Here };
        Self::ALL
            .into_iter()
            .find(|client| format!("{client:?}") == name)
            .unwrap_or_else(|| panic!("DAYLIGHT_RUBY is none of {:?}", Self::ALL))
    }

    /// The release of Debian that it comes from, if it is not this machine's.
    fn release(self) -> Option<&'static str> {
        match self {
            Self::Here | Self::OldestBundler | Self::Jruby => None,
            Self::Bullseye => Some("bullseye"),
            Self::TrixieRuby | Self::Trixie => Some("trixie"),
            Self::Newest => Some("testing"),
        }
    }

    /// Additional environment variables of its commands.
    pub(super) fn environment(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::OldestBundler => vec![("BUNDLER_VERSION", oldest_bundler())],
            // Ruby searches this folder first, so its own libraries take precedence over Debian's separate packages.
            Self::TrixieRuby => vec![("RUBYLIB", "/usr/lib/ruby/3.3.0"), ("BUNDLER_VERSION", "2.5.22")],
            // This halves the start time, and no command here runs for long.
            Self::Jruby => vec![("JRUBY_OPTS", "--dev")],
            Self::Here | Self::Bullseye | Self::Trixie | Self::Newest => vec![],
        }
    }

    /// The search path of its commands.
    pub(super) fn path(self) -> String {
        let debian = "/usr/local/bin:/usr/bin:/bin";
        if self == Self::Jruby { format!("{}:{debian}", jruby().display()) } else { debian.to_owned() }
    }

    /// A command in a folder, without its arguments.
    pub(super) fn command(self, folder: &Path, program: &str) -> Command {
        let Some(release) = self.release() else { return Command::new(program) };
        let root = cache().join("rubies").join(release);
        assert!(root.exists(), "{} is missing: run `scripts/setup test`", root.display());
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "bash", "-euc", ENTER]);
        command.args([&root, &std::env::temp_dir(), folder]).arg(program);
        command
    }
}

/// The oldest Bundler of this machine.
fn oldest_bundler() -> &'static str {
    static FOUND: OnceLock<String> = OnceLock::new();
    FOUND.get_or_init(|| {
        let code = "puts Gem::Specification.find_all_by_name('bundler').map(&:version).min";
        let found = Command::new("ruby").args(["-e", code]).output().unwrap();
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
        String::from_utf8(found.stdout).unwrap().trim_end().to_owned()
    })
}

/// Makes tests from functions that take a client: `with_each_client!([a_test, another])` makes one for each client, in
/// a module with its name; `with_each_client!([a_test]; here: Here)` for these clients.
macro_rules! with_each_client {
    ($tests:tt) => {
        crate::world::with_each_client!($tests; here: Here, oldest_bundler: OldestBundler, bullseye: Bullseye,
            trixie_ruby: TrixieRuby, trixie: Trixie, newest: Newest);
    };
    ($tests:tt; $($module:ident: $client:ident),+) => { $(crate::world::with_each_client!($module $client $tests);)+ };
    ($module:ident $client:ident [$($test:ident),+ $(,)?]) => {
        mod $module {
            $(#[test] fn $test() { super::$test(crate::world::Client::$client); })+
        }
    };
}
pub(crate) use with_each_client;
