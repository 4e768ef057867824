//! Plans that go to Linux and come back.

mod examples;

use std::path::Path;

use laxity::admit::Unbounded;
use laxity::units::{Nanos, Rate};
use laxity_plan::classify::Classifier;
use laxity_plan::discipline::Kind;
use laxity_plan::matching::{Expr, Headers};
use laxity_plan::{Plan, PlanError};
use proptest::prelude::*;

use super::matches::{expressions, headers};
use crate::export::{Format, Promises, contracts, export, is_device};
use crate::linux::{Filters, Linux, LinuxPlan, linux_plan};
use crate::netlink::{self, Object, Sort};
use crate::setup::{Class, ClassKind, Handle, Prio, Qdisc, QdiscKind, Setup, Tbf};
use crate::{Import, Options};

pub(super) fn parse(text: &str) -> Plan {
    Plan::parse(text, "plan.toml", Path::new(""))
        .unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

pub(super) fn script(plan: &Plan, carried: &LinuxPlan, format: Format) -> String {
    export(plan, carried, "eth0", format, &Promises::default()).unwrap()
}

fn import(script: &str) -> Plan {
    let import = crate::import(script, "script.sh", &Options::default());
    parse(&import.unwrap_or_else(|error| panic!("{error:?}\n{script}")).plan)
}

type Bounds = Vec<(String, Result<Nanos, Unbounded>)>;

/// The bounds of the leaves by their names.
fn bounds(plan: &Plan) -> Bounds {
    let bounds = plan.bounds();
    let mut all: Bounds =
        plan.leaves().map(|(id, class)| (class.name.clone(), bounds[id.index()])).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// The parameters of classes by their names.
fn parameters(carried: &LinuxPlan) -> Vec<(Option<String>, ClassKind)> {
    let mut all: Vec<_> = carried
        .setup
        .classes
        .iter()
        .map(|class| (class.name.clone(), class.kind.clone()))
        .collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all
}

/// A class: what it sends, and what share it has.
#[derive(Clone, Debug)]
struct Drawn {
    arrival: Option<(u32, u32, u32)>,
    weight: u32,
    shape: u8,
    slopes: (u32, u32, u32),
    queue: u8,
    police: bool,
    parent: Option<usize>,
    deadline: Option<u32>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let arrival = prop::option::of((100u32..20_000, 1_000u32..3_000_000, 64u32..1_515));
    let slopes = (8u32..4_000_000, 1u32..200_000, 8u32..2_000_000);
    let parent = prop::option::of(0usize..4);
    let deadline = prop::option::of(2u32..400);
    (arrival, 1u32..200_000, 0u8..6, slopes, 0u8..8, any::<bool>(), parent, deadline).prop_map(
        |(arrival, weight, shape, slopes, queue, police, parent, deadline)| Drawn {
            arrival,
            weight,
            shape,
            slopes,
            queue,
            police,
            parent,
            deadline,
        },
    )
}

/// Disciplines of several classes that Linux has. The others are one queue for all classes, or have
/// no counterpart.
fn kinds() -> Vec<&'static str> {
    let one_queue = [Kind::Fifo, Kind::FqCodel];
    let no_counterpart = [Kind::Edf, Kind::Dwcs, Kind::Tdp, Kind::DualPi2, Kind::Cake];
    let others = [&one_queue[..], &no_counterpart].concat();
    let kinds = Kind::ALL.iter().filter(|kind| !others.contains(kind));
    kinds.map(|kind| kind.word()).collect()
}

/// A plan of a kind that Linux has.
fn plans() -> impl Strategy<Value = String> {
    let classes = prop::collection::vec(drawn(), 2..7);
    let link = (8_000_000u64..400_000_000, 0u8..3);
    (prop::sample::select(kinds()), classes, link, any::<bool>()).prop_map(|(kind, classes, (rate, overhead), rest)| {
        let overhead = ["", "overhead = \"38b\"\n", "overhead = { bytes = \"4b\", at-least = \"64b\" }\n"]
            [usize::from(overhead)];
        let mut text = format!(
            "version = 1\n[link]\nrate = \"{rate}bit\"\n{overhead}[scheduler]\nkind = \"{kind}\"\n"
        );
        let nests = kind == "hfsc" || kind == "wf2q";
        if nests {
            for above in 0..2 {
                text += &format!("[class.above{above}]\nlink-share = \"2mbit\"\n");
            }
        }
        let last = classes.len() - 1;
        for (at, class) in classes.iter().enumerate() {
            text += &written(kind, at, class, rest && at == last);
        }
        text
    })
}

fn written(kind: &str, at: usize, class: &Drawn, takes_the_rest: bool) -> String {
    let mut text = format!("[class.c{at}]\n");
    if let Some((bucket, rate, packet)) = class.arrival {
        let packet = packet.min(bucket);
        text += &format!(
            "arrival = {{ bucket = \"{bucket}b\", rate = \"{rate}bit\", packet = \"{packet}b\" }}\n"
        );
        if class.police {
            text += "police = \"drop\"\n";
        }
        if let Some(deadline) = class.deadline {
            text += &format!("deadline = \"{deadline}ms\"\n");
        }
    }
    let (m1, d, m2) = class.slopes;
    match (kind, class.shape) {
        ("hfsc", 0) => text += &format!("real-time = \"{m2}bit\"\n"),
        ("hfsc", 1) => {
            let m1 = u64::from(m1) + u64::from(m2);
            text += &format!(
                "real-time = {{ m1 = \"{m1}bit\", d = \"{d}us\", m2 = \"{m2}bit\" }}\nlink-share = \"{m2}bit\"\n"
            );
        }
        ("hfsc", 2) => {
            text += &format!("curve = {{ m1 = \"0bit\", d = \"{d}us\", m2 = \"{m2}bit\" }}\n")
        }
        ("hfsc", 3) => text += &format!("link-share = \"{m2}bit\"\nupper-limit = \"{m1}bit\"\n"),
        ("priority", _) => text += &format!("level = {}\n", at * 3),
        // Such that no quantum exceeds what the kernel takes.
        ("drr", _) => text += &format!("weight = {}\n", 1 + class.weight % 600),
        ("hfsc", _) => {}
        _ => text += &format!("weight = {}\n", f64::from(class.weight) / 1_000.0),
    }
    if (kind == "hfsc" || kind == "wf2q")
        && let Some(parent) = class.parent.filter(|parent| *parent < 2 && class.shape != 3)
    {
        text += &format!("parent = \"above{parent}\"\n");
    }
    text += match class.queue {
        0 => "queue = { kind = \"droptail\", limit = 4000 }\n",
        1 => "queue = { kind = \"droptail\", limit = \"900kB\" }\n",
        2 => "queue = { kind = \"codel\", limit = 5000 }\n",
        _ => "",
    };
    if takes_the_rest {
        text + "match = \"any\"\n"
    } else {
        text + &format!("match = \"udp dport {}\"\n", 5_000 + at)
    }
}

/// A parent without classes below it is a leaf of its own, without packets here.
fn has_no_idle_parent(plan: &Plan) -> bool {
    !plan.leaves().any(|(_, class)| class.name.starts_with("above"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// Export, import and check give the same bounds under Linux, and the classes the same numbers:
    /// from a script, from a batch, and from what `tc -j` shows, to which the contracts are added.
    #[test]
    fn what_comes_back_is_bounded_alike(text in plans()) {
        let plan = parse(&text);
        prop_assume!(has_no_idle_parent(&plan));
        let linux = Linux::default();
        let there = linux_plan(&plan, &linux).unwrap();
        let written = script(&plan, &there, Format::Script);
        let contracts: String =
            written.lines().filter(|line| line.starts_with("#:")).flat_map(|line| [line, "\n"]).collect();
        let shown = contracts + &script(&plan, &there, Format::Json);
        for form in [written, script(&plan, &there, Format::Batch), shown] {
            let back = import(&form);
            let again = linux_plan(&back, &linux).unwrap();
            prop_assert_eq!(bounds(&again.plan), bounds(&there.plan), "{}\n{:?}", form, back);
            prop_assert_eq!(parameters(&again), parameters(&there), "{}", form);
        }
    }
}

/// What is imported of objects, each behind what it hangs at, and of the commands that add them.
pub(super) fn both_ways(objects: &[Object], contracts: &str) -> [Result<Import, PlanError>; 2] {
    let mut objects: Vec<&Object> = objects.iter().collect();
    objects.sort_by_key(|object| match object.sort {
        Sort::Qdisc if object.parent.major() != 2 => 0,
        Sort::Class => 1,
        Sort::Qdisc => 2,
        Sort::Filter => 3,
    });
    let commands = objects.iter().map(|object| netlink::command(object, "eth0") + "\n");
    let batch = contracts.to_string() + &commands.collect::<String>();
    let options = Options { device: Some("eth0".into()), ..Options::default() };
    let told = crate::import_objects(&objects, contracts, "eth0", &options);
    [told, crate::import(&batch, "eth0", &options)]
}

proptest! {
    /// Objects of the kernel give the same plan and notes as the commands that set them up.
    #[test]
    fn objects_are_read_as_their_commands(text in plans(), red: bool, bits: bool) {
        let text = if red { text.replace("limit = 4000 }", "min = 30, max = 90, limit = 300, weight = 0.001953125, gentle = false }")
                .replace("droptail\", min", "choke\", min") } else { text };
        let filters = if bits { Filters::U32 } else { Filters::Flower };
        let plan = parse(&text);
        let there = linux_plan(&plan, &Linux { filters, ..Linux::default() }).unwrap();
        let [told, read] = both_ways(&netlink::objects(&there.setup), &contracts(&plan, &there));
        let (told, read) = (told.unwrap(), read.unwrap());
        prop_assert_eq!(told.plan, read.plan);
        prop_assert_eq!(told.notes, read.notes);
    }
}

/// Of kinds that are not known only the name counts, and faults stand at the line of their object.
#[test]
fn objects_of_other_kinds_are_read_by_their_names() {
    let qdisc = |handle: u16, parent, kind| {
        let handle = Handle::new(handle, 0);
        let setup =
            Setup { qdiscs: vec![Qdisc { handle, parent, kind, stab: None }], ..Setup::default() };
        netlink::objects(&setup).remove(0)
    };
    let other = |name: &str| QdiscKind::Other { name: name.into(), limit: None };
    let tbf = QdiscKind::Tbf(Tbf { rate: Rate(8_000_000), burst: 10_000, limit: 10_000 });
    let prio = QdiscKind::Prio(Prio::DEFAULT);
    let mut objects = vec![
        qdisc(1, Handle::ROOT, tbf),
        qdisc(2, Handle::new(1, 1), prio),
        qdisc(3, Handle::new(2, 1), other("sfq")),
        qdisc(4, Handle::new(2, 2), other("hhf")),
    ];
    let [told, read] = both_ways(&objects, "");
    assert_eq!(told.unwrap(), read.unwrap());
    objects.push(qdisc(5, Handle::new(2, 3), other("red")));
    let class = Class {
        handle: Handle::new(2, 4),
        parent: Handle::new(2, 0),
        kind: ClassKind::Drr { quantum: 1 },
        name: None,
    };
    let drr = Setup { classes: vec![class], ..Setup::default() };
    objects.extend(netlink::objects(&drr));
    let [told, read] =
        both_ways(&objects, "#: link max-packet = \"1500b\"\n").map(Result::unwrap_err);
    assert_eq!((told.line(), told.message()), (read.line(), read.message()));
    assert_eq!(told.line(), Some(4));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_global_rejects: 8192, ..ProptestConfig::default() })]

    /// Where a plan's own proof gives a bound, Linux is never promised to be faster than its timer,
    /// unless weights that are rounded give a class more.
    #[test]
    fn linux_is_later_than_its_timer(text in plans()) {
        let plan = parse(&text);
        // Weights of wfq and wf2q are rounded; the bounds of hfsc and qfq have their own tests.
        prop_assume!(["drr", "priority"].contains(&plan.scheduler.to_string().as_str()));
        let linux = Linux::default();
        let there = linux_plan(&plan, &linux).unwrap();
        let explicit = plan.classes.iter().all(|class| class.deadline.is_none() || class.curves.real_time.is_some());
        prop_assume!(explicit);
        for ((name, own), (_, bound)) in bounds(&plan).into_iter().zip(bounds(&there.plan)) {
            if let (Ok(own), Ok(bound)) = (own, bound) {
                prop_assert!(bound >= own + linux.timer, "{name}: {own} here, {bound} there");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Matches that went to Linux and came back send packets without a tag to the same classes.
    #[test]
    fn packets_go_to_the_same_classes(
        exprs in prop::collection::vec(expressions(), 1..4),
        packets in prop::collection::vec(headers(), 20),
        bits in any::<bool>(),
    ) {
        let class = |(at, expr): (usize, &Expr)| format!("[class.c{at}]\nmatch = \"{expr}\"\n");
        let classes: String = exprs.iter().enumerate().map(class).collect();
        let plan = parse(&format!(
            "version = 1\nlink.rate = \"1mbit\"\nscheduler.kind = \"drr\"\n{classes}[class.rest]\nmatch = \"any\"\n"
        ));
        let filters = if bits { Filters::U32 } else { Filters::Flower };
        let Ok(there) = linux_plan(&plan, &Linux { filters, ..Linux::default() }) else { return Ok(()) };
        for format in [Format::Script, Format::Json] {
            let written = script(&plan, &there, format);
            let contracts = script(&plan, &there, Format::Script);
            let told = contracts.lines().filter(|line| line.starts_with("#:") && format == Format::Json);
            let told: String = told.flat_map(|line| [line, "\n"]).collect();
            let back = crate::import(&(told + &written), "script.sh", &Options::default()).unwrap();
            let too_large = ["a match has no room", "too many others"];
            if back.notes.iter().any(|note| too_large.iter().any(|told| note.text.contains(told))) {
                return Ok(());
            }
            let back = parse(&back.plan);
            let name = |plan: &Plan, headers: &Headers| {
                let class = Classifier::new(plan).class(headers);
                class.map(|class| plan.classes[class.index()].name.clone())
            };
            for headers in &packets {
                let headers = Headers { vlan: None, pcp: None, ..*headers };
                prop_assert_eq!(name(&back, &headers), name(&plan, &headers), "{}\n{:?}", written, headers);
            }
        }
    }
}
