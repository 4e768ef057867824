//! The XML of WoPANets (Mifdaoui, Leydier 2017), as that tool, xTFA and Saihu write it: stations
//! and switches, links between their ports, and flows from node to node.
//!
//! There are two ways to describe a port. Saihu and xTFA give nodes and links a `service-rate` and
//! a `service-latency`; a node without a rate, such as a source, delays no packet. WoPANets only
//! has the `transmission-capacity` of links, and periodic flows in milliseconds.

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
