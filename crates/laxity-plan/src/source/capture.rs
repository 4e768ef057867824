//! A pcap or pcapng file.

use super::recording::{FILE, SORT, read};
use super::room::{Room, WAY};
use crate::keys::Key;

pub(super) const ROOM: Room = Room {
    keys: &[
        &[FILE, Key::new("match", "which frames take part, such as `udp`. Default all."), SORT],
        WAY,
    ],
    read,
};
