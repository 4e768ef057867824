//! Random trees of htb in the kernel, beside the plans that are imported from them: what every leaf
//! sends alone, and with all the others.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::UdpSocket;
use std::process::Command;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;

/// How many trees are in the kernel at a time, each on an interface of its own.
const TREES: usize = 6;
/// By how much a rate may differ: a second's measurement of packets of 1042 bytes, and bursts.
const TOLERANCE: f64 = 0.07;
/// The longest turn: what a leaf of 1.5 Mbit/s borrows at once, in kbit. A measurement may have one
/// turn more or less.
const TURN: f64 = 75.0;
const SETTLE: Duration = Duration::from_millis(400);
const MEASURE: Duration = Duration::from_millis(1_600);
/// The variables for the sender: interfaces and ports, and for how long.
const TOLD: &str = "LAXITY_HTB_SENDER";

/// A class: the one above it, its rate and its ceil in kbit/s, and what else it says of turns.
type Tree = Vec<(Option<usize>, u64, u64, String)>;

/// One or two levels below the top, with `ceil`s on either side of the rates.
fn tree() -> impl Strategy<Value = Tree> {
    let class = |rates: std::ops::Range<u64>| {
        let ceil = prop_oneof![Just(4u64), Just(8), Just(12), Just(40)];
        (rates, ceil).prop_map(|(rate, quarters)| (rate * 100, rate * 25 * quarters))
    };
    let turns = prop_oneof![
        3 => Just(String::new()),
        2 => prop::sample::select(vec![1_514, 3_000, 6_000]).prop_map(|bytes| format!(" quantum {bytes}")),
        1 => (0..3).prop_map(|prio| format!(" prio {prio}")),
    ];
    let leaves = prop::collection::vec((class(3..16), any::<bool>(), turns), 2..5);
    let parts = (class(10..50), prop::option::of(class(5..30)), leaves, prop::bool::weighted(0.7));
    parts.prop_map(|(top, inner, leaves, is_long)| {
        // So that no turn ends because a class is at its ceil for a moment.
        let long = if is_long { " cburst 15k" } else { "" };
        let mut tree = vec![(None, top.0, top.1, String::new())];
        tree.extend(inner.map(|(rate, ceil)| (Some(0), rate, ceil, long.to_string())));
        for (at, ((rate, ceil), is_deeper, turns)) in leaves.into_iter().enumerate() {
            // The inner class has at least one.
            let parent = usize::from(inner.is_some() && (is_deeper || at == 0));
            tree.push((Some(parent), rate, ceil, turns + long));
        }
        // Leaves at the top, now and then.
        if top.1 == top.0 * 3 && inner.is_none() {
            tree.remove(0);
            for class in &mut tree {
                class.0 = None;
            }
        }
        tree
    })
}

fn leaves(tree: &Tree) -> Vec<usize> {
    (0..tree.len()).filter(|at| tree.iter().all(|class| class.0 != Some(*at))).collect()
}

/// The set-up, as a batch: port 1000 + N goes to class N.
fn batch(tree: &Tree, device: &str) -> String {
    let mut text = format!("qdisc add dev {device} root handle 1: htb default 1 r2q 20\n");
    for (at, (parent, rate, ceil, turns)) in tree.iter().enumerate() {
        let parent = parent.map_or(String::new(), |parent| format!("{:x}", parent + 1));
        let _ = writeln!(
            text,
            "class add dev {device} parent 1:{parent} classid 1:{:x} htb rate {rate}kbit ceil {ceil}kbit{turns}",
            at + 1
        );
    }
    for leaf in leaves(tree) {
        let _ = writeln!(
            text,
            "filter add dev {device} parent 1: protocol ip prio 1 u32 match ip dport {} 0xffff flowid 1:{:x}",
            1_000 + leaf,
            leaf + 1
        );
    }
    text
}

/// What the plan says that each class sends, in kbit/s, where these leaves always have packets:
/// what is guaranteed, and of the rest to each by its share up to its limit.
fn planned(plan: &Plan, tree: &Tree, active: &[usize]) -> BTreeMap<usize, f64> {
    let curves = |at: usize| {
        plan.class(&format!("1-{:x}", at + 1)).map(|id| plan.classes[id.index()].curves)
    };
    let rate = |curve: Option<ServiceCurve>| curve.map(|curve| curve.m2().0 as f64 / 1e3);
    let children = |of: Option<usize>| -> Vec<usize> {
        (0..tree.len()).filter(|at| tree[*at].0 == of).collect()
    };
    struct Need {
        least: f64,
        most: f64,
    }
    fn need(
        at: usize,
        children: &dyn Fn(Option<usize>) -> Vec<usize>,
        own: &dyn Fn(usize) -> (f64, f64, bool),
    ) -> Need {
        let below = children(Some(at));
        let (least, most, is_active) = own(at);
        if below.is_empty() {
            return if is_active { Need { least, most } } else { Need { least: 0.0, most: 0.0 } };
        }
        let all: Vec<Need> = below.into_iter().map(|at| need(at, children, own)).collect();
        let sum = |of: fn(&Need) -> f64| all.iter().map(of).sum::<f64>();
        Need { least: sum(|need| need.least), most: sum(|need| need.most).min(most) }
    }
    let own = |at: usize| {
        let curves = curves(at);
        let least = curves.and_then(|curves| rate(curves.real_time)).unwrap_or(0.0);
        let most = curves.and_then(|curves| rate(curves.upper_limit)).unwrap_or(f64::INFINITY);
        (least, most, active.contains(&at))
    };
    let mut sent = BTreeMap::new();
    let mut open = vec![(None, plan.link.rate.0 as f64 / 1e3)];
    while let Some((parent, amount)) = open.pop() {
        let all = children(parent);
        let needs: Vec<Need> = all.iter().map(|at| need(*at, &children, &own)).collect();
        // What is the link itself is no class of the plan.
        let share =
            |at: usize| curves(at).and_then(|curves| rate(curves.link_share)).unwrap_or(1.0);
        let at_level = |level: f64| -> Vec<f64> {
            let pairs = all.iter().zip(&needs);
            pairs.map(|(at, need)| (level * share(*at)).max(need.least).min(need.most)).collect()
        };
        let (mut low, mut high) = (0.0, 1e9);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if at_level(middle).iter().sum::<f64>() > amount { high = middle } else { low = middle }
        }
        for (at, amount) in all.iter().zip(at_level(low)) {
            sent.insert(*at, amount);
            open.push((Some(*at), amount));
        }
    }
    sent
}

/// A network namespace with an interface for each tree, taken away when it is dropped.
struct Namespace(String);

impl Namespace {
    /// `None`, and why, where the kernel or its user may not.
    fn new() -> Result<Namespace, String> {
        let namespace = Namespace(format!("htb-test-{}", std::process::id()));
        run(Command::new("ip").args(["netns", "add", &namespace.0]))?;
        for at in 0..TREES {
            let lines = [
                format!("link add v{at} type veth peer name w{at}"),
                format!("link set v{at} up txqueuelen 1000"),
                format!("link set w{at} up"),
                format!("addr add 10.9.{at}.1/24 dev v{at}"),
                format!("neigh add 10.9.{at}.2 lladdr 02:00:00:00:00:02 dev v{at}"),
            ];
            for line in lines {
                run(namespace.inside("ip").args(line.split(' ')))?;
            }
        }
        Ok(namespace)
    }

    fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0, program]);
        command
    }

    /// Bytes that each class of an interface has sent.
    fn sent(&self, device: &str) -> BTreeMap<usize, u64> {
        let shown = run(self.inside("tc").args(["-s", "class", "show", "dev", device])).unwrap();
        let mut class = 0;
        let mut all = BTreeMap::new();
        for line in shown.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["class", "htb", handle, ..] => {
                    class = usize::from_str_radix(&handle[2..], 16).unwrap() - 1;
                }
                ["Sent", bytes, ..] => drop(all.insert(class, bytes.parse().unwrap())),
                _ => {}
            }
        }
        all
    }

    /// What every class sends in kbit/s while these leaves of each tree always have packets.
    fn measure(&self, active: &[Vec<usize>]) -> Vec<BTreeMap<usize, f64>> {
        let ends = |(at, leaves): (usize, &Vec<usize>)| -> Vec<String> {
            leaves.iter().map(|leaf| format!("10.9.{at}.2:{}", 1_000 + leaf)).collect()
        };
        let told: Vec<String> = active.iter().enumerate().flat_map(ends).collect();
        let test = "tests::htb::kernel::sender";
        let mut sender = self.inside(std::env::current_exe().unwrap().to_str().unwrap());
        let sender = sender.args(["--exact", "--ignored", test]).env(TOLD, told.join(" "));
        let mut sender = sender.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(SETTLE);
        let read = || -> Vec<_> {
            (0..TREES).map(|at| (Instant::now(), self.sent(&format!("v{at}")))).collect()
        };
        let before = read();
        std::thread::sleep(MEASURE);
        let after = read();
        assert!(sender.wait().unwrap().success());
        let rates = |((from, before), (to, after)): (
            &(Instant, BTreeMap<_, u64>),
            (_, BTreeMap<_, u64>),
        )| {
            let millis = Instant::duration_since(&to, *from).as_secs_f64() * 1e3;
            let rate = |(class, bytes)| (class, (bytes - before[&class]) as f64 * 8.0 / millis);
            after.into_iter().map(rate).collect()
        };
        before.iter().zip(after).map(rates).collect()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = run(Command::new("ip").args(["netns", "del", &self.0]));
    }
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_string())
    }
}

/// Sends as fast as possible for the time of a measurement. The test below starts it inside the
/// namespace, with the receiver in its environment.
#[test]
#[ignore = "sends packets for another test"]
fn sender() {
    let Ok(told) = std::env::var(TOLD) else { return };
    let end = Instant::now() + SETTLE + MEASURE + Duration::from_millis(300);
    std::thread::scope(|scope| {
        for to in told.split_whitespace() {
            scope.spawn(move || {
                let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
                socket.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
                socket.connect(to).unwrap();
                while Instant::now() < end {
                    let _ = socket.send(&[0; 1_000]);
                }
            });
        }
    });
}

#[test]
fn every_leaf_sends_what_the_plan_says() {
    let namespace = match Namespace::new() {
        Ok(namespace) => namespace,
        Err(why) => return eprintln!("skipped: no network namespace with htb: {why}"),
    };
    let mut runner = TestRunner::default();
    let trees: Vec<Tree> =
        (0..TREES).map(|_| tree().new_tree(&mut runner).unwrap().current()).collect();
    let mut plans = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        let batch = batch(tree, &format!("v{at}"));
        for line in batch.lines() {
            if let Err(why) = run(namespace.inside("tc").args(line.split(' '))) {
                return eprintln!("skipped: the kernel has no htb or u32: {why}");
            }
        }
        plans.push(plan(&batch));
    }
    let all: Vec<Vec<usize>> = trees.iter().map(leaves).collect();
    let alone: Vec<Vec<usize>> = all.iter().map(|leaves| leaves[..1].to_vec()).collect();
    // Alone first: what is left of that in queues is of leaves that send later, too.
    for active in [alone, all] {
        let measured = namespace.measure(&active);
        for (at, tree) in trees.iter().enumerate() {
            compare(tree, &plans[at], &active[at], &measured[at]);
        }
    }
}

/// Compares what was measured with the plan. A leaf alone may not have what is its neighbours' own.
fn compare(tree: &Tree, plan: &Plan, active: &[usize], measured: &BTreeMap<usize, f64>) {
    let planned = planned(plan, tree, active);
    let own = |at: &usize| tree[*at].1.min(tree[*at].2) as f64;
    let is_limited = (0..tree.len()).all(|at| {
        let below: Vec<usize> =
            leaves(tree).into_iter().filter(|leaf| is_below(tree, *leaf, at)).collect();
        let limit = if tree[at].0.is_some() { tree[at].2 as f64 } else { own(&at) };
        // What an inner class lends of its own goes past the limits above it, too.
        let inner = (0..tree.len())
            .any(|inner| inner != at && is_below(tree, inner, at) && !below.contains(&inner));
        !inner && below.iter().map(own).sum::<f64>() <= limit
    });
    let close = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * a.max(b) + 10.0;
    let told =
        || format!("{tree:?}, of which {active:?} send\n{measured:?}\n{planned:?}\n{plan:?}");
    for leaf in active {
        let (is, said) = (measured[leaf], planned[leaf]);
        match active.len() {
            1 if is_limited => assert!(close(is, said), "leaf {leaf}: {}", told()),
            1 => assert!(is <= said * (1.0 + TOLERANCE) + 10.0, "leaf {leaf}: {}", told()),
            _ if is_cut(tree) => {
                let (least, most) = (own(leaf), tree[*leaf].2.max(own(leaf) as u64) as f64);
                let range = least * (1.0 - TOLERANCE)..=most * (1.0 + TOLERANCE) + 10.0;
                assert!(range.contains(&is), "leaf {leaf}: {}", told());
            }
            _ => {
                let turn = TURN / MEASURE.as_secs_f64();
                let near = (is - said).abs() <= TOLERANCE * is.max(said) + turn;
                assert!(near, "leaf {leaf}: {}", told());
            }
        }
    }
    let total = |of: &BTreeMap<usize, f64>| active.iter().map(|leaf| of[leaf]).sum::<f64>();
    if active.len() > 1 {
        assert!(close(total(measured), total(&planned)), "in all: {}", told());
    }
}

/// Whether a class that borrows may be at its ceil for a moment, and end a turn by that.
fn is_cut(tree: &Tree) -> bool {
    let leaves = leaves(tree);
    (0..tree.len()).filter(|at| tree[*at].0.is_some()).any(|at| {
        let (_, rate, ceil, options) = &tree[at];
        let borrows = !leaves.contains(&at) || ceil > rate;
        borrows && *ceil < tree[0].1 && !options.contains("cburst")
    })
}

fn is_below(tree: &Tree, class: usize, above: usize) -> bool {
    std::iter::successors(Some(class), |at| tree[*at].0).any(|at| at == above)
}
