//! The forwarder as its callers use it, over random plans, traffic and wake-ups.

mod classes;
mod emulated;
mod hosts;
mod replay;
mod theorem;
mod times;
mod why;
mod world;
