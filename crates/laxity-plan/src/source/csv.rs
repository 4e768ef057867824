//! A CSV file of arrivals.

use super::Room;
use super::recording::{FILE, SORT, read};

pub const ROOM: Room = Room { keys: &[&[FILE, SORT]], read };
