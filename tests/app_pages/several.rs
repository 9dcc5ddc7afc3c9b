//! Two memcached: each has its part of the pages, as Dalli distributes them, also while one is dead and after it has come back.

use super::shop::{BROWSER, from_page, front, get};
use crate::front::program::Front;
use crate::world::{Memcached, Rails, await_true, eventually};
use serde_json::json;

const PAGES: usize = 40;

fn target(page: usize) -> String {
    format!("/shoes/{page}")
}

/// Waits until each page has come from the servers, without the application. The one read that tries a dead server finds none.
#[track_caller]
fn await_pages(front: &Front) {
    for page in 0..PAGES {
        eventually(|| {
            let told = get(front, &target(page), &[]);
            let is_page = told.status == 200 && told.header("cache-status") == Some("daylight; hit; detail=page");
            if is_page { Ok(()) } else { Err(format!("{page}: {} {:?}", told.status, told.headers)) }
        });
    }
}

/// The pages that each server has.
fn placed(keys: &[(String, String)], servers: [&Memcached; 2]) -> [Vec<usize>; 2] {
    servers.map(|server| (0..PAGES).filter(|page| server.get(&keys[*page].0).is_some()).collect())
}

#[test]
fn pages_are_found_where_dalli_puts_them_also_while_a_server_is_dead_and_after_it_has_come_back() {
    let (mut first, second) = (Memcached::start(), Memcached::start());
    // One of them has three quarters of the pages.
    let (authorities, urls) =
        ([first.authority(), format!("{}:3", second.authority())], [first.url(), format!("{}?weight=3", second.url())]);
    let mut rails = Rails::start(json!({ "form": 2, "memcached": authorities }));
    let front = front(&rails, &[&urls[0], &urls[1]], "format = \"response_bank\"", &[]);
    for page in 0..PAGES {
        assert_eq!(get(&front, &target(page), &[]).expect(200).header("x-cache"), Some("miss"));
    }
    let targets: Vec<String> = (0..PAGES).map(target).collect();
    let keys = rails.keys(&targets.iter().map(String::as_str).collect::<Vec<_>>(), BROWSER);
    let [on_first, on_second] = placed(&keys, [&first, &second]);
    assert!(on_first.len() + on_second.len() == PAGES && !on_first.is_empty() && on_second.len() > on_first.len());
    rails.stop();
    for page in 0..PAGES {
        from_page(get(&front, &target(page), &[]).expect(200), "page");
    }

    // The pages of a dead server are asked of the one that Dalli takes for it, and written there by the application.
    first.kill();
    rails.resume();
    for page in &on_second {
        from_page(get(&front, &target(*page), &[]).expect(200), "page");
    }
    for page in &on_first {
        assert_eq!(get(&front, &target(*page), &[]).expect(200).header("x-cache"), Some("miss"), "{page}");
    }
    rails.stop();
    await_pages(&front);

    // The server is back, empty. Once both have noticed it, its pages are asked of it and written there.
    rails.resume();
    first.resume();
    await_true("the pages of the server are written to it again", || {
        (0..PAGES).for_each(|page| drop(get(&front, &target(page), &[]).expect(200)));
        placed(&keys, [&first, &second])[0] == on_first
    });
    rails.stop();
    await_pages(&front);
}
