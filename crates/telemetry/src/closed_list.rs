//! Closed lists of things that have names: enums whose values are listed, and told by their names.

/// Declares an enum of which each value has a name, with the list of all values.
#[macro_export]
macro_rules! closed_list {
    ($(#[$about:meta])* $visible:vis enum $type:ident { $($(#[$doc:meta])* $name:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visible enum $type { $($(#[$doc])* $name,)* }

        // Not every list is counted.
        const _: usize = $type::COUNT;

        impl $type {
            /// All of them, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The name used in events, metrics, settings and answers.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}
