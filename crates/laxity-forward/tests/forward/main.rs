//! The forwarder as its callers use it, over random plans, traffic and wake-ups.

mod acks;
mod circuits;
mod classes;
mod emulated;
mod hosts;
mod many;
mod replay;
mod theorem;
mod threads;
mod times;
mod why;
mod world;
