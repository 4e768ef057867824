//! Time-driven priority under Laxity's simulator, which has its clocks, marks and edges; what is
//! held against packets is worked out here.

use laxity::packet::Packet;
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_plan::model::{Dist, Model, ModelSource, SchedulerSpec, Source};
use laxity_sim::network::NetworkRun;
use laxity_sim::record::{Fate, Observer, Record};

use crate::subject::Subject;
use crate::testbed::judge::{Violation, ViolationKind};
use laxity_adversary::arrival::Arrival;

/// Long enough for a packet to come to its receiver where nothing is promised, in ns.
fn unpromised(plan: &Plan) -> u64 {
    let SchedulerSpec::Tdp(spec) = plan.scheduler else { return 0 };
    let links = plan.network.iter().flat_map(|network| &network.links);
    let farthest = links.map(|link| link.delay.0).max().unwrap_or(0);
    10 * (3 * spec.time.frame.0 * u64::from(spec.time.frames) + farthest)
}

/// Lets packets arrive in a network without history. Gives the delays of each class's packets
/// beside its bound, and when the last one has come to its receiver.
///
/// # Errors
/// At what is broken first.
pub(crate) fn run(
    subject: &Subject,
    arrivals: &[Arrival],
    mut heard: impl FnMut(usize, u64, u64),
) -> Result<u64, Violation> {
    let mut plan = subject.simulated.clone();
    plan.sources = arrivals.iter().map(|arrival| source(subject, arrival)).collect();
    let last = arrivals.last().map_or(0, |arrival| arrival.time);
    let bounds = subject.feeds.iter().flatten().filter_map(|feed| feed.bound);
    let duration = Nanos(last + 2 * bounds.max().unwrap_or(0) + unpromised(&plan));
    let on = plan.network_plan().expect("frames are of a network").analysis();
    let run = NetworkRun::new(&on, Some(duration), 1);
    let mut judge = Judge {
        subject,
        came: vec![0; plan.classes.len()],
        ends: 0,
        broken: None,
        heard: &mut heard,
    };
    let outcome = run.simulate(&mut judge, &mut laxity_sim::to_the_end);
    let Judge { came, ends, broken, .. } = judge;
    let fail = |class, what| Err(Violation { at: last, class, what });
    if let Err(error) = outcome {
        return fail(0, ViolationKind::Verdict(error.to_string()));
    }
    if let Some(broken) = broken {
        return Err(broken);
    }
    let mut sent = vec![0u64; came.len()];
    for arrival in arrivals {
        sent[subject.feed(arrival.feed).expect("a feed of the subject").class] += 1;
    }
    // Whatever is promised a delay has come.
    match (0..came.len()).find(|class| subject.is_promised(*class) && came[*class] != sent[*class])
    {
        Some(class) => fail(class, ViolationKind::Books { output: 0 }),
        None => Ok(ends),
    }
}

/// A source of one packet.
fn source(subject: &Subject, arrival: &Arrival) -> Source {
    let named = subject.draft.paths.iter().zip(&subject.plan.sources);
    let of = named.into_iter().find(|(path, _)| path.name == arrival.feed);
    let (_, source) = of.expect("a path's source");
    Source::Model(ModelSource {
        class: source.class().expect("it feeds a class"),
        count: 1,
        path: source.path().clone(),
        packet: Dist::Constant(Bytes(arrival.length.into())),
        model: Model::Constant { rate: laxity::units::Rate(1), jitter: None },
        start: Nanos(arrival.time),
        stagger: Nanos(0),
        stop: Some(Nanos(arrival.time + 1)),
    })
}

struct Judge<'a> {
    subject: &'a Subject,
    came: Vec<u64>,
    ends: u64,
    broken: Option<Violation>,
    heard: &'a mut dyn FnMut(usize, u64, u64),
}

impl Observer for Judge<'_> {
    fn record(&mut self, record: &Record) {
        let class = record.packet.class.index();
        if let (Fate::Dropped(reason), true) = (record.fate, self.subject.is_promised(class)) {
            let broken = Violation {
                at: record.packet.arrival.0,
                class,
                what: ViolationKind::Dropped(reason),
            };
            self.broken.get_or_insert(broken);
        }
    }

    fn delivered(&mut self, packet: &Packet, _: u64, now: Nanos) {
        let class = packet.class.index();
        let delay = now.0 - packet.arrival.0;
        self.came[class] += 1;
        self.ends = self.ends.max(now.0);
        let Some(bound) = self.subject.path_bound(class) else { return };
        (self.heard)(class, delay, bound);
        if delay > bound {
            let broken = Violation { at: now.0, class, what: ViolationKind::Path { delay, bound } };
            self.broken.get_or_insert(broken);
        }
    }
}
