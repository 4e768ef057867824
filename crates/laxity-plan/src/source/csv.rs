//! A CSV file of arrivals.

use super::recording::{FILE, SORT, read};
use super::room::{Room, WAY};

pub(super) const ROOM: Room = Room { keys: &[&[FILE, SORT], WAY], read };
