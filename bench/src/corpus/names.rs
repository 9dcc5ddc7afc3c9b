//! Names of gems that do not exist: 4 to 40 characters, 15 on average.

use super::random::Random;
use std::collections::BTreeSet;

const LONGEST: usize = 40;

/// Words of which names consist.
pub(crate) const WORDS: &[&str] = &[
    "amber", "anchor", "apple", "arrow", "atlas", "autumn", "badge", "basket", "beacon", "birch", "bolt", "bottle",
    "bridge", "bright", "bucket", "button", "cabin", "camel", "candle", "canvas", "castle", "cedar", "chain", "chalk",
    "cinder", "circle", "clay", "cloud", "clover", "coal", "comet", "copper", "coral", "cotton", "crane", "crystal",
    "dagger", "daisy", "dawn", "delta", "desert", "diamond", "dragon", "drift", "dune", "eagle", "echo", "ember",
    "engine", "fable", "falcon", "feather", "fern", "field", "flame", "flint", "forest", "fossil", "fox", "frost",
    "garden", "glacier", "glass", "globe", "grain", "granite", "grove", "harbor", "hazel", "heron", "honey", "horizon",
    "island", "ivory", "jade", "jasper", "jungle", "kettle", "key", "kite", "ladder", "lagoon", "lamp", "lantern",
    "lark", "lava", "leaf", "lemon", "linen", "lotus", "magnet", "maple", "marble", "meadow", "mesa", "meteor", "mint",
    "mirror", "mist", "moon", "moss", "mountain", "needle", "nickel", "night", "north", "oak", "oasis", "ocean",
    "olive", "onyx", "orbit", "orchid", "otter", "owl", "paper", "pebble", "pepper", "pine", "planet", "plum", "pond",
    "prairie", "prism", "quartz", "quill", "rain", "raven", "reef", "ridge", "river", "robin", "rocket", "rose",
    "saddle", "sage", "sail", "salt", "sand", "shadow", "shell", "silk", "silver", "slate", "snow", "spark", "spruce",
    "star", "steam", "stone", "storm", "stream", "summit", "sun", "swan", "tea", "thistle", "thunder", "tide", "tiger",
    "timber", "torch", "tower", "trail", "tulip", "tundra", "umbra", "valley", "velvet", "violet", "walnut", "wave",
    "wheat", "whale", "willow", "wind", "winter", "wolf", "wood", "yarn", "zebra", "zephyr",
];

/// This many names, in byte order, without duplicates.
pub(super) fn make(count: usize, random: &mut Random) -> Vec<String> {
    let mut names = BTreeSet::new();
    while names.len() < count {
        let mut name = String::new();
        let words = random.of(&[1, 2, 2, 2, 3, 3, 3, 3]);
        for word in 0..words {
            if word > 0 {
                name.push_str(random.of(&["-", "-", "_", ""]));
            }
            name.push_str(random.of(WORDS));
        }
        if random.chance(10.0) {
            name.push_str(random.of(&["-rails", "-client", "-api", "_test", "2", "-core", "-cli"]));
        }
        if (4..=LONGEST).contains(&name.len()) {
            names.insert(name);
        }
    }
    names.into_iter().collect()
}
