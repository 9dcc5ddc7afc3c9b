//! A database that cannot be read turns the readiness probe red, and it turns green again when it can.

use crate::world::{FIRST, Gem, World, eventually};

/// Asks until the probe has this status, and returns its text.
fn await_ready(world: &World, status: u16) -> String {
    eventually(|| {
        let answer = world.anon().get("/health/ready");
        let text = answer.text().to_owned();
        if answer.status == status { Ok(text) } else { Err(format!("it stays {}: {text}", answer.status)) }
    })
}

#[test]
fn a_database_that_is_missing_or_damaged_turns_the_readiness_probe_red() {
    let mut world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0")).expect(200);
    // After a stop no page is in the log of the database.
    world.stop();
    world.resume();
    assert_eq!(await_ready(&world, 200), "ready\n");
    let (truth, aside) = (world.data().join("truth.sqlite"), world.data().join("aside"));
    std::fs::rename(&truth, &aside).unwrap();
    let text = await_ready(&world, 503);
    assert_eq!(text, "not ready: the database cannot be read: its file cannot be opened\n");
    std::fs::rename(&aside, &truth).unwrap();
    assert_eq!(await_ready(&world, 200), "ready\n");
    let size = usize::try_from(std::fs::metadata(&truth).unwrap().len()).unwrap();
    std::fs::write(&truth, vec![b'x'; size]).unwrap();
    let text = await_ready(&world, 503);
    assert_eq!(text, "not ready: the database cannot be read: it is damaged\n");
    world.anon().get("/health/live").expect(200);
    world.kill();
}
