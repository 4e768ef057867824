//! A network as Saihu's JSON.

use std::collections::HashSet;

use laxity::police::TokenBucket;
use serde_json::{Value, json};

use crate::network::{Flow, Network, Port};

/// The file.
pub(crate) fn write(network: &Network, notes: &mut Vec<String>) -> String {
    if network.flows.iter().any(|flow| flow.deadline.is_some()) {
        notes.push("`end-to-end` is left out: the file has no deadlines".into());
    }
    let names = names(&network.ports);
    let flows: Vec<Value> = network.flows.iter().map(|of| flow(of, &names)).collect();
    let servers = network.ports.iter().zip(&names).map(|(port, name)| server(port, name));
    let file = json!({
        "network": {
            "name": network.name,
            "packetizer": true,
            "multiplexing": "FIFO",
            "analysis_option": ["IS"],
            "time_unit": "ns",
            "data_unit": "B",
            "rate_unit": "bps",
        },
        "flows": flows,
        "servers": servers.collect::<Vec<_>>(),
    });
    format!("{file:#}\n")
}

/// The name of each server: its two ends, and a number if that is ambiguous.
fn names(ports: &[Port]) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |port: &Port| {
        let plain = port.ends.join("-");
        let numbered = (2..).map(|number| format!("{plain}#{number}"));
        let mut free = std::iter::once(plain.clone()).chain(numbered);
        free.find(|name| taken.insert(name.clone())).unwrap_or(plain)
    };
    ports.iter().map(name).collect()
}

fn flow(flow: &Flow, names: &[String]) -> Value {
    let path: Vec<&String> = flow.ports.iter().map(|&port| &names[port]).collect();
    let all = |of: fn(&TokenBucket) -> u64| flow.arrival.iter().map(of).collect::<Vec<_>>();
    let mut value = json!({
        "name": flow.name,
        "path": path,
        "arrival_curve": {
            "bursts": all(|line| line.bucket.0),
            "rates": all(|line| line.rate.0),
        },
    });
    for (key, packet) in [("max_packet_length", flow.longest), ("min_packet_length", flow.shortest)]
    {
        if let Some(packet) = packet {
            value[key] = packet.0.into();
        }
    }
    value
}

fn server(port: &Port, name: &str) -> Value {
    json!({
        "name": name,
        "service_curve": {
            "latencies": [port.service.latency.0],
            "rates": [port.service.rate.0],
        },
        "capacity": port.service.peak.0,
    })
}
