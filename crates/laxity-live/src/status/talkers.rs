//! Hosts and flows that fill a link.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

/// What hosts and flows sent in the last second, in a direction: the greatest 20 of each, by bytes
/// as the link counts them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct TalkersStatus {
    /// How long that second was.
    pub over_ns: u64,
    /// All bytes that were sent.
    pub bytes: u64,
    /// All packets that were sent.
    pub packets: u64,
    /// Bytes of flows that are not known any more, as there were too many.
    pub unknown_bytes: u64,
    /// Bytes that each host and each flow may have sent beyond what is told: 0 unless there were
    /// too many.
    pub missing_bytes: u64,
    /// The greatest hosts: addresses where frames come from that leave, and where those go that
    /// come back.
    pub hosts: Vec<HostStatus>,
    /// The greatest flows.
    pub flows: Vec<FlowStatus>,
    /// Names of addresses, as far as they were asked for and are known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<IpAddr, String>,
}

impl TalkersStatus {
    /// The rate of some bytes in that second, in bits a second.
    pub fn rate_bps(&self, bytes: u64) -> f64 {
        bytes as f64 * 8e9 / self.over_ns.max(1) as f64
    }

    /// All addresses that are told.
    pub(crate) fn addresses(&self) -> BTreeSet<IpAddr> {
        let ends = self.flows.iter().flat_map(|flow| &flow.ends);
        let ends = ends.flat_map(|ends| [ends.source, ends.destination]);
        self.hosts.iter().map(|host| host.address).chain(ends).collect()
    }

    /// An address, or its name if that is known.
    pub fn host(&self, address: IpAddr) -> String {
        self.names.get(&address).cloned().unwrap_or_else(|| address.to_string())
    }

    /// What a flow is called: its protocol and its ends.
    pub fn flow(&self, flow: &FlowStatus) -> String {
        let Some(ends) = &flow.ends else { return "not IP".into() };
        let end = |address: IpAddr, port: Option<u16>| match (port, self.names.get(&address)) {
            (None, _) => self.host(address),
            (Some(port), None) => SocketAddr::new(address, port).to_string(),
            (Some(port), Some(name)) => format!("{name}:{port}"),
        };
        let source = end(ends.source, ends.source_port);
        let destination = end(ends.destination, ends.destination_port);
        format!("{} {source} → {destination}", ends.protocol)
    }
}

/// What a host sent, or was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct HostStatus {
    /// Its address.
    pub address: IpAddr,
    /// The class of most of its bytes.
    pub class: String,
    /// Its flows.
    pub flows: u64,
    /// Its packets.
    pub packets: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// What was sent of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct FlowStatus {
    /// Whose it is; absent of frames without IP.
    #[serde(flatten)]
    pub ends: Option<EndpointsStatus>,
    /// Its class.
    pub class: String,
    /// Its packets.
    pub packets: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Between whom a flow is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct EndpointsStatus {
    /// The protocol's name in a `match`, or its number.
    pub protocol: String,
    /// The source's address.
    pub source: IpAddr,
    /// Its port, of protocols that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_port: Option<u16>,
    /// The destination's address.
    pub destination: IpAddr,
    /// Its port, of protocols that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_port: Option<u16>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_called_by_their_ends_and_names() {
        let json = r#"{"over_ns":2000000000,"bytes":7,"packets":1,"unknown_bytes":0,"missing_bytes":0,"hosts":[],
            "flows":[{"protocol":"udp","source":"2001:db8::1","source_port":5,"destination":"10.0.0.1",
            "destination_port":53,"class":"call","packets":1,"bytes":7},{"class":"rest","packets":1,"bytes":60}],
            "names":{"10.0.0.1":"gateway"}}"#;
        let talkers: TalkersStatus = serde_json::from_str(json).unwrap();
        let labels: Vec<_> = talkers.flows.iter().map(|flow| talkers.flow(flow)).collect();
        assert_eq!(labels, ["udp [2001:db8::1]:5 → gateway:53", "not IP"]);
        assert_eq!(talkers.rate_bps(1_000), 4_000.0);
        let again = serde_json::to_string(&talkers).unwrap();
        assert_eq!(serde_json::from_str::<TalkersStatus>(&again).unwrap(), talkers);
    }
}
