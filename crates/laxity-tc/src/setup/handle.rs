//! Numbers of disciplines and classes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a discipline or class: `1:10` is `Handle(0x0001_0010)` (TC_H_MAJ, TC_H_MIN).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Handle(pub u32);

impl Handle {
    /// The parent of a root (TC_H_ROOT).
    pub const ROOT: Handle = Handle(0xffff_ffff);
    /// No discipline and no class (TC_H_UNSPEC).
    pub const NONE: Handle = Handle(0);

    /// The handle with these halves.
    pub const fn new(major: u16, minor: u16) -> Handle {
        Handle((major as u32) << 16 | minor as u32)
    }

    /// The number of the discipline.
    pub const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The number of the class in its discipline; zero for the discipline itself.
    pub const fn minor(self) -> u16 {
        self.0 as u16
    }

    /// Reads two hexadecimal numbers such as `1:10`. Both have to be written.
    pub fn parse(text: &str) -> Option<Handle> {
        let (major, minor) = text.split_once(':')?;
        let half = |text| u16::from_str_radix(text, 16).ok();
        Some(Handle::new(half(major)?, half(minor)?))
    }
}

impl fmt::Display for Handle {
    /// Writes a handle as `tc` reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, self.minor()) {
            (Handle::ROOT, _) => f.write_str("root"),
            (_, 0) => write!(f, "{:x}:", self.major()),
            (_, minor) => write!(f, "{:x}:{minor:x}", self.major()),
        }
    }
}
