//! Routers in virtual time, over random networks, traffic and wake-ups.

mod cake;
mod classes;
mod framed_classes;
mod late;
mod network;
mod plans;
mod regulated;
mod regulated_ring;
mod reload;
mod repeated;
mod unplanned;
