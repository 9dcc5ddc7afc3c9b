//! How many members a group asks, and when: several concurrently if nothing is known, one if its folder is known.

use super::explain::event;
use super::{JAR, Scene, group};
use crate::world::{Answer, Says, Upstream, World};
use std::sync::Arc;
use std::thread::{self, Scope, ScopedJoinHandle};

/// Number of remote members of the group.
const REMOTES: usize = 8;
/// Number of hosted members.
const HOSTED: usize = 12;

/// A server with a group `all` of 20 members, nested two levels deep: hosted ones first, then remote ones. The last
/// remote one has the files.
struct Crowd {
    world: World,
    remotes: Vec<Arc<Upstream>>,
}

impl Crowd {
    fn new(remotes: usize) -> Self {
        Self::of(World::start(), remotes)
    }

    fn of(world: World, remotes: usize) -> Self {
        let crowd = Self { world, remotes: (0..remotes).map(|_| Arc::new(Upstream::start())).collect() };
        let world = &crowd.world;
        let hosted: Vec<String> = (0..HOSTED).map(|number| format!("ours-{number}")).collect();
        let far: Vec<String> = (0..remotes).map(|number| format!("far-{number}")).collect();
        hosted.iter().for_each(|name| world.tree(name, "maven"));
        far.iter().zip(&crowd.remotes).for_each(|(name, upstream)| world.remote(name, &upstream.url()));
        let names = |names: &[String]| names.iter().map(String::as_str).map(str::to_owned).collect::<Vec<_>>();
        let make = |name: &str, members: Vec<String>| {
            group(world, name, &members.iter().map(String::as_str).collect::<Vec<_>>());
        };
        make("innermost", names(&far[remotes / 2..]));
        make("inner", [names(&hosted[6..]), names(&far[..remotes / 2]), vec!["innermost".into()]].concat());
        make("all", [names(&hosted[..6]), vec!["inner".into()]].concat());
        crowd
    }

    fn last(&self) -> &Upstream {
        self.remotes.last().unwrap()
    }

    fn get(&self, path: &str) -> Answer {
        self.world.anon().file("all", path)
    }

    /// Starts a request for it in a thread.
    fn spawn<'a>(&self, threads: &'a Scope<'a, '_>) -> ScopedJoinHandle<'a, Answer> {
        let client = self.world.anon();
        threads.spawn(move || client.file("all", JAR))
    }

    /// The number of requests that all upstreams received together.
    fn asked(&self) -> usize {
        self.remotes.iter().map(|upstream| upstream.asked().len()).sum()
    }

    /// The number of requests for a path.
    fn asked_for(&self, path: &str) -> usize {
        self.remotes.iter().map(|upstream| upstream.count(&format!("/{path}"))).sum()
    }
}

/// A figure of `/metrics`.
fn counted(world: &World, name: &str) -> u64 {
    let metrics = world.anon().get("/metrics").expect(200);
    let line = metrics.text().lines().find_map(|line| line.strip_prefix(&format!("daylight_{name} ")));
    line.unwrap().parse().unwrap()
}

#[test]
fn of_more_than_eight_no_more_than_eight_are_asked_at_once() {
    let crowd = Crowd::new(20);
    let (eight, rest) = crowd.remotes.split_at(8);
    eight.iter().for_each(|upstream| upstream.says(&format!("/{JAR}"), Says::status(404).silent()));
    crowd.last().file(&format!("/{JAR}"), "far");
    thread::scope(|threads| {
        let client = crowd.spawn(threads);
        eight.iter().for_each(|upstream| upstream.await_count(&format!("/{JAR}"), 1));
        assert!(rest.iter().all(|upstream| upstream.asked().is_empty()));
        eight.iter().for_each(|upstream| upstream.release(&format!("/{JAR}")));
        assert_eq!(client.join().unwrap().expect(200).text(), "far");
    });
}

#[test]
fn who_has_a_release_is_asked_alone_for_the_rest_of_it_also_after_a_restart() {
    let mut crowd = Crowd::new(REMOTES);
    let names = ["pom", "jar", "module", "jar.asc"].map(|ending| format!("org/example/lamp/1.0/lamp-1.0.{ending}"));
    for name in &names {
        crowd.last().file(&format!("/{name}"), name.as_str());
    }
    crowd.get(&names[0]).expect(200);
    assert_eq!(crowd.asked_for(&names[0]), REMOTES);
    for (name, restart) in names[1..].iter().zip([false, true, false]) {
        if restart {
            crowd.world.stop();
            crowd.world.resume();
        }
        let (files, asked) =
            (counted(&crowd.world, "group_files_total"), counted(&crowd.world, "group_members_asked_total"));
        assert_eq!(crowd.get(name).expect(200).text(), *name);
        assert_eq!(crowd.asked_for(name), 1, "{name}");
        assert_eq!(counted(&crowd.world, "group_files_total"), files + 1);
        assert_eq!(counted(&crowd.world, "group_members_asked_total"), asked + 1, "{name}: one member");
    }
    assert!(counted(&crowd.world, "group_folders_known_total") > 0);
}

#[test]
fn what_nobody_has_is_asked_for_once_until_that_may_have_changed() {
    let crowd = Crowd::new(REMOTES);
    for _ in 0..3 {
        crowd.get(JAR).expect(404);
        crowd.get(&format!("{JAR}.sha1")).expect(404);
    }
    assert_eq!((crowd.asked_for(JAR), crowd.asked()), (REMOTES, REMOTES), "who lacks a file has no checksum of it");
}

#[test]
fn what_the_one_that_has_a_release_lacks_is_asked_of_the_others_once() {
    let crowd = Crowd::new(REMOTES);
    let (jar, sources) = (JAR, "org/example/lamp/1.0/lamp-1.0-sources.jar");
    crowd.last().file(&format!("/{jar}"), "far");
    crowd.remotes[2].file(&format!("/{sources}"), "others'");
    crowd.get(jar).expect(200);
    for _ in 0..2 {
        assert_eq!(crowd.get(sources).expect(200).text(), "others'");
        // An answer from memory asks no member.
        crowd.get(&format!("{sources}.md5")).expect(200);
    }
    assert!(crowd.remotes.iter().all(|upstream| upstream.count(&format!("/{sources}")) <= 1));
}

#[test]
fn a_hundred_who_ask_at_once_have_each_member_asked_once() {
    let crowd = Crowd::new(REMOTES);
    crowd.last().says(&format!("/{JAR}"), Says::file("far").silent());
    thread::scope(|threads| {
        let clients: Vec<_> = (0..100).map(|_| crowd.spawn(threads)).collect();
        crowd.last().await_count(&format!("/{JAR}"), 1);
        crowd.last().release(&format!("/{JAR}"));
        for client in clients {
            assert_eq!(client.join().unwrap().expect(200).text(), "far");
        }
    });
    assert_eq!(crowd.asked_for(JAR), REMOTES);
}

#[test]
fn under_names_that_begin_as_none_of_theirs_hosted_members_answer_from_memory() {
    let crowd = Crowd::new(1);
    crowd.world.admin().put("ours-11", JAR, b"ours").expect(201);
    let jar = |number: usize| format!("net/far/lamp-{number}/1.0/lamp-{number}-1.0.jar");
    let reads = |number| {
        crowd.last().file(&format!("/{}", jar(number)), "far");
        let told = event(&crowd.world, &crowd.get(&jar(number)).expect(200));
        let hosted = &told["members"].as_array().unwrap()[..HOSTED];
        hosted.iter().filter(|member| !member["ops"]["truth.read"].is_null()).count()
    };
    // The upload has read the other members' folders already, to see whether one of them has the name.
    assert_eq!([1, 2, 3].map(reads), [1, 0, 0]);
    // A file that is published under such a name is visible at once, and the other members are not asked.
    crowd.world.admin().put("ours-3", &jar(4), b"ours").expect(201);
    assert_eq!(crowd.get(&jar(4)).expect(200).text(), "ours");
    assert_eq!([5, 6].map(reads), [1, 1]);
}

#[test]
fn who_is_late_is_heard_all_the_same_and_the_next_need_not_wait() {
    let scene = Scene::new();
    scene.near.says(&format!("/{JAR}"), Says::status(404).silent());
    scene.far.file(&format!("/{JAR}"), "far");
    let pom = "org/example/lamp/1.0/lamp-1.0.pom";
    scene.far.file(&format!("/{pom}"), "pom");
    assert_eq!(scene.get(JAR).expect(200).text(), "far");
    scene.near.release(&format!("/{JAR}"));
    let known = || scene.world.admin().get("/api/v1/repositories/near/not-found").expect(200).text().contains(JAR);
    assert!((0..10_000).any(|_| known()), "what `near` said in the end is not known");
    assert_eq!(scene.get(pom).expect(200).text(), "pom");
    assert_eq!((scene.near.count(&format!("/{JAR}")), scene.near.count(&format!("/{pom}"))), (1, 0));
}
