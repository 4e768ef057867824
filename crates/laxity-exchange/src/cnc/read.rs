//! A document as streams.

use std::collections::BTreeSet;

use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Listener, MOST, Requests, Schedule, Stream, Traffic};
use crate::Error;
use crate::error::shown;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "ieee802-dot1q-cnc-config:cnc-config")]
    config: Config,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default)]
    domain: Vec<Domain>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Domain {
    #[serde(rename = "domain-id")]
    _domain_id: String,
    #[serde(rename = "cnc-enabled")]
    _cnc_enabled: Option<bool>,
    #[serde(default)]
    cuc: Vec<User>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct User {
    #[serde(rename = "cuc-id")]
    _cuc_id: String,
    #[serde(default)]
    stream: Vec<StreamRequest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct StreamRequest {
    stream_id: String,
    talker: TalkerGroup,
    #[serde(default)]
    listener: Vec<ListenerGroup>,
    // What an earlier answer said.
    #[serde(rename = "stream-status")]
    _stream_status: Option<IgnoredAny>,
    #[serde(rename = "status-info")]
    _status_info: Option<IgnoredAny>,
    #[serde(rename = "failed-interfaces")]
    _failed_interfaces: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct TalkerGroup {
    stream_rank: Option<Rank>,
    end_station_interfaces: Vec<InterfaceId>,
    #[serde(default)]
    data_frame_specification: Vec<FrameField>,
    traffic_specification: TrafficSpecification,
    #[serde(default)]
    user_to_network_requirements: Requirements,
    #[serde(rename = "interface-capabilities")]
    _capabilities: Option<IgnoredAny>,
    #[serde(rename = "accumulated-latency")]
    _latency: Option<IgnoredAny>,
    #[serde(rename = "interface-configuration")]
    _configuration: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ListenerGroup {
    #[serde(rename = "index")]
    _index: u32,
    end_station_interfaces: Vec<InterfaceId>,
    #[serde(default)]
    user_to_network_requirements: Requirements,
    #[serde(rename = "interface-capabilities")]
    _capabilities: Option<IgnoredAny>,
    #[serde(rename = "accumulated-latency")]
    _latency: Option<IgnoredAny>,
    #[serde(rename = "interface-configuration")]
    _configuration: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rank {
    rank: u8,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct InterfaceId {
    mac_address: String,
    interface_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct FrameField {
    #[serde(rename = "index")]
    _index: u8,
    ieee802_vlan_tag: Option<IgnoredAny>,
    #[serde(rename = "ieee802-mac-addresses")]
    _mac_addresses: Option<IgnoredAny>,
    #[serde(rename = "ipv4-tuple")]
    _ipv4_tuple: Option<IgnoredAny>,
    #[serde(rename = "ipv6-tuple")]
    _ipv6_tuple: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct TrafficSpecification {
    interval: Interval,
    max_frames_per_interval: u16,
    max_frame_size: u16,
    // The talker's shaper: what it promises is in the other leaves.
    #[serde(rename = "transmission-selection")]
    _transmission_selection: Option<u8>,
    time_aware: Option<TimeAware>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Interval {
    numerator: u32,
    denominator: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct TimeAware {
    earliest_transmit_offset: u32,
    latest_transmit_offset: u32,
    #[serde(default)]
    jitter: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Requirements {
    #[serde(default = "one")]
    num_seamless_trees: u8,
    #[serde(default)]
    max_latency: u32,
}

impl Default for Requirements {
    fn default() -> Self {
        Requirements { num_seamless_trees: 1, max_latency: 0 }
    }
}

fn one() -> u8 {
    1
}

/// Reads a document.
pub(super) fn read(text: &str, plan: &Plan) -> Result<Requests, Error> {
    let wrong = |error: serde_json::Error| {
        let place = format!("{}:{}", error.line(), error.column());
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(&*message, |(said, _)| said);
        Error::at(place, long(message))
    };
    let document: Value = serde_json::from_str(text).map_err(wrong)?;
    let Document { config } = serde_json::from_str(text).map_err(wrong)?;
    let nodes = nodes(plan)?;
    let (mut streams, mut listeners) = (Vec::new(), 0);
    for (domain, Domain { cuc, .. }) in config.domain.into_iter().enumerate() {
        for (user, User { stream, .. }) in cuc.into_iter().enumerate() {
            for (number, request) in stream.into_iter().enumerate() {
                let place = [domain, user, number];
                let read = request.stream(place, &nodes)?;
                listeners += read.listeners.len().max(1);
                if listeners > MOST {
                    return Err(Error::new(format!("there are more than {MOST} listeners")));
                }
                streams.push(read);
            }
        }
    }
    Ok(Requests { streams, document })
}

/// A message of the parser, which shows what it was given.
fn long(message: &str) -> String {
    const MOST: usize = 400;
    let clean: String = message.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    clean.chars().take(MOST).collect()
}

fn nodes(plan: &Plan) -> Result<BTreeSet<&str>, Error> {
    let network = plan.network.as_ref().ok_or_else(|| {
        Error::new("streams are for a plan with a [network], whose nodes are their end stations")
    })?;
    Ok(network.nodes.iter().map(|node| node.name.as_str()).collect())
}

impl StreamRequest {
    fn stream(self, place: [usize; 3], nodes: &BTreeSet<&str>) -> Result<Stream, Error> {
        let StreamRequest { stream_id: id, talker, listener, .. } = self;
        let [domain, cuc, number] = place;
        let at = |more: &str| format!("domain[{domain}]/cuc[{cuc}]/stream[{number}]{more}");
        if !is_stream_id(&id) {
            return Err(Error::at(
                at("/stream-id"),
                format!(
                    "`{}` is no identifier of a stream: write the octets of a MAC address and of a number, as in \
                     00-1B-44-11-3A-B7:00-01",
                    shown(&id)
                ),
            ));
        }
        let traffic = talker.traffic(&at)?;
        let TalkerGroup { stream_rank, end_station_interfaces, .. } = talker;
        let rank = stream_rank.map_or(1, |Rank { rank }| rank);
        if rank > 1 {
            let message = format!("`{rank}` is no rank: zero and one are");
            return Err(Error::at(at("/talker/stream-rank/rank"), message));
        }
        let own = &talker.user_to_network_requirements;
        let from = station(&end_station_interfaces, nodes, &at("/talker"))?;
        let mut listeners = Vec::new();
        for (number, listener) in listener.into_iter().enumerate() {
            let place = at(&format!("/listener[{number}]"));
            let node = station(&listener.end_station_interfaces, nodes, &place)?;
            if node == from {
                return Err(Error::at(
                    place,
                    format!("`{}` is the talker, too: a listener is another node", shown(&node)),
                ));
            }
            let asked = [own.max_latency, listener.user_to_network_requirements.max_latency];
            let latency = asked.into_iter().filter(|latency| *latency > 0).min();
            listeners.push(Listener { node, latency: latency.map(|ns| Nanos(ns.into())) });
        }
        let trees = own.num_seamless_trees.max(1);
        Ok(Stream { id, rank, trees, talker: from, listeners, traffic, place })
    }
}

impl TalkerGroup {
    fn traffic(&self, at: &impl Fn(&str) -> String) -> Result<Traffic, Error> {
        let TrafficSpecification {
            interval,
            max_frames_per_interval: frames,
            max_frame_size,
            time_aware,
            ..
        } = &self.traffic_specification;
        let at = |leaf: &str| at(&format!("/talker/traffic-specification/{leaf}"));
        let Interval { numerator, denominator } = *interval;
        let length = u64::from(numerator) * 1_000_000_000 / u64::from(denominator.max(1));
        if denominator == 0 || length == 0 {
            let message = "the interval is a number of seconds, of a nanosecond or more: numerator / denominator";
            return Err(Error::at(at("interval"), message));
        }
        for (leaf, value) in
            [("max-frames-per-interval", *frames), ("max-frame-size", *max_frame_size)]
        {
            if value == 0 {
                return Err(Error::at(at(leaf), "it is zero, so nothing would be sent"));
            }
        }
        let schedule = time_aware.as_ref().map(|time_aware| {
            let TimeAware { earliest_transmit_offset: earliest, latest_transmit_offset, jitter } =
                *time_aware;
            if earliest > latest_transmit_offset || u64::from(earliest) >= length {
                return Err(Error::at(
                    at("time-aware"),
                    "the earliest offset lies in the interval, and not behind the latest",
                ));
            }
            Ok(Schedule { earliest: Nanos(earliest.into()), jitter: Nanos(jitter.into()) })
        });
        Ok(Traffic {
            interval: (numerator, denominator),
            frames: *frames,
            frame: Bytes((*max_frame_size).into()),
            is_tagged: self
                .data_frame_specification
                .iter()
                .any(|field| field.ieee802_vlan_tag.is_some()),
            schedule: schedule.transpose()?,
        })
    }
}

/// The node of an end station.
fn station(
    interfaces: &[InterfaceId],
    nodes: &BTreeSet<&str>,
    place: &str,
) -> Result<String, Error> {
    let place = format!("{place}/end-station-interfaces");
    let [interface] = interfaces else {
        return Err(Error::at(place, "an end station has one interface here, and one is needed"));
    };
    let InterfaceId { mac_address, interface_name } = interface;
    let name = interface_name.as_ref().filter(|name| !name.is_empty()).unwrap_or(mac_address);
    if nodes.contains(name.as_str()) {
        return Ok(name.clone());
    }
    let known: Vec<String> = nodes.iter().take(20).map(|node| shown(node)).collect();
    let more = if nodes.len() > known.len() { ", …" } else { "" };
    Err(Error::at(
        place,
        format!(
            "the plan has no node `{}`: the interface-name, or else the mac-address, is that of a node: {}{more}",
            shown(name),
            known.join(", ")
        ),
    ))
}

fn is_stream_id(id: &str) -> bool {
    let octets = |text: &str, count: usize| {
        let parts: Vec<&str> = text.split('-').collect();
        let is_octet = |part: &&str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
        parts.len() == count && parts.iter().all(is_octet)
    };
    id.split_once(':').is_some_and(|(mac, unique)| octets(mac, 6) && octets(unique, 2))
}
