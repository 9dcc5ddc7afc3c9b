//! Finds the folders of the cgroups that this process is in, of both versions, and those above them.

use crate::machine::kernel_text::{read, read_up_to};
use std::path::{Path, PathBuf};

/// The most levels of nested cgroups that are looked at.
const LEVELS_MAX: usize = 32;
/// The most bytes of the list of mounts that are read.
const MOUNTS_MAX: u64 = 1 << 20;

/// The folders of a cgroup: its own first, then those above it, up to the last one that this process can see.
pub(super) type Levels = Vec<PathBuf>;

/// A cgroup that has a controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cgroup {
    /// In a hierarchy of the controller's own.
    V1(Levels),
    /// In the hierarchy of all controllers.
    V2(Levels),
}

/// The cgroups of this process.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cgroups {
    /// The text of `/proc/self/cgroup` from which they were found.
    found_in: String,
    pub(super) memory: Option<Cgroup>,
    pub(super) cpu: Option<Cgroup>,
    /// The folders of the cgroup of version 2, which alone counts pressure.
    pub(super) unified: Levels,
}

impl Cgroups {
    /// Finds them again if the process was moved to others. `root` is `/` outside of tests.
    pub(super) fn refresh(&mut self, root: &Path) {
        let now = read(&root.join("proc/self/cgroup")).unwrap_or_default();
        if now != self.found_in {
            let mounts = read_up_to(&root.join("proc/self/mountinfo"), MOUNTS_MAX).unwrap_or_default();
            *self = Self::parse(now, &mounts, root);
        }
    }

    fn parse(cgroups: String, mounts: &str, root: &Path) -> Self {
        let (mut memory, mut cpu, mut unified) = (None, None, Levels::new());
        for line in cgroups.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            if controllers.is_empty() {
                unified = mount(mounts, "cgroup2", "").map_or_else(Levels::new, |mount| mount.levels(path, root));
            }
            for (name, found) in [("memory", &mut memory), ("cpu", &mut cpu)] {
                if controllers.split(',').any(|controller| controller == name) {
                    *found = mount(mounts, "cgroup", name).map(|mount| Cgroup::V1(mount.levels(path, root)));
                }
            }
        }
        // A controller is in one hierarchy at a time.
        let or_unified =
            |found: Option<Cgroup>| found.or_else(|| (!unified.is_empty()).then(|| Cgroup::V2(unified.clone())));
        Self { memory: or_unified(memory), cpu: or_unified(cpu), found_in: cgroups, unified }
    }
}

/// A mounted hierarchy.
struct Mount {
    /// The cgroup at the top of the mount. In a container it may be the container's own.
    top: String,
    point: PathBuf,
}

impl Mount {
    fn levels(&self, path: &str, root: &Path) -> Levels {
        let point = root.join(self.point.strip_prefix("/").unwrap_or(&self.point));
        let path = Path::new(path);
        // In a container the top may have another name inside than outside. Then the container's own cgroup is at the mount point.
        let below = path.strip_prefix(&self.top).ok().filter(|below| below.components().all(is_name));
        let own = below.map_or_else(|| point.clone(), |below| point.join(below));
        let all = own.ancestors().take_while(|level| level.starts_with(&point)).take(LEVELS_MAX);
        all.map(Path::to_owned).collect()
    }
}

fn is_name(part: std::path::Component<'_>) -> bool {
    matches!(part, std::path::Component::Normal(_))
}

/// The first mount of a file system of this type. `option`: one of its options, such as the name of a controller.
fn mount(mounts: &str, kind: &str, option: &str) -> Option<Mount> {
    // ID PARENT DEVICE TOP POINT OPTIONS [OPTIONAL...] - TYPE SOURCE OPTIONS
    mounts.lines().find_map(|line| {
        let (place, system) = line.split_once(" - ")?;
        let mut system = system.split(' ');
        let same = system.next()? == kind;
        let options = system.nth(1).unwrap_or_default();
        if !same || !(option.is_empty() || options.split(',').any(|one| one == option)) {
            return None;
        }
        let mut place = place.split(' ').skip(3);
        Some(Mount { top: unescaped(place.next()?), point: PathBuf::from(unescaped(place.next()?)) })
    })
}

/// A field without the octal escapes of blanks and backslashes.
fn unescaped(field: &str) -> String {
    ["\\040", "\\011", "\\012", "\\134"].iter().zip([" ", "\t", "\n", "\\"]).fold(
        field.to_owned(),
        |text, (from, to)| {
            if text.contains(from) { text.replace(from, to) } else { text }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const V1: &str = "22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    const V2: &str =
        "30 24 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    const IN_DOCKER: &str =
        "35 31 0:32 /docker/4f /sys/fs/cgroup/memory ro,relatime master:15 - cgroup cgroup rw,memory\n";

    fn found(cgroups: &str, mounts: &str) -> Cgroups {
        Cgroups::parse(cgroups.to_owned(), mounts, Path::new("/"))
    }

    fn levels(folders: &[&str]) -> Levels {
        folders.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_controller_of_version_1_has_a_hierarchy_of_its_own() {
        let found = found("8:pids:/\n4:memory:/a/b\n2:cpuacct,cpu:/c\n1:name=systemd:/x\n0::/\n", V1);
        let memory = ["/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory"];
        assert_eq!(found.memory, Some(Cgroup::V1(levels(&memory))));
        let cpu = ["/sys/fs/cgroup/cpu,cpuacct/c", "/sys/fs/cgroup/cpu,cpuacct"];
        assert_eq!(found.cpu, Some(Cgroup::V1(levels(&cpu))));
        assert_eq!(found.unified, levels(&["/sys/fs/cgroup/unified"]));
    }

    #[test]
    fn version_2_has_one_hierarchy_for_all_controllers() {
        let found = found("0::/system.slice/daylight.service\n", V2);
        let service = ["/sys/fs/cgroup/system.slice/daylight.service", "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup"];
        assert_eq!(found.unified, levels(&service));
        assert_eq!([&found.memory, &found.cpu], [&Some(Cgroup::V2(levels(&service))); 2]);
    }

    #[test]
    fn in_a_container_the_own_cgroup_is_at_the_mount_point() {
        // With a namespace of cgroups, without one, and with the name that another namespace gives.
        assert_eq!(found("0::/\n", V2).unified, levels(&["/sys/fs/cgroup"]));
        for path in ["/docker/4f", "/../../docker/4f", "/elsewhere"] {
            let own = found(&format!("4:memory:{path}\n"), IN_DOCKER).memory;
            assert_eq!(own, Some(Cgroup::V1(levels(&["/sys/fs/cgroup/memory"]))), "{path}");
        }
        let below = ["/sys/fs/cgroup/memory/inner", "/sys/fs/cgroup/memory"];
        assert_eq!(found("4:memory:/docker/4f/inner\n", IN_DOCKER).memory, Some(Cgroup::V1(levels(&below))));
    }

    #[test]
    fn without_cgroups_or_mounts_there_is_nothing() {
        for (cgroups, mounts) in
            [("", V1), ("4:memory:/a\n0::/\n", ""), ("4:memory\n:\nx", V2), ("4:memory:/", "a - cgroup")]
        {
            let found = found(cgroups, mounts);
            assert_eq!((found.memory, found.cpu, found.unified), (None, None, Levels::new()), "{cgroups:?}");
        }
    }

    #[test]
    fn a_mount_point_may_contain_blanks() {
        let mounts = "1 2 0:1 / /my\\040cgroups\\134 rw - cgroup2 none rw\n";
        assert_eq!(found("0::/a\n", mounts).unified, levels(&["/my cgroups\\/a", "/my cgroups\\"]));
    }

    #[test]
    fn a_process_that_was_moved_has_other_cgroups() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| crate::machine::tests::put(&root.path().join(path), text);
        put("proc/self/mountinfo", V2);
        put("proc/self/cgroup", "0::/a\n");
        let mut cgroups = Cgroups::default();
        cgroups.refresh(root.path());
        assert_eq!(cgroups.unified[0], root.path().join("sys/fs/cgroup/a"));
        put("proc/self/cgroup", "0::/b\n");
        cgroups.refresh(root.path());
        assert_eq!(cgroups.unified[0], root.path().join("sys/fs/cgroup/b"));
    }

    proptest! {
        #[test]
        fn no_text_panics(
            cgroups in "([0-9]{0,2}:(memory|cpu|,){0,3}:[/.a-z]{0,9}\n?){0,4}.*",
            mounts in "([0-9/ \\\\]{0,30} - (cgroup2?|x) (a|b| )(memory|cpu|,){0,3}\n?){0,4}.*",
        ) {
            found(&cgroups, &mounts);
        }
    }
}
