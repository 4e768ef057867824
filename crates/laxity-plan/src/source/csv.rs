//! A CSV file of arrivals.

use super::recording::{FILE, SORT, read};
use super::room::Room;

pub const ROOM: Room = Room { keys: &[&[FILE, SORT]], read };
