//! Routers in virtual time, over random networks, traffic and wake-ups.

mod late;
mod network;
mod plans;
mod reload;
mod repeated;
mod unplanned;
