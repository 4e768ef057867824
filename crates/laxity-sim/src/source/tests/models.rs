//! The models: rates, conformance, greediness, copies, determinism, refusals.

use laxity::packet::FlowId;
use laxity::police::Meter;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::model::{self, Dist, Model, Plan, SourceId};

use crate::source::random::{Sampler, generator};
use crate::source::tests::testing::{fed_by, model, tspec, until};
use crate::source::{Arrival, Arrivals, Feed, FeedId};

const ZERO: Dist<Nanos> = Dist::Constant(Nanos::ZERO);

fn ms(ms: u64) -> Nanos {
    Nanos(ms * 1_000_000)
}

fn seconds(seconds: u64) -> Nanos {
    ms(1_000 * seconds)
}

/// The plan's only source.
fn feed(plan: &Plan, seed: u64) -> Feed {
    Feed::from_source(plan, seed, SourceId(0)).unwrap().expect("it is not TCP")
}

fn sent(plan: &Plan, seed: u64, end: Nanos) -> Vec<Arrival> {
    until(&mut feed(plan, seed), end)
}

/// In whole ms, rounded down.
fn times(sent: &[Arrival]) -> Vec<u64> {
    sent.iter().map(|arrival| arrival.time.0 / 1_000_000).collect()
}

/// Bits a second over a time.
fn rate(sent: &[Arrival], end: Nanos) -> f64 {
    sent.iter().map(|arrival| f64::from(arrival.length) * 8.0).sum::<f64>() / end.as_secs_f64()
}

fn refusal(plan: &Plan) -> String {
    Feed::from_source(plan, 1, SourceId(0)).err().expect("the source is refused").to_string()
}

/// The transactions of Chakraborty et al. 2002: their TSpec, lengths, bursts and spacings.
fn transactions() -> Plan {
    let burst = Dist::Uniform(ms(5), ms(35));
    let spacing = Dist::Uniform(ms(50), ms(800));
    let mut plan = fed_by(Model::Greedy { burst, spacing }, Dist::Normal(Bytes(300), Bytes(50)));
    plan.classes[0].arrival = Some(tspec(45_000, 50_000, 700, 150_000));
    plan
}

/// The video of the same experiment, whose lengths are mostly cut to the largest packet.
fn video() -> Plan {
    let burst = Dist::Uniform(ms(50), ms(100));
    let spacing = Dist::Uniform(ms(10), ms(20));
    let mut plan = fed_by(Model::Greedy { burst, spacing }, Dist::Normal(Bytes(1700), Bytes(200)));
    plan.classes[0].arrival = Some(tspec(15_000, 600_000, 1536, 800_000));
    plan
}

fn meter(plan: &Plan) -> Meter {
    let arrival = plan.classes[0].arrival.as_ref().unwrap();
    Meter::new(arrival.buckets.iter().copied())
}

#[test]
fn greedy_sources_conform_and_could_not_have_sent_earlier() {
    for (plan, shortest_spacing) in [(transactions(), ms(50)), (video(), ms(10))] {
        for seed in 1..=5 {
            let (mut meter, mut previous, mut at_once) = (meter(&plan), Nanos::ZERO, 0);
            let sent = sent(&plan, seed, seconds(60));
            assert!(sent.len() > 1000);
            for arrival in &sent {
                let earliest = meter.earliest(previous, arrival.length).unwrap();
                assert!(meter.consume(arrival.time, arrival.length), "{arrival:?}");
                // Later than the earliest time only when a spacing lies between.
                let waited = arrival.time > earliest;
                assert!(!waited || arrival.time - previous >= shortest_spacing);
                at_once += usize::from(!waited);
                previous = arrival.time;
            }
            assert!(at_once * 2 > sent.len());
        }
    }
}

/// A burst of constant length sends what a direct reading of the definition sends.
#[test]
fn a_greedy_source_follows_its_bursts() {
    let (burst, spacing) = (Dist::Constant(ms(10)), Dist::Constant(ms(30)));
    let mut plan = fed_by(Model::Greedy { burst, spacing }, Dist::Constant(Bytes(1000)));
    // Two packets at once, then one every 8 ms.
    let line = model::TokenBucket { bucket: Bytes(2000), rate: Rate(1_000_000) };
    plan.classes[0].arrival =
        Some(model::Arrival { buckets: vec![line], packet: None, shortest: None });
    assert_eq!(times(&sent(&plan, 1, ms(81))), [0, 0, 8, 40, 40, 48, 80, 80]);
}

/// No drawn packet is lost between bursts: constant bursts take nothing from the generator, so the
/// lengths sent are the lengths drawn.
#[test]
fn a_packet_that_comes_too_late_is_the_next_bursts_first() {
    let (burst, spacing) = (Dist::Constant(ms(3)), Dist::Constant(ms(5)));
    let mut plan = transactions();
    model(&mut plan).model = Model::Greedy { burst, spacing };
    let lengths = Sampler::new(model(&mut plan).packet).unwrap();
    let mut generator = generator(1, 0, 0);
    for arrival in sent(&plan, 1, seconds(5)) {
        assert_eq!(Bytes(arrival.length.into()), lengths.draw(&mut generator));
    }
}

#[test]
fn greedy_lengths_keep_to_the_smallest_bucket() {
    let mut plan = video();
    plan.classes[0].arrival.as_mut().unwrap().buckets[1].bucket = Bytes(500);
    assert!(sent(&plan, 1, seconds(1)).iter().all(|arrival| arrival.length <= 500));
    plan.classes[0].arrival.as_mut().unwrap().buckets[1].bucket = Bytes(20);
    assert!(sent(&plan, 1, seconds(1)).iter().all(|arrival| arrival.length == 20));
}

#[test]
fn bursts_far_too_short_for_the_tokens_do_not_stop_the_clock() {
    let mut plan = video();
    for burst in [Dist::Constant(Nanos(1)), Dist::Uniform(Nanos(0), Nanos(1))] {
        model(&mut plan).model = Model::Greedy { burst, spacing: ZERO };
        // The bucket, and then its rate.
        let measured = rate(&sent(&plan, 1, seconds(1)), seconds(1)) / 8.0;
        assert!((measured - 615_000.0).abs() < 2_000.0, "{measured}");
    }
}

#[test]
fn a_constant_rate_is_exact_and_does_not_drift() {
    let plan =
        fed_by(Model::Constant { rate: Rate(3_000_001), jitter: None }, Dist::Constant(Bytes(997)));
    let mut stream = feed(&plan, 1);
    for number in 0..1_000_000u64 {
        let due = Rate(3_000_001).time_for(Bytes(997 * number));
        assert_eq!(stream.next_arrival().unwrap().unwrap().time, due);
    }
}

/// Over n packets whose lengths deviate by d around l, the rate deviates by at most sqrt(1 +
/// (d/l)^2) / sqrt(n) of itself; five of these fail for one seed in two million. A gap exceeds its
/// mean with probability 1/e: of a Poisson process one mean for all, whatever the length of the
/// packet behind it; of a correlated one the mean that its packet's length takes.
#[test]
fn sources_with_exponential_gaps_have_their_rate_and_gaps() {
    let rate = Rate(5_000_000);
    let lengths = Dist::Uniform(Bytes(40), Bytes(1500));
    for (model, is_correlated) in
        [(Model::Poisson { rate }, false), (Model::Correlated { rate }, true)]
    {
        let plan = fed_by(model, lengths);
        for seed in 1..=5 {
            let sent = sent(&plan, seed, seconds(100));
            let count = sent.len() as f64;
            let measured = self::rate(&sent, seconds(100));
            assert!((measured / 5e6 - 1.0).abs() < 5.0 * 1.2 / count.sqrt());
            for of in [40..=400, 401..=1_100, 1_101..=1_500] {
                let gaps = sent.windows(2).filter(|pair| of.contains(&pair[1].length));
                let is_long = |pair: &&[Arrival]| {
                    let length = if is_correlated { pair[1].length } else { 770 };
                    pair[1].time - pair[0].time > rate.time_for(Bytes(length.into()))
                };
                let (all, long) =
                    (gaps.clone().count() as f64, gaps.filter(is_long).count() as f64);
                let off = (long / all - (-1f64).exp()).abs();
                assert!(
                    off < 5.0 * (0.2326 / all).sqrt(),
                    "{is_correlated} {of:?}: {}",
                    long / all
                );
            }
        }
    }
}

/// Gaps of a third of a nanosecond, whose rounding must not bias the rate.
#[test]
fn rounding_does_not_change_a_fast_poisson_source() {
    let model = Model::Poisson { rate: Rate(1_000_000_000_000) };
    let sent = sent(&fed_by(model, Dist::Constant(Bytes(40))), 1, ms(1));
    assert!((rate(&sent, ms(1)) / 1e12 - 1.0).abs() < 5.0 / (sent.len() as f64).sqrt());
}

/// Over n cycles the share of on time deviates by at most sqrt(2/n) of itself.
#[test]
fn an_on_off_source_has_its_share_of_the_rate() {
    let cases = [
        (Dist::Exponential(ms(20)), Dist::Exponential(ms(60))),
        (Dist::Uniform(ms(10), ms(30)), Dist::Constant(ms(60))),
        // Shorter than a packet takes, which is 4 ms.
        (Dist::Exponential(Nanos(50_000)), Dist::Exponential(Nanos(150_000))),
    ];
    for (on, off) in cases {
        let model = Model::OnOff { rate: Rate(2_000_000), on, off };
        let plan = fed_by(model, Dist::Constant(Bytes(1000)));
        for seed in 1..=5 {
            let measured = rate(&sent(&plan, seed, seconds(200)), seconds(200)) / 500_000.0;
            assert!((measured - 1.0).abs() < 5.0 * (2.0f64 / 2_500.0).sqrt(), "{on:?} {measured}");
        }
    }
}

#[test]
fn an_on_off_source_is_silent_while_off() {
    let (on, off) = (Dist::Constant(ms(10)), Dist::Constant(ms(30)));
    let model = Model::OnOff { rate: Rate(2_000_000), on, off };
    let plan = fed_by(model, Dist::Constant(Bytes(1000)));
    // Every 4 ms of on time: 0, 4, 8, 12, 16, 20, 24, 28 ms.
    assert_eq!(times(&sent(&plan, 1, ms(90))), [0, 4, 8, 42, 46, 80, 84, 88]);
}

/// Periods of a nanosecond are reckoned, not walked through; the share stays.
#[test]
fn tiny_periods_do_not_stop_the_clock() {
    let (on, off) = (Dist::Constant(Nanos(1)), Dist::Constant(Nanos(3)));
    let model = Model::OnOff { rate: Rate(2_000_000), on, off };
    let plan = fed_by(model, Dist::Constant(Bytes(1000)));
    let measured = rate(&sent(&plan, 1, seconds(10)), seconds(10));
    assert!((measured / 500_000.0 - 1.0).abs() < 0.01, "{measured}");
}

#[test]
fn sources_begin_and_end_when_told() {
    let mut plan = fed_by(
        Model::Constant { rate: Rate(8_000_000), jitter: None },
        Dist::Constant(Bytes(1000)),
    );
    (model(&mut plan).start, model(&mut plan).stop) = (ms(5), Some(ms(8)));
    assert_eq!(times(&sent(&plan, 1, Nanos::MAX)), [5, 6, 7]);
    model(&mut plan).stop = Some(ms(5));
    assert!(sent(&plan, 1, Nanos::MAX).is_empty());
}

#[test]
fn lengths_are_raised_and_cut_to_what_the_plan_accepts() {
    let lengths = Dist::Normal(Bytes(700), Bytes(900));
    let mut plan = fed_by(Model::Poisson { rate: Rate(8_000_000) }, lengths);
    let range = |plan: &Plan| {
        let lengths = sent(plan, 1, seconds(2)).into_iter().map(|arrival| arrival.length);
        lengths.fold((u32::MAX, 0), |(low, high), length| (low.min(length), high.max(length)))
    };
    assert_eq!(range(&plan), (40, 1536));
    plan.classes[0].arrival = Some(tspec(1000, 1000, 500, 2000));
    assert_eq!(range(&plan), (40, 500));
    plan.classes[0].arrival = Some(tspec(1000, 1000, 30, 2000));
    assert_eq!(range(&plan), (30, 30));
}

#[test]
fn copies_are_merged_by_time_then_number() {
    let mut plan = transactions();
    model(&mut plan).count = 50;
    let merged = sent(&plan, 3, seconds(5));
    assert!(merged.is_sorted_by_key(|arrival| (arrival.time, arrival.flow)));
    for flow in 0..50 {
        assert!(merged.iter().any(|arrival| arrival.flow == FlowId(flow)));
    }
    // The first copy sends what it sends alone.
    model(&mut plan).count = 1;
    let first = merged.into_iter().filter(|arrival| arrival.flow == FlowId(0));
    assert_eq!(first.collect::<Vec<_>>(), sent(&plan, 3, seconds(5)));
}

#[test]
fn the_seed_decides_everything() {
    let plan = transactions();
    assert_eq!(sent(&plan, 7, seconds(5)), sent(&plan, 7, seconds(5)));
    assert_ne!(sent(&plan, 7, seconds(5)), sent(&plan, 8, seconds(5)));
}

#[test]
fn a_million_copies_are_one_stream() {
    let mut plan = fed_by(Model::Poisson { rate: Rate(1_000) }, Dist::Constant(Bytes(100)));
    model(&mut plan).count = 1_000_000;
    let sent = sent(&plan, 1, ms(100));
    assert!(sent.is_sorted_by_key(|arrival| arrival.time));
    // 125 000 packets, of deviation 354.
    assert!((sent.len() as f64 - 125_000.0).abs() < 5.0 * 354.0, "{}", sent.len());
}

#[test]
fn a_backlogged_source_leaves_arrivals_to_the_engine() {
    let mut plan = fed_by(Model::Backlogged { window: 3 }, Dist::Uniform(Bytes(0), Bytes(3000)));
    model(&mut plan).count = 2;
    assert_eq!(sent(&plan, 1, Nanos::MAX), []);
    let lengths = |seed| {
        let Feed::Backlogged(mut source) = feed(&plan, seed) else { panic!("it is backlogged") };
        let first: Vec<_> = source.first_copies(FeedId(0)).map(|copy| copy.flow.0).collect();
        assert_eq!(first, [0, 0, 0, 1, 1, 1]);
        [0, 1, 0, 1].map(|flow| source.next_length(Nanos(5), FlowId(flow)).unwrap())
    };
    assert_eq!(lengths(1), lengths(1));
    assert_ne!(lengths(1), lengths(2));
    assert!(lengths(1).iter().all(|length| (40..=1536).contains(length)));
}

#[test]
fn sources_that_can_never_send_are_refused() {
    let mut plan = transactions();
    let burst = Dist::Constant(ms(1));
    model(&mut plan).model = Model::Greedy { burst: ZERO, spacing: burst };
    let expected =
        "source 1 of the plan: `burst` is always 0, so nothing is ever sent: give it a length";
    assert_eq!(refusal(&plan), expected);
    model(&mut plan).model = Model::OnOff { rate: Rate(1), on: ZERO, off: burst };
    assert!(refusal(&plan).contains("`on` is always 0"));
    model(&mut plan).model = Model::Greedy { burst, spacing: Dist::Pareto(ms(1), -1.0) };
    let expected =
        "source 1 of the plan: `spacing`: -1 is not a shape: it must be a number more than 0";
    assert_eq!(refusal(&plan), expected);
    model(&mut plan).model = Model::Greedy { burst, spacing: burst };
    plan.classes[0].arrival = Some(tspec(0, 1, 1, 1));
    assert!(refusal(&plan).contains("no packet fits into a token bucket of 0b"));
    plan.classes[0].arrival = None;
    assert!(refusal(&plan).contains("give class `fed` an `arrival`"));
}

/// `cargo test --release -p laxity-sim cost_of -- --ignored --nocapture`
#[test]
#[ignore = "measures and prints, tests nothing"]
fn cost_of_a_packet() {
    const PACKETS: u32 = 5_000_000;
    let measure = |name: &str, plan: &Plan| {
        let mut stream = feed(plan, 1);
        let begin = std::time::Instant::now();
        for _ in 0..PACKETS {
            std::hint::black_box(stream.next_arrival().unwrap());
        }
        println!("{name}: {:?} a packet", begin.elapsed() / PACKETS);
    };
    let mut plan = video();
    measure("greedy", &plan);
    model(&mut plan).count = 1000;
    measure("greedy, 1000 copies", &plan);
    let rate = Rate(8_000_000);
    measure(
        "constant",
        &fed_by(Model::Constant { rate, jitter: None }, Dist::Constant(Bytes(500))),
    );
    measure("poisson", &fed_by(Model::Poisson { rate }, Dist::Uniform(Bytes(40), Bytes(1500))));
    let on = Dist::Pareto(ms(20), 1.5);
    measure("on-off", &fed_by(Model::OnOff { rate, on, off: on }, Dist::Constant(Bytes(500))));
}
