//! The order of versions, compared with the results of Maven's own class.

use super::*;
use proptest::prelude::*;

/// The results of `ComparableVersion` of Maven 3.8.7 and 3.9.16 for pairs.
const SAID: &str = "
    1 = 1.0                      1 = 1.0.0                  1 = 1-ga                    1 = 1-final
    1 = 1.RELEASE                1 < 1.1                    1-alpha < 1-beta            1-beta < 1-milestone
    1-milestone < 1-rc           1-rc = 1-cr                1-rc < 1-snapshot           1-snapshot < 1
    1 < 1-sp                     1-sp < 1-abc               1-abc < 1-xyz               1-abc < 1-1
    1-1 < 1.1                    1-1 < 1-2                  1.0-alpha-1 = 1.0-alpha1    1.0a1 = 1.0-alpha-1
    1.0m1 = 1.0-milestone1       1.0-a > 1.0-alpha          1.0-alpha-2 < 1.0-alpha-10  1.0-rc1 < 1.0-rc.1
    1.0.RC2 < 1.0-RC3            1.0-RC1 < 1.0-SNAPSHOT     1.10 > 1.9                  01.002 = 1.2
    1.0.0-foo < 1.0.0.1          2.0.1 < 2.0.1-123          2.0.1-xyz < 2.0.1-123       1.0-20260101.120000-1 > 1.0
    1.0-SNAPSHOT < 1.0-20260101.120000-1   1_0 > 1.0        1.foo = 1-foo               1-sp-1 < 1-ga-1
    20190126.230843 < 20190126.230844      12345678901234567890 < 12345678901234567891  1.x > 1.0
    33.0.0-jre > 33.0.0-android  1.0.0.Final < 1.0.0.SP1    4.0.0-rc-4 < 4.0.0-rc-10    1-0.alpha < 1
    1.0.0.X1 < 1.0.0-X2          1.2.3+b1 > 1.2.3           1-0.ga = 1.0                1.0-ALPHA = 1.0-alpha
";

#[test]
fn versions_are_ordered_as_maven_does() {
    let words: Vec<_> = SAID.split_whitespace().collect();
    assert_eq!(words.len(), 3 * 47);
    for row in words.chunks(3) {
        let order = match row[1] {
            "<" => Ordering::Less,
            ">" => Ordering::Greater,
            _ => Ordering::Equal,
        };
        assert_eq!(Version::new(row[0]).cmp(&Version::new(row[2])), order, "{row:?}");
        assert_eq!(Version::new(row[2]).cmp(&Version::new(row[0])), order.reverse(), "{row:?}");
    }
}

#[test]
fn where_mavens_order_goes_in_circles_ours_does_not() {
    for sorted in [["1-0.alpha", "1", "1-sp"], ["1.0.alpha.1", "1", "1.sp.1"], ["1-alpha", "1", "1.sp.1"]] {
        for pair in [[0, 1], [1, 2], [0, 2]] {
            assert!(Version::new(sorted[pair[0]]) < Version::new(sorted[pair[1]]), "{sorted:?} {pair:?}");
        }
    }
}

#[test]
fn odd_versions_have_a_place_too() {
    for text in ["", "-", ".", "..", "--", "-.-", "alpha", "-1", "0-0-1", "\u{130}", "1-\u{e4}", "1\u{661}"] {
        let version = Version::new(text);
        assert_eq!(version.cmp(&version), Ordering::Equal);
        assert_eq!(version.as_str(), text);
    }
    assert!(Version::new("0.0.0-20180101-abc") < Version::new("0.1"));
    assert!(Version::new("alpha") < Version::new("0"));
    let deep = "1-".repeat(100_000);
    assert!(Version::new(&deep) > Version::new("1"));
}

const ANY: &str =
    "([0-9]{1,2}|alpha|a|sp|ga|x|rc|snapshot)([.-]?([0-3]|0|10|alpha|b|m|sp|ga|final|x|rc|snapshot|_)){0,5}[.-]?";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_order_is_total(texts in prop::collection::vec(ANY, 3..8)) {
        let versions: Vec<_> = texts.iter().map(|text| Version::new(text)).collect();
        for a in &versions {
            for b in &versions {
                prop_assert_eq!(a.cmp(b), b.cmp(a).reverse());
                for c in &versions {
                    let holds = !(a <= b && b <= c) || a <= c;
                    prop_assert!(holds, "{} {} {}", a, b, c);
                }
            }
        }
    }

    #[test]
    fn numbers_alone_are_ordered_as_numbers(a in prop::array::uniform3(0u32..), b in prop::array::uniform3(0u32..)) {
        let text = |n: [u32; 3]| Version::new(&format!("{}.{}.{}", n[0], n[1], n[2]));
        prop_assert_eq!(text(a).cmp(&text(b)), a.cmp(&b));
    }

    #[test]
    fn a_snapshot_is_before_its_release(number in "[0-9]{1,2}(\\.[0-9]{1,2}){0,3}") {
        let snapshot = Version::new(&format!("{number}-SNAPSHOT"));
        prop_assert!(snapshot < Version::new(&number));
    }
}
