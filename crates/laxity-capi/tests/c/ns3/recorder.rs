//! A link of the simulator: what comes to it, and what becomes of it.

use std::collections::VecDeque;
use std::fmt::Write;

use laxity::packet::{ClassId, Ecn, FlowId, Packet};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::Hop;
use laxity_sim::error::SimError;
use laxity_sim::link::Run;
use laxity_sim::record::{Fate, Observer, Record};
use laxity_sim::source::{Arrival, Arrivals, Feed};
use laxity_sim::to_the_end;

use crate::c::replay::arrivals;

/// What came to a link of the simulator, and what became of it, by the number of its arrival.
#[derive(Default)]
pub(crate) struct Recorder {
    arrivals: Vec<Packet>,
    fates: Vec<(u64, Fate, Ecn)>,
}

impl Observer for Recorder {
    fn arrived(&mut self, packet: &Packet, _: Option<Hop>) {
        assert_eq!(packet.handle, self.arrivals.len() as u64, "handles are numbers of arrivals");
        self.arrivals.push(*packet);
    }

    fn record(&mut self, record: &Record) {
        self.fates.push((record.packet.handle, record.fate, record.packet.ecn));
    }
}

/// Arrivals that come whatever happens to those before them.
struct Recorded(VecDeque<Arrival>);

impl Arrivals for Recorded {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
        Ok(self.0.pop_front())
    }
}

fn bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotCapable => 0,
        Ecn::L4s => 1,
        Ecn::Capable => 2,
        Ecn::Experienced => 3,
    }
}

impl Recorder {
    /// What a plan's own sources send.
    pub(crate) fn traffic(plan: &Plan, seed: u64, duration: u64) -> Vec<Arrival> {
        let mut recorder = Recorder::default();
        let run = Run { plan, duration: Some(Nanos(duration)), seed, feeds: Vec::new() };
        let run = run.with_sources().expect("its sources are there");
        run.simulate(&mut recorder, &mut to_the_end).expect("it ends");
        let arrival = |&Packet { arrival: time, class, flow, length, ecn, .. }: &Packet| Arrival {
            time,
            class,
            flow,
            length,
            ecn,
            ..Arrival::default()
        };
        recorder.arrivals.iter().map(arrival).collect()
    }

    /// A plan with given arrivals.
    pub(crate) fn simulate(plan: &Plan, seed: u64, traffic: &[Arrival]) -> Recorder {
        let mut recorder = Recorder::default();
        let feeds = vec![Feed::new(Box::new(Recorded(traffic.to_vec().into())))];
        let run = Run { plan, duration: None, seed, feeds };
        run.simulate(&mut recorder, &mut to_the_end).expect("it ends");
        recorder
    }

    /// The arrivals as `laxity-replay` reads them.
    pub(crate) fn input(&self) -> String {
        let mut input = String::new();
        for Packet { arrival, class, flow, length, ecn, .. } in &self.arrivals {
            let ecn = bits(*ecn);
            writeln!(input, "{} {} {} {length} {ecn}", arrival.0, class.0, flow.0).unwrap();
        }
        input
    }

    /// The fates as `laxity-replay` writes them, in the order of arrival.
    pub(crate) fn expected(&self) -> Vec<String> {
        let mut fates = self.fates.clone();
        fates.sort_by_key(|(number, ..)| *number);
        let line = |(number, fate, ecn): (u64, Fate, Ecn)| match fate {
            Fate::Sent { start, departure } => {
                let (at, until, ecn) = (start.0, departure.0, bits(ecn));
                format!("send {number} at {at} until {until} ecn {ecn}")
            }
            Fate::Dropped(reason) => format!("drop {number} {}", reason.name()),
            Fate::Queued => format!("queued {number}"),
        };
        fates.into_iter().map(line).collect()
    }
}

/// Bursts at a link that is full most of the time, of flows with all bits of ECN.
pub(crate) fn drawn(seed: u64) -> Vec<Arrival> {
    let arrival = |(time, class, flow, length, ecn)| Arrival {
        time: Nanos(time),
        class: ClassId(class % 4),
        flow: FlowId(flow),
        length,
        ecn: [Ecn::NotCapable, Ecn::L4s, Ecn::Capable, Ecn::Experienced][usize::from(ecn)],
        ..Arrival::default()
    };
    arrivals(seed).into_iter().map(arrival).collect()
}
