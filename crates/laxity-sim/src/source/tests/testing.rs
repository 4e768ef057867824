//! Plans for the tests of sources.

use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::model::*;

use crate::source::{Arrival, Arrivals};

/// A plan of a 10 Mbit/s link whose classes have these names, no contract and no match.
pub(crate) fn plan(names: &[&str]) -> Plan {
    let class = |name: &&str| Class {
        name: name.to_string(),
        parent: None,
        children: Vec::new(),
        curves: Default::default(),
        deadline: None,
        deadline_over: Box::default(),
        frame_at: Box::default(),
        end_to_end: None,
        arrival: None,
        weight: Weight::ONE,
        level: None,
        dscp: 0,
        hosts: Box::default(),
        police: Police::Count,
        queue: None,
        matching: None,
        count: 1,
        gap: None,
        loss: None,
        late: Late::Send,
        inside: None,
    };
    Plan {
        network: None,
        files: Vec::new(),
        title: None,
        link: LinkSpec {
            rate: Rate(10_000_000),
            overhead: Overhead::NONE,
            max_packet: Bytes(1536),
            min_packet: Bytes(40),
            latency: Some(Nanos::ZERO),
            stall: Nanos::ZERO,
            threads: None,
            trace: None,
            wire: None,
            autorate: None,
        },
        scheduler: SchedulerSpec::Fifo,
        queue: None,
        classes: names.iter().map(class).collect(),
        sources: Vec::new(),
        requests: Vec::new(),
        run: RunSpec { duration: None, warm_up: Nanos::ZERO, seed: 1 },
    }
}

/// A plan whose only class is fed by this model.
pub(crate) fn fed_by(model: Model, packet: Dist<Bytes>) -> Plan {
    let mut plan = plan(&["fed"]);
    plan.sources.push(Source::Model(ModelSource {
        path: Hops::default(),
        class: ClassId(0),
        count: 1,
        packet,
        model,
        start: Nanos::ZERO,
        stagger: Nanos::ZERO,
        stop: None,
    }));
    plan
}

/// The only model of a plan.
pub(crate) fn model(plan: &mut Plan) -> &mut ModelSource {
    match &mut plan.sources[0] {
        Source::Model(source) => source,
        Source::Recording(_) | Source::Tcp(_) => unreachable!("the tests' plans have models"),
    }
}

/// The arrival curve of a TSpec flow: b [B], r [B/s], M [B], p [B/s].
pub(crate) fn tspec(b: u64, r: u64, m: u64, p: u64) -> laxity_plan::model::Arrival {
    let line = |bucket, rate| TokenBucket { bucket: Bytes(bucket), rate: Rate(8 * rate) };
    laxity_plan::model::Arrival {
        buckets: vec![line(b, r), line(m, p)],
        packet: Some(Bytes(m)),
        shortest: None,
    }
}

/// All arrivals before a time.
pub(crate) fn until(arrivals: &mut dyn Arrivals, end: Nanos) -> Vec<Arrival> {
    let next = || arrivals.next_arrival().expect("the stream is sound");
    std::iter::from_fn(next).take_while(|arrival| arrival.time < end).collect()
}

/// A pcap file, little-endian with ns stamps, of (time in ns, original length, captured bytes).
pub(crate) fn pcap(link_type: u32, frames: &[(u64, u32, &[u8])]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d, 4 << 16 | 2, 0, 0, 128, link_type] {
        file.extend(u32::to_le_bytes(word));
    }
    for &(time, length, data) in frames {
        let (seconds, nanos) = ((time / 1_000_000_000) as u32, (time % 1_000_000_000) as u32);
        for word in [seconds, nanos, data.len() as u32, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(data);
    }
    file
}

/// A big-endian pcapng file of one interface with this resolution, of (stamp, original length,
/// captured bytes).
pub(crate) fn pcapng(resolution: u8, frames: &[(u64, u32, &[u8])]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let padded = body.len().next_multiple_of(4);
        let length = (padded as u32 + 12).to_be_bytes();
        let mut block = [&kind.to_be_bytes(), &length, body].concat();
        block.resize(8 + padded, 0);
        [block, length.to_vec()].concat()
    };
    let section = [&[0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0], &[0xff; 8][..]].concat();
    // Ethernet, all bytes kept, if_tsresol, the end of options.
    let interface = [0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, resolution, 0, 0, 0, 0, 0, 0, 0];
    let mut file = block(0x0a0d_0d0a, &section);
    file.extend(block(1, &interface));
    file.extend(block(5, b"a block that is read over"));
    for &(stamp, length, data) in frames {
        let captured = (data.len() as u32).to_be_bytes();
        let fields = [&[0; 4], &stamp.to_be_bytes()[..], &captured, &length.to_be_bytes(), data];
        file.extend(block(6, &fields.concat()));
    }
    file
}

/// An Ethernet frame of an IPv4 UDP packet between two ports.
pub(crate) fn udp(source: u16, destination: u16) -> Vec<u8> {
    let mut frame = vec![0; 42];
    frame[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
    frame[16..18].copy_from_slice(&28u16.to_be_bytes());
    frame[22..24].copy_from_slice(&[64, 17]);
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    frame[34..36].copy_from_slice(&source.to_be_bytes());
    frame[36..38].copy_from_slice(&destination.to_be_bytes());
    frame[38..40].copy_from_slice(&8u16.to_be_bytes());
    frame
}
