//! A pcap or pcapng file.

use super::recording::{FILE, SORT, read};
use super::room::Room;
use crate::keys::Key;

pub const ROOM: Room = Room {
    keys: &[&[
        FILE,
        Key::new("match", "which frames take part, such as `udp`. Default all."),
        SORT,
        Key::common("path"),
        Key::common("laps"),
    ]],
    read,
};
