//! A CSV file of arrivals.

use super::recording::{FILE, SORT, read};
use super::room::Room;
use crate::keys::Key;

pub const ROOM: Room =
    Room { keys: &[&[FILE, SORT, Key::common("path"), Key::common("laps")]], read };
