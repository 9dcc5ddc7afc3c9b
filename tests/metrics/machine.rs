//! What the machine did to the server is in its metrics: limits of cgroups, accept queues, threads without a processor, a slow disk.

use super::Samples;
use super::cgroup::Cgroup;
use crate::world::{Connection, FIRST, Gem, Person, World, eventually};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

/// The metrics, once a sample is as expected. Setting the time makes the server take one.
fn sampled(caller: &Person, connection: &mut Connection, expected: impl Fn(&Samples) -> bool) -> Samples {
    let path = format!("/repository/{FIRST}/set_time");
    eventually(|| {
        let moment = b"2026-11-01T12:00:00Z";
        caller.on(connection, "POST", &path, &[("Content-Type", "text/plain")], moment).unwrap().expect(200);
        let page = caller.on(connection, "GET", "/metrics", &[], b"").unwrap().expect(200);
        let samples = Samples::of(page.text());
        if expected(&samples) { Ok(samples) } else { Err(format!("no sample is as expected:\n{}", page.text())) }
    })
}

fn on_new_connection(world: &World, expected: impl Fn(&Samples) -> bool) -> Samples {
    sampled(&world.anon(), &mut world.anon().connect().unwrap(), expected)
}

#[test]
fn the_smallest_limit_of_memory_on_the_way_up_is_told_and_none_outside_of_cgroups() {
    let Some(outer) = Cgroup::make("memory") else {
        return eprintln!("this machine lets the test make no cgroup; unit tests read files of one");
    };
    let inner = outer.inner("memory");
    outer.limit_memory(1 << 30);
    inner.limit_memory(2 << 30);
    let world = World::start_in_conformance(&[]);
    inner.take(world.id());
    let limit = "daylight_cgroup_memory_limit_bytes";
    let told = on_new_connection(&world, |told| told.find(limit) == Some(f64::from(1 << 30)));
    let usage = told.find("daylight_cgroup_memory_usage_bytes").unwrap();
    assert!((0.0..=f64::from(1 << 30)).contains(&usage), "{usage}");
    assert_eq!(told.find("daylight_cgroup_oom_kills_total"), Some(0.0));
    inner.limit_memory(1 << 29);
    on_new_connection(&world, |told| told.find(limit) == Some(f64::from(1 << 29)));
    inner.release(world.id());
    outer.release(world.id());
    on_new_connection(&world, |told| told.find(limit).is_none());
}

#[test]
fn a_server_that_the_quota_of_its_cgroup_stops_says_how_often_and_how_long() {
    let Some(group) = Cgroup::make("cpu") else {
        return eprintln!("this machine lets the test make no cgroup; unit tests read files of one");
    };
    let world = World::start_in_conformance(&[]);
    let limit = "daylight_cgroup_cpu_limit";
    let throttled = |told: &Samples| told.find("daylight_cgroup_cpu_throttled_periods_total");
    assert_eq!(throttled(&on_new_connection(&world, |told| told.find(limit).is_none())), None);
    group.limit_cpu(20_000);
    group.take(world.id());
    let stopped = |told: &Samples| told.find("daylight_cgroup_cpu_throttled_seconds_total");
    // The kernel counts the time of a stop when it ends.
    let told = on_new_connection(&world, |told| throttled(told) > Some(0.0) && stopped(told) > Some(0.0));
    assert_eq!(told.find(limit), Some(0.2));
    assert!(told.find("daylight_cgroup_cpu_periods_total") >= throttled(&told));
    group.release(world.id());
}

#[test]
fn connections_that_nobody_accepts_are_told_as_the_use_of_the_accept_queue() {
    let world = World::start_in_conformance(&[]);
    let queue =
        |figure: &str| format!("daylight_bound_{figure}{{bound=\"accept.queue\",which=\"{}\"}}", world.address());
    let (caller, used, limit) = (world.anon(), queue("used"), queue("limit"));
    let mut connection = caller.connect().unwrap();
    let somaxconn: f64 = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap().trim().parse().unwrap();
    let told = sampled(&caller, &mut connection, |told| told.find(&used) == Some(0.0));
    assert_eq!(told.find(&limit), Some(somaxconn.min(4096.0)));

    // Without a free descriptor the server cannot accept.
    let id = Pid::from_raw(world.id()).unwrap();
    let few = Rlimit { current: Some(3), ..getrlimit(Resource::Nofile) };
    let before = prlimit(Some(id), Resource::Nofile, few).unwrap();
    let waiting: Vec<_> = (0..7).map(|_| TcpStream::connect(world.address()).unwrap()).collect();
    sampled(&caller, &mut connection, |told| told.find(&used) == Some(7.0));
    prlimit(Some(id), Resource::Nofile, before).unwrap();
    let told = sampled(&caller, &mut connection, |told| told.find(&used) == Some(0.0));
    assert_eq!(told.find(&queue("peak")), Some(7.0));
    assert!(
        told.find("daylight_listen_overflows_total").is_some() && told.find("daylight_listen_drops_total").is_some()
    );
    drop(waiting);
}

#[test]
fn a_connection_that_finds_the_accept_queue_full_is_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 2).unwrap();
    let world = World::start_in_conformance_on(listener);
    let queue =
        |figure: &str| format!("daylight_bound_{figure}{{bound=\"accept.queue\",which=\"{}\"}}", world.address());
    let (caller, overflows) = (world.anon(), "daylight_listen_overflows_total");
    let mut connection = caller.connect().unwrap();
    let before = sampled(&caller, &mut connection, |told| told.find(overflows).is_some());
    assert_eq!(before.find(&queue("limit")), Some(2.0));

    let id = Pid::from_raw(world.id()).unwrap();
    let few = Rlimit { current: Some(3), ..getrlimit(Resource::Nofile) };
    let many = prlimit(Some(id), Resource::Nofile, few).unwrap();
    // The kernel accepts one more than the limit. The next connection gets no answer.
    let connect = || TcpStream::connect_timeout(&world.address(), Duration::from_millis(200));
    let waiting: Vec<_> = (0..3).map(|_| connect().unwrap()).collect();
    assert!(connect().is_err());
    // Files of the kernel cannot be opened now: the last figures stay, with their age.
    let told = sampled(&caller, &mut connection, |told| told.find(&queue("used")) == Some(3.0));
    assert!(told.find(overflows).is_some() && told.find("daylight_machine_sample_age_seconds") > Some(0.0));
    prlimit(Some(id), Resource::Nofile, many).unwrap();
    let told = sampled(&caller, &mut connection, |told| told.find(overflows) > before.find(overflows));
    assert!(told.find("daylight_listen_drops_total") > before.find("daylight_listen_drops_total"));
    drop(waiting);
}

/// What the kernel counts for the threads of a name: reads, and nanoseconds without a processor.
fn counted(world: &World, name: &str) -> (f64, f64) {
    let threads = std::fs::read_dir(format!("/proc/{}/task", world.id())).unwrap().map(|thread| thread.unwrap().path());
    let read = |thread: &Path, file: &str| std::fs::read_to_string(thread.join(file)).unwrap();
    let named: Vec<_> = threads.filter(|thread| read(thread, "comm").trim_end() == name).collect();
    assert!(!named.is_empty(), "there is no thread {name}");
    let reads = |thread: &Path| -> f64 {
        let io = read(thread, "io");
        io.lines().find_map(|line| line.strip_prefix("syscr: ")).unwrap().parse().unwrap()
    };
    let starved =
        |thread: &Path| -> f64 { read(thread, "schedstat").split(' ').nth(1).unwrap().parse::<f64>().unwrap() / 1e9 };
    (named.iter().map(|thread| reads(thread)).sum(), named.iter().map(|thread| starved(thread)).sum())
}

#[test]
fn threads_tell_of_the_pages_that_they_read_and_of_the_time_without_a_processor() {
    let world = World::start_in_conformance(&[]);
    for version in 0..20 {
        world.admin().push(FIRST, &Gem::new("lamp", &format!("1.0.{version}"))).expect(200);
        world.anon().get(&format!("/repository/{FIRST}/info/lamp")).expect(200);
    }
    for name in ["truth-reader", "core-0"] {
        let (reads, starved) = counted(&world, name);
        assert!(reads > 0.0, "{name} has read");
        let figure = |figure: &str| format!("daylight_thread_{figure}_total{{thread=\"{name}\"}}");
        let told = on_new_connection(&world, |told| {
            told.find(&figure("reads")) >= Some(reads) && told.find(&figure("starved_seconds")) >= Some(starved)
        });
        let (reads, starved) = counted(&world, name);
        assert!(told.find(&figure("reads")) <= Some(reads) && told.find(&figure("starved_seconds")) <= Some(starved));
        assert!(told.find(&figure("run_seconds")) > Some(0.0) && told.find(&figure("disk_read_bytes")).is_some());
    }
}

#[test]
fn a_disk_that_answers_late_is_seen_without_a_request_that_uses_it() {
    let world = World::start_in_conformance(&[]);
    let count = "daylight_disk_probe_duration_seconds_count";
    let quick = "daylight_disk_probe_duration_seconds_bucket{le=\"0.25\"}";
    on_new_connection(&world, |told| told.find(count) > Some(0.0));
    let slow = world.delay("statfs", 300_000);
    let told = on_new_connection(&world, |told| told.find(count) > told.find(quick));
    assert!(told.find("daylight_disk_probe_duration_seconds_sum") > Some(0.3));
    on_new_connection(&world, |told| told.find("daylight_disk_probe_waiting_seconds") > Some(0.0));
    drop(slow);
    on_new_connection(&world, |told| told.find("daylight_disk_probe_waiting_seconds") == Some(0.0));
}

#[test]
fn pressure_is_told_where_the_kernel_measures_it_and_absent_where_not() {
    let world = World::start_in_conformance(&[]);
    let told = on_new_connection(&world, |told| told.find("daylight_machine_load").is_some());
    for resource in ["cpu", "memory", "io"] {
        let text = std::fs::read_to_string(format!("/proc/pressure/{resource}")).unwrap_or_default();
        for figure in ["seconds_total", "ratio"] {
            let some =
                format!("daylight_pressure_stalled_{figure}{{of=\"machine\",resource=\"{resource}\",tasks=\"some\"}}");
            assert_eq!(told.find(&some).is_some(), text.starts_with("some "), "{some}");
        }
    }
    assert!(told.find("daylight_machine_sample_age_seconds").is_some_and(|age| (0.0..60.0).contains(&age)));
}
