//! The pools of threads.

use super::Figures;
use crate::world::{FIRST, Gem, World};
use telemetry::PoolName;

#[test]
fn a_pool_of_one_thread_is_busy_with_one_job_at_a_time() {
    let world = World::start_with_file(
        "[server]\ncores = 1\nworkers = 1\nback_threads = 1\nfile_threads = 1\n[store]\nreaders = 1\nblob_threads = 1\n",
    );
    let (admin, anon) = (world.admin(), world.anon());
    for number in 0..20 {
        admin.push(FIRST, &Gem::new(&format!("lamp{number}"), "1.0.0").payload(&[7; 100_000])).expect(200);
    }
    std::thread::scope(|threads| {
        for client in 0..4 {
            let anon = &anon;
            threads.spawn(move || {
                for number in (0..20).filter(|number| number % 4 == client) {
                    anon.get(&format!("/repository/{FIRST}/gems/lamp{number}-1.0.0.gem")).expect(200);
                    anon.get(&format!("/repository/{FIRST}/info/lamp{number}")).expect(200);
                }
            });
        }
    });
    let figures = Figures::of(&world);
    let used = [
        (PoolName::TruthReaders, "store.readers"),
        (PoolName::BlobThreads, "store.blob_threads"),
        (PoolName::WorkThreads, "server.workers"),
        (PoolName::TruthWriter, ""),
        (PoolName::CacheThreads, ""),
    ];
    for (pool, setting) in used {
        figures.value(&format!("pool_info{{pool=\"{}\",setting=\"{setting}\"}}", pool.as_str()));
        assert_eq!(figures.pool(pool, "threads"), 1.0, "{pool:?}");
        assert_eq!(figures.pool(pool, "busy_threads_peak"), 1.0, "{pool:?}");
        assert!(figures.pool(pool, "busy_seconds_total") > 0.0, "{pool:?}");
    }
    for pool in [PoolName::Cores, PoolName::Back, PoolName::FileThreads] {
        assert_eq!(figures.pool(pool, "threads"), 1.0, "{pool:?}");
    }
    assert!(figures.pool(PoolName::Cores, "busy_seconds_total") > 0.0);
}
