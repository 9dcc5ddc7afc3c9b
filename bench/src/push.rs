//! Row 2: pushes until they are acknowledged, and therefore on disk; and the disk's own time as the lower limit.

use crate::gem::Gem;
use crate::process::{Server, said};
use crate::publishes::{Publish, Upload, publish_all};
use crate::spread::Spread;
use anyhow::Result;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

/// The path for pushes.
pub(crate) const PATH: &str = "/repository/gems-private/api/v1/gems";

const ROUNDS: usize = 5;
const PUSHES: usize = 400;
const CONNECTIONS: [usize; 3] = [1, 8, 32];
/// Incompressible bytes of each gem, in addition to a few hundred of metadata.
pub(crate) const PAYLOAD: usize = 10_000;

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Push acknowledged");
    let folder = tempfile::tempdir()?;
    let system = said("stat", &["-f", "-c", "%T", &folder.path().to_string_lossy()])?;
    let daylight = Server::daylight(folder.path(), &[])?;
    println!("gems: {PUSHES} a round of about {PAYLOAD} bytes each, new versions of 20 names; file system {system}");
    println!("\n| {ROUNDS} rounds, median (least to most) | pushes/s | server CPU per push, us | ms per push, p50 |");
    println!("|---|---|---|---|");
    for connections in CONNECTIONS {
        let (mut rate, mut cpu, mut latency) = (Spread::default(), Spread::default(), Spread::default());
        for round in 0..ROUNDS {
            let gems: Vec<Publish> = (0..PUSHES).map(|count| gem(connections, round, count)).collect();
            let before = daylight.cpu_seconds()?;
            let began = Instant::now();
            let times = publish_all(&daylight, &gems, connections)?;
            rate.add(PUSHES as f64 / began.elapsed().as_secs_f64());
            cpu.add((daylight.cpu_seconds()? - before) * 1e6 / PUSHES as f64);
            latency.add(times.median());
        }
        println!("| {connections} connections | {rate} | {cpu} | {latency} |");
    }
    let floor = floor(folder.path())?;
    println!("| the disk without Daylight, in sequence | {:.0} | | {floor} |", 1e3 / floor.median());
    println!(
        "\nThe disk without Daylight: write {PAYLOAD} bytes, sync, rename, sync the folder, append 4096 bytes to a log and sync it."
    );
    Ok(())
}

/// The push of a gem.
pub(crate) fn gem(connections: usize, round: usize, count: usize) -> Publish {
    let seed = (connections * 1_000_000 + round * 10_000 + count) as u64;
    // Each number of connections has its own names, so that every row starts with gems without versions.
    let gem = Gem::new(&format!("lamp{connections}x{}", count % 20), &format!("{connections}.{round}.{count}"));
    let bytes = gem.payload(&noise(seed, PAYLOAD)).bytes();
    Publish(vec![Upload { method: "POST", path: PATH.to_owned(), bytes }])
}

/// Incompressible bytes.
pub(crate) fn noise(seed: u64, length: usize) -> Vec<u8> {
    // A multiplicative generator.
    let mut state = seed | 1;
    let bytes = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    });
    bytes.take(length).collect()
}

/// The disk's time for a push that shares its syncs with no other: milliseconds of each.
fn floor(folder: &Path) -> Result<Spread> {
    let folder = folder.join("floor");
    fs::create_dir(&folder)?;
    let mut log = File::create(folder.join("log"))?;
    let mut times = Spread::default();
    for count in 0..PUSHES {
        let began = Instant::now();
        let (temporary, kept) = (folder.join("temporary"), folder.join(count.to_string()));
        let mut file = File::create(&temporary)?;
        file.write_all(&vec![1; PAYLOAD])?;
        file.sync_data()?;
        fs::rename(&temporary, &kept)?;
        File::open(&folder)?.sync_all()?;
        log.write_all(&[1; 4096])?;
        log.sync_data()?;
        times.add(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}
