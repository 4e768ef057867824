//! Enums whose values have names.

/// Defines an enum without data. Its values are listed in `ALL`, and each has a `name`.
macro_rules! named {
    ($(#[$attribute:meta])* $visibility:vis enum $kind:ident {
        $($(#[$of_value:meta])* $value:ident = $name:literal,)+
    }) => {
        $(#[$attribute])*
        $visibility enum $kind {
            $($(#[$of_value])* $value,)+
        }

        impl $kind {
            /// Every value, in the order of their definition.
            $visibility const ALL: [$kind; [$($name),+].len()] = [$($kind::$value),+];

            /// The word that stands for it in outputs.
            $visibility const fn name(self) -> &'static str {
                match self {
                    $($kind::$value => $name,)+
                }
            }
        }
    };
}
pub(crate) use named;
