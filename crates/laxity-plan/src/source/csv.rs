//! A CSV file of arrivals.

use super::Room;
use super::recording::{FILE, SORT, read};
use crate::keys::Key;

pub const ROOM: Room =
    Room { keys: &[&[FILE, SORT, Key::common("path"), Key::common("laps")]], read };
