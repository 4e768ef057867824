//! A network as the XML of WoPANets.

use std::collections::BTreeMap;

use laxity::police::TokenBucket;

use crate::network::{Flow, Network, Service};

/// The file.
pub(crate) fn write(network: &Network, notes: &mut Vec<String>) -> String {
    if network.flows.iter().any(|flow| flow.arrival.len() > 1) {
        notes.push(
            "of arrival curves of several lines the file has the one that counts in the long run"
                .into(),
        );
    }
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<elements>\n");
    text +=
        &format!("  <network name=\"{}\" technology=\"FIFO+IS+PK\"/>\n", escaped(&network.name));
    // A node has the service of its first port; every link has its own.
    let mut nodes: BTreeMap<&str, (usize, Option<Service>)> = BTreeMap::new();
    for port in &network.ports {
        for (at, end) in port.ends.iter().enumerate() {
            let next = nodes.len();
            let (_, service) = nodes.entry(end).or_insert((next, None));
            *service = service.or((at == 0).then_some(port.service));
        }
    }
    let mut in_order: Vec<_> = nodes.into_iter().collect();
    in_order.sort_by_key(|(_, (place, _))| *place);
    for (name, (_, service)) in in_order {
        match service {
            Some(service) => {
                text += &format!("  <switch name=\"{}\" {}/>\n", escaped(name), served(&service));
            }
            None => text += &format!("  <station name=\"{}\"/>\n", escaped(name)),
        }
    }
    let mut used: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, port) in network.ports.iter().enumerate() {
        let [from, to] = &port.ends;
        let at = used.entry(from).or_default();
        text += &format!(
            "  <link name=\"lk{number}\" from=\"{}\" to=\"{}\" fromPort=\"o{at}\" toPort=\"i{number}\" {}/>\n",
            escaped(from),
            escaped(to),
            served(&port.service)
        );
        *at += 1;
    }
    for flow in &network.flows {
        let nodes = network.nodes(flow);
        text += &format!(
            "  <flow name=\"{}\" source=\"{}\" {}>\n    <target name=\"p0\">\n",
            escaped(&flow.name),
            escaped(nodes.first().copied().unwrap_or_default()),
            sent(flow)
        );
        for node in nodes.iter().skip(1) {
            text += &format!("      <path node=\"{}\"/>\n", escaped(node));
        }
        text += "    </target>\n  </flow>\n";
    }
    text + "</elements>\n"
}

fn served(Service { rate, latency, peak }: &Service) -> String {
    format!(
        "service-rate=\"{}bps\" service-latency=\"{}ns\" transmission-capacity=\"{}bps\"",
        rate.0, latency.0, peak.0
    )
}

fn sent(flow: &Flow) -> String {
    // The file has room for one line of an arrival curve.
    let line = TokenBucket::slowest(&flow.arrival);
    let mut text = line.map_or(String::new(), |line| {
        format!(
            "arrival-curve=\"leaky-bucket\" lb-burst=\"{}B\" lb-rate=\"{}bps\"",
            line.bucket.0, line.rate.0
        )
    });
    for (key, packet) in
        [("maximum-packet-size", flow.longest), ("minimum-packet-size", flow.shortest)]
    {
        if let Some(packet) = packet {
            text += &format!(" {key}=\"{}B\"", packet.0);
        }
    }
    if let Some(deadline) = flow.deadline {
        let (whole, part) = (deadline.0 / 1_000_000, deadline.0 % 1_000_000);
        text += &format!(" deadline=\"{whole}.{part:06}\"");
    }
    text
}

/// An attribute's text.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '"' => escaped += "&quot;",
            c => escaped.push(c),
        }
    }
    escaped
}
