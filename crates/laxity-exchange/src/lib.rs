//! Networks in the files of other tools: read as plans, and written from plans.
//!
//! | format | whose | what it has |
//! | --- | --- | --- |
//! | [`Format::Saihu`] | Saihu (Tsai, Tabatabaee, Plassart, Le Boudec 2023), and through it xTFA, Panco and DNC | output ports with service curves, and flows, as JSON |
//! | [`Format::Wopanet`] | WoPANets (Mifdaoui, Leydier 2017), xTFA, Saihu | stations, switches and links, and flows, as XML |
//! | [`cnc`] | IEEE 802.1Qcc | streams that users ask a network for, as JSON by its YANG |
//! | [`libreqos`] | LibreQoS | a tree of nodes as JSON, and circuits with their rates as CSV; for H-FSC |
//! | [`router`] | cake, sqm-scripts, qosify, QoSmate | the shaper of an access link |
//! | [`tsnkit`] | tsnkit (Xue et al. 2024) | streams and links, as two CSV files; for time-driven priority |
//! | [`vyos`] | VyOS | traffic policies, as `set` commands or with braces |
//!
//! What a file says and a plan cannot, or the other way round, is refused with its place. What is
//! said in another way, or only matters to the tool, is told in notes.
#![deny(missing_docs)]

pub mod cnc;
mod error;
mod from_plan;
pub mod libreqos;
mod network;
pub mod router;
mod saihu;
#[cfg(test)]
mod tests;
pub mod tsnkit;
mod units;
pub mod vyos;
mod wopanet;

use laxity_plan::Plan;

pub use error::Error;

/// The largest file that is read, in bytes.
pub const LARGEST: usize = 64 << 20;

/// A form of networks of first-in, first-out queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a front end has a word for each")]
pub enum Format {
    /// Saihu's JSON, output-port networks.
    Saihu,
    /// The XML of WoPANets, physical networks.
    Wopanet,
}

/// The result of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The plan, or the file.
    pub text: String,
    /// Notes on what the result expresses differently.
    pub notes: Vec<String>,
}

/// Reads a network in a file as a plan.
///
/// # Errors
/// If the file is not of this format, or says something that a plan cannot.
pub fn import(text: &str, format: Format) -> Result<Conversion, Error> {
    let mut notes = Vec::new();
    let mut network = match format {
        Format::Saihu => saihu::read(text, &mut notes)?,
        Format::Wopanet => wopanet::read(text, &mut notes)?,
    };
    network.round_bursts(&mut notes);
    Ok(Conversion { text: network.plan()?, notes })
}

/// Writes a plan's network as a file.
///
/// # Errors
/// If the plan says something that the format cannot.
pub fn export(plan: &Plan, format: Format) -> Result<Conversion, Error> {
    let mut notes = Vec::new();
    let network = from_plan::network(plan, &mut notes)?;
    let text = match format {
        Format::Saihu => saihu::write(&network, &mut notes),
        Format::Wopanet => wopanet::write(&network, &mut notes),
    };
    Ok(Conversion { text, notes })
}
