//! `laxity bench`: nanoseconds for one packet in and one packet out.

mod by_pointer;
mod exact;
mod load;
#[cfg(target_os = "linux")]
mod longest;
mod natural;
mod offered;
mod reference;
mod tdp;
mod timing;
mod uniform;

use laxity::aqm::{Choke, CoDel, Fraction, Limit, ManagedScheduler, Measure, Policy, Red, Spacing};
use laxity::packet::ClassId;
use laxity::sched::cake::{CakeClass, CakeSettings};
use laxity::sched::dualpi2::DualPi2Settings;
use laxity::sched::dwcs::{DwcsSettings, Stream, Streams};
use laxity::sched::edf::{Assign, BestEffort, Deadlines};
use laxity::sched::fq_codel::FqCodelSettings;
use laxity::sched::hfsc::{ClassSpec, Curves};
use laxity::sched::qfq::QfqClass;
use laxity::sched::{
    Cake, Drr, DualPi2, Dwcs, Edf, Fifo, FqCodel, Hfsc, Priority, Qfq, Share, Wf2q, Wfq,
};
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos, Rate};
use laxity::window::Loss;
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::{BestEffort as Way, Late};
use laxity_report::table;
use serde::Serialize;

use crate::args::{Bench, Case, Load};
use crate::failure::Failure;
use crate::{Promises, progress, show};
use load::Under;
use reference::HeapEdf;
use timing::{Mode, RUNS};

const SIZES: [u32; 9] = [1, 10, 100, 1_000, 10_000, 16_000, 60_000, 100_000, 1_000_000];

/// One figure.
#[derive(Clone, Debug, Serialize)]
struct Figure {
    discipline: String,
    classes: u32,
    mode: &'static str,
    by_pointer: bool,
    /// Median over the runs.
    ns_per_packet: f64,
    runs: usize,
}

/// Carries the command out.
pub(crate) fn run(arguments: &Bench) -> Result<Promises, Failure> {
    let chosen = Case::chosen(arguments.only.as_deref())?;
    if arguments.longest {
        return longest(chosen, arguments);
    }
    if arguments.watched {
        let classes = arguments.classes.unwrap_or_default();
        let mode = Mode::Together;
        chosen[0].measure(Under { load: Load::Watched, classes, mode, by_pointer: false });
        return Ok(Promises::Kept);
    }
    let (load, by_pointer) = (arguments.load, arguments.by_pointer);
    let cases: Vec<_> = chosen
        .into_iter()
        .flat_map(|case| {
            let sizes = case.sizes(arguments.classes).into_iter();
            sizes.flat_map(move |classes| {
                case.modes(load).iter().map(move |&mode| (case, classes, mode))
            })
        })
        .collect();
    let figures: Vec<_> =
        progress::each("measuring", cases, |(case, classes, mode): (Case, _, _)| {
            case.measure(Under { load, classes, mode, by_pointer })
        });
    show(arguments.json, &figures, || text(&figures))?;
    Ok(Promises::Kept)
}

/// The longest operation of each.
#[cfg(target_os = "linux")]
fn longest(cases: Vec<Case>, arguments: &Bench) -> Result<Promises, Failure> {
    let cases: Vec<_> = cases
        .into_iter()
        .filter(|case| case.has_classes())
        .flat_map(|case| case.sizes(arguments.classes).into_iter().map(move |size| (case, size)))
        .collect();
    let watch = |(case, classes)| longest::watch(case, classes);
    let figures: Result<Vec<_>, _> = progress::each("watching", cases, watch);
    let figures = figures?;
    show(arguments.json, &figures, || longest::text(&figures))?;
    Ok(Promises::Kept)
}

#[cfg(not(target_os = "linux"))]
fn longest(_: Vec<Case>, _: &Bench) -> Result<Promises, Failure> {
    Err(Failure::input("--longest watches a process step by step, which takes Linux"))
}

impl Case {
    /// Whether there are classes that could wake, and schedulers that know them.
    #[cfg(target_os = "linux")]
    fn has_classes(self) -> bool {
        match self {
            Case::BestEffortDeadline(_) | Case::DropTail | Case::Red | Case::Choke => false,
            Case::Of(_)
            | Case::HeapEdf
            | Case::EdfExact(_)
            | Case::HfscInGroups
            | Case::DwcsLate
            | Case::TdpEdge => true,
        }
    }

    fn sizes(self, only: Option<u32>) -> Vec<u32> {
        match (self, only) {
            // The paper's plan has six classes, three of them best effort.
            (Case::BestEffortDeadline(_), _) => vec![6],
            (_, Some(classes)) => vec![classes],
            (_, None) => SIZES.to_vec(),
        }
    }

    fn modes(self, load: Load) -> &'static [Mode] {
        match self {
            // One deadline after the other; there are no classes that could wake.
            Case::BestEffortDeadline(_) => &Mode::ALL[..3],
            // A packet that does not wait is not late.
            Case::DwcsLate => &[Mode::Backlogged],
            // Nothing is sent in the frame in which it comes, so the next one has to be waited for.
            Case::Of(Kind::Tdp) if load == Load::Natural => &Mode::ALL,
            Case::Of(Kind::Tdp) | Case::TdpEdge => &[Mode::Backlogged],
            Case::DropTail | Case::Red | Case::Choke if load == Load::Natural => &Mode::OFFERED,
            // Without a queue nobody asks who gets in.
            Case::DropTail | Case::Red | Case::Choke => &[Mode::Backlogged],
            Case::Of(
                Kind::Fifo
                | Kind::Wfq
                | Kind::Wf2q
                | Kind::Drr
                | Kind::Qfq
                | Kind::Hfsc
                | Kind::Priority
                | Kind::FqCodel
                | Kind::DualPi2
                | Kind::Cake
                | Kind::Edf
                | Kind::Dwcs,
            )
            | Case::HeapEdf
            | Case::EdfExact(_)
            | Case::HfscInGroups => &Mode::ALL,
        }
    }

    fn measure(self, under: Under) -> Figure {
        let Under { load, classes, mode, by_pointer } = under;
        let ns_per_packet = match self {
            Case::DropTail | Case::Red | Case::Choke if load == Load::Natural => {
                offered::measure(self, under)
            }
            Case::Of(Kind::Fifo) => under.measure(Fifo::new()),
            Case::DropTail => {
                let policy = Policy::DropTail { limit: Limit::None, mark: Limit::None };
                under.measure(managed(classes, policy))
            }
            Case::Red => under.measure(managed(classes, Policy::Red(red(classes)))),
            Case::Choke => {
                let policy = Policy::Choke(Choke { red: red(classes), candidates: 1 });
                under.measure(managed(classes, policy))
            }
            Case::Of(Kind::Priority) => {
                let levels: Vec<_> = (0..classes).map(|class| class % 8).collect();
                under.measure(Priority::new(&levels))
            }
            Case::Of(Kind::FqCodel) => {
                let codel = CoDel { limit: Limit::None, ..FqCodelSettings::RFC_8290.codel };
                let settings = FqCodelSettings { codel, ..FqCodelSettings::RFC_8290 };
                let fq_codel = FqCodel::new(classes as usize, settings, 1);
                let fq_codel = fq_codel.expect("RFC 8290 has queues, a quantum and an interval");
                under.measure(fq_codel)
            }
            Case::Of(Kind::DualPi2) => {
                let settings = DualPi2Settings { limit: Limit::None, ..DualPi2Settings::USUAL };
                let dualpi2 = DualPi2::new(classes as usize, settings);
                under.measure(dualpi2.expect("the usual settings are accepted"))
            }
            Case::Of(Kind::Cake) => {
                let settings = CakeSettings { rate: under.link(), ..CakeSettings::USUAL };
                let tins = vec![CakeClass::default(); classes as usize];
                let cake = Cake::new(tins, settings, 1);
                under.measure(cake.expect("the usual settings are accepted"))
            }
            Case::HeapEdf => under.measure(HeapEdf::new(load::deadlines(classes))),
            Case::EdfExact(pieces) => under.measure(exact::edf(under, pieces)),
            Case::Of(Kind::Wfq) => {
                let weights: Vec<_> = under.weights().into_iter().map(u64::from).collect();
                let wfq = Wfq::new(under.link(), &weights).expect("weights from 1 on");
                under.measure(wfq)
            }
            Case::Of(Kind::Drr) => {
                let quanta: Vec<_> = under.weights().iter().map(|weight| 1_500 * weight).collect();
                let drr = Drr::new(&quanta).expect("quanta of a packet and more");
                under.measure(drr)
            }
            Case::Of(Kind::Qfq) => {
                let class =
                    |weight: u32| Some(QfqClass { weight: weight.into(), max_packet: 1_500 });
                let classes: Vec<_> = under.weights().into_iter().map(class).collect();
                under.measure(Qfq::new(&classes).expect("weights from 1 on"))
            }
            Case::Of(Kind::Wf2q) => {
                let share = |rate| Share { parent: None, rate };
                let shares: Vec<_> = under.rates().map(share).collect();
                let wf2q = Wf2q::new(under.link(), &shares).expect("no class has a parent");
                under.measure(wf2q)
            }
            Case::Of(Kind::Hfsc) => under.measure(hfsc(under, 0)),
            Case::HfscInGroups => under.measure(hfsc(under, classes.isqrt())),
            Case::Of(Kind::Dwcs) => under.measure(dwcs(under, 2.0)),
            Case::DwcsLate => under.measure(dwcs(under, 0.5)),
            Case::Of(Kind::Tdp) => under.measure(tdp::core(under)),
            Case::TdpEdge => under.measure(tdp::edge(under)),
            Case::Of(Kind::Edf) => {
                let deadlines: Vec<_> = load::deadlines(classes).into_iter().map(Some).collect();
                let edf = Edf::new(&deadlines, BestEffort::by_arrival(Assign::Background));
                under.measure(edf)
            }
            Case::BestEffortDeadline(way) => uniform::assign(&paper_deadlines(way), mode),
        };
        let (discipline, mode) = (self.name(), mode.name());
        Figure { discipline, classes, mode, by_pointer, ns_per_packet, runs: RUNS }
    }
}

/// One queue for all.
fn managed(classes: u32, policy: Policy) -> ManagedScheduler<Fifo> {
    let managed =
        ManagedScheduler::new(Fifo::new(), &[policy], &vec![Some(0); classes as usize], 1);
    managed.expect("one queue, and thresholds in order")
}

/// Half-way between its thresholds when every class has two packets queued.
fn red(classes: u32) -> Red {
    let queued = 2 * u64::from(classes).max(50);
    Red { min: queued / 2, max: queued + queued / 2, ..RED }
}

/// Random early detection without thresholds.
const RED: Red = Red {
    min: 0,
    max: 0,
    measure: Measure::Packets,
    limit: Limit::None,
    max_p: Fraction::millionths(100_000),
    weight: Fraction::millionths(2_000),
    gentle: true,
    ecn: false,
    spacing: Spacing::Uniform,
    transmission: uniform::TRANSMISSION,
};

/// Leaves with a share each of the link or of their group. Of equal packets six tenths are
/// guaranteed, a packet at a time within a delay of its own: concave and convex curves. As peers
/// are measured, nine tenths are, and link-sharing has the same line.
fn hfsc(under: Under, groups: u32) -> Hfsc {
    let Under { load, classes: leaves, .. } = under;
    let parts = |rate: Rate, tenths: u64| Rate((rate.0 / 10 * tenths).max(1));
    let leaf = |(number, (rate, delay))| {
        let (real_time, link_share) = match load {
            Load::Uniform => {
                let packet = Bytes(uniform::LENGTH.into());
                let real_time = ServiceCurve::for_burst(packet, delay, parts(rate, 6));
                (real_time, ServiceCurve::linear(rate))
            }
            Load::Natural | Load::Watched => [ServiceCurve::linear(parts(rate, 9)); 2].into(),
        };
        let (real_time, link_share) = (Some(real_time), Some(link_share));
        ClassSpec {
            parent: (groups > 0).then(|| ClassId(leaves + number % groups)),
            curves: Curves { real_time, link_share, upper_limit: None },
        }
    };
    let group = |_| {
        let share = Rate((under.link().0 / u64::from(groups)).max(1));
        let link_share = Some(ServiceCurve::linear(share));
        ClassSpec { parent: None, curves: Curves { link_share, ..Curves::default() } }
    };
    let leaf_specs = (0..leaves).zip(under.rates().zip(load::deadlines(leaves))).map(leaf);
    let classes: Vec<_> = leaf_specs.chain((0..groups).map(group)).collect();
    Hfsc::new(&classes).expect("groups below the link and leaves below groups")
}

/// Streams with the tolerances of the paper, 1/80 to 1/150, and gaps of `rounds` rounds, each
/// with a packet of every stream. Where dropped packets would not come again, late ones are sent.
fn dwcs(under: Under, rounds: f64) -> Dwcs {
    let Under { load, classes: streams, .. } = under;
    let gap = f64::from(streams) * uniform::TRANSMISSION.0 as f64 * rounds;
    let late = match load {
        Load::Uniform => Late::Drop,
        Load::Natural | Load::Watched => Late::Send,
    };
    let stream = |number: u32| {
        let loss = Loss::new(1, 80 + 10 * (number % 8)).expect("one of many");
        let stream = Stream { gap: Some(Nanos(gap as u64)), loss, late };
        Streams { stream, count: 1 }
    };
    let streams: Vec<_> = (0..streams).map(stream).collect();
    Dwcs::new(DwcsSettings::default(), &streams).expect("a gap is as long as a packet or longer")
}

fn paper_deadlines(way: Way) -> Deadlines {
    let text = include_str!("../../../../papers/low-delay-best-effort/plan.toml");
    let plan = Plan::parse(text, "plan.toml", ".".as_ref()).expect("the paper's plan is valid");
    Deadlines::new(&plan.best_effort_curve(way)).expect("its curve is fit for deadlines")
}

fn text(figures: &[Figure]) -> String {
    let modes: Vec<_> = Mode::ALL.into_iter().chain(Mode::OFFERED).map(Mode::name).collect();
    let is_measured = |mode: &&str| figures.iter().any(|figure| figure.mode == *mode);
    let modes: Vec<_> = modes.into_iter().filter(is_measured).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let same = |a: &Figure, b: &Figure| (&a.discipline, a.classes) == (&b.discipline, b.classes);
    for of_one_size in figures.chunk_by(same) {
        let Figure { discipline, classes, .. } = &of_one_size[0];
        let mut row = vec![discipline.clone(), laxity_report::quantity::count((*classes).into())];
        row.extend(modes.iter().map(|&mode| {
            let figure = of_one_size.iter().find(|figure| figure.mode == mode);
            let figure = figure.map(|figure| format!("{:.1}", figure.ns_per_packet));
            figure.unwrap_or_else(|| laxity_report::quantity::NOTHING.to_string())
        }));
        rows.push(row);
    }
    let modes = modes.iter().map(|mode| format!("{mode} [ns]"));
    let header: Vec<_> =
        ["discipline", "classes"].map(String::from).into_iter().chain(modes).collect();
    format!(
        "{}\n\nOne packet in and one out; deadline/… is one best-effort deadline alone. Under dwcs/late \
         half of the packets are dropped instead of sent; fifo/… is FIFO behind a managed queue, under natural load one packet offered. Medians of {RUNS} runs.",
        table::table(&header, &rows)
    )
}
