//! Enumerations whose values have names: the same in the store, on the wire and on the screen.

/// Declares an enumeration, with the name of each value beside it.
macro_rules! named {
    (
        $(#[$meta:meta])*
        pub enum $set:ident { $($(#[$about:meta])* $value:ident = $name:literal,)* }
    ) => {
        $(#[$meta])*
        pub enum $set { $($(#[$about])* $value,)* }

        impl $set {
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$value),*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)* }
            }

            /// The value that has exactly this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|it| it.name() == name)
            }
        }
    };
}

pub(crate) use named;
