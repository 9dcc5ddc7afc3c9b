//! docs/serving-a-team.md and docs/serving-options.md, run as they are written: systemd as the first process of a machine of its own, Daylight from its package, in the sandbox
//! of its unit, and real web servers in front of it.

use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

#[test]
fn a_team_server_stands_as_the_pages_say_behind_each_web_server() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let (folder, script) = (TempDir::new().unwrap(), |name: &str| tree.join("tests/serving").join(name));
    let (release, said) = (folder.path().join("release"), folder.path().join("said"));
    std::fs::create_dir(&release).unwrap();
    let packed = Command::new(script("package"))
        .args([Path::new(env!("CARGO_BIN_EXE_daylight")), &tree.join("packaging")])
        .arg(env!("CARGO_PKG_VERSION"))
        .arg(&release)
        .output()
        .unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    // Only root makes groups of processes and mounts them.
    let mut command = match rustix::process::geteuid().is_root() {
        true => Command::new(script("machine")),
        false => {
            let mut sudo = Command::new("sudo");
            sudo.arg("-n").arg(script("machine"));
            sudo
        }
    };
    let ran = command
        .arg(&release)
        .arg(script("drive"))
        .arg(&said)
        .args(["serving-a-team", "serving-options"].map(|page| tree.join(format!("docs/{page}.md"))))
        .output()
        .unwrap();
    let printed = std::fs::read_to_string(&said).unwrap_or_default();
    assert!(ran.status.success(), "{printed}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(printed.ends_with("done\n"), "{printed}");
}
