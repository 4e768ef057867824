//! Numbers that name things, each kind a type of its own.

/// Defines a type that names one thing of a table by its position, a `u32`.
///
/// The type has `index`, the position as a `usize`, and `from_index`, its inverse. `from_index`
/// panics above `u32::MAX`: tables that are read from outside have limits far below.
///
/// ```
/// laxity::id! {
///     /// A port of a switch, numbered from 0.
///     pub struct PortId;
/// }
/// let names = ["east", "west"];
/// assert_eq!(names[PortId(1).index()], "west");
/// assert_eq!(PortId::from_index(1), PortId(1));
/// ```
#[macro_export]
macro_rules! id {
    ($($(#[$attribute:meta])* $visibility:vis struct $name:ident;)+) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(pub u32);

        impl $name {
            /// The position in tables that hold one entry each.
            #[allow(dead_code, reason = "not every number is made and looked up")]
            #[inline]
            $visibility fn index(self) -> usize {
                self.0 as usize
            }

            /// The number of the entry at a position.
            ///
            /// # Panics
            ///
            /// Panics if the position is above `u32::MAX`.
            #[allow(dead_code, reason = "not every number is made and looked up")]
            #[inline]
            $visibility fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("tables are shorter than 2^32"))
            }
        }
    )+};
}
