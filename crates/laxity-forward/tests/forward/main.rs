//! The forwarder as its callers use it, over random plans, traffic and wake-ups.

mod replay;
mod theorem;
mod world;
