//! The families of pools of threads.

use super::page::Page;
use crate::PoolThreads;
use std::sync::Arc;

pub(super) fn write(page: &mut Page, pools: &[Arc<PoolThreads>]) {
    let all: Vec<_> = pools.iter().map(|pool| (pool, pool.read())).collect();
    let doc = "1; the setting that governs the threads of a pool";
    let mut family = page.family("pool_info", "gauge", doc);
    for (pool, _) in &all {
        let setting = pool.name().setting().unwrap_or("");
        family.sample(&[("pool", pool.name().as_str()), ("setting", setting)], 1);
    }
    let mut each = |name: &str, kind: &str, doc: &str, read: &dyn Fn(&PoolThreads, crate::Work) -> f64| {
        let mut family = page.family(name, kind, doc);
        for (pool, work) in &all {
            family.sample(&[("pool", pool.name().as_str())], read(pool, *work));
        }
    };
    each("pool_threads", "gauge", "Threads of a pool", &|pool, _| pool.threads() as f64);
    each("pool_busy_threads", "gauge", "Threads of a pool that work", &|_, work| work.busy as f64);
    let doc = "The largest number of threads of a pool that worked at once";
    each("pool_busy_threads_peak", "gauge", doc, &|pool, _| pool.peak() as f64);
    let doc = "How long the threads of a pool have worked";
    each("pool_busy_seconds_total", "counter", doc, &|_, work| work.nanos as f64 / 1e9);
}
