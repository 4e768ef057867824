//! Set-ups of tc that are drawn at random.

use std::fmt::Write as _;

use laxity_search::Generator;
use rand::RngExt;

/// What stands in a batch for the interface.
pub(super) const DEVICE: &str = "DEV";

/// The qdiscs that share.
pub(super) const KINDS: [&str; 7] = ["htb", "hfsc", "prio", "drr", "qfq", "fq_codel", "nested"];

/// A set-up, and where its packets go.
pub(super) struct Setup {
    pub kind: &'static str,
    /// The lines of a batch of tc.
    pub batch: String,
    pub leaves: Vec<Leaf>,
    /// The most bytes that a leaf sends in a turn.
    pub turn: u64,
}

/// What goes to one port.
pub(super) struct Leaf {
    pub port: u16,
    /// Of its frames.
    pub length: u64,
    /// Its name in the plan.
    pub class: String,
}

impl Setup {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.batch, "{}", line.replacen("add", &format!("add dev {DEVICE}"), 1));
    }

    /// A leaf with packets, which a filter at the qdisc `1:` leads to.
    fn leaf(&mut self, number: usize, draw: &mut Generator) {
        let port = 4_000 + number as u16;
        self.filter(1, port, number);
        self.packets(port, &format!("1-{number:x}"), draw);
    }

    /// At this qdisc, the packets to a port go to this class of it.
    fn filter(&mut self, qdisc: usize, port: u16, class: usize) {
        self.line(&format!(
            "filter add parent {qdisc}: protocol ip prio 1 u32 match ip dport {port} 0xffff flowid {qdisc}:{class:x}"
        ));
    }

    /// Packets to a port, which go to this class of the plan.
    fn packets(&mut self, port: u16, class: &str, draw: &mut Generator) {
        let length = [342, 842, 1_042, 1_442][draw.random_range(0..4usize)];
        self.leaves.push(Leaf { port, length, class: class.to_owned() });
    }

    /// A shaper, and the qdisc `1:` below it.
    fn below_a_shaper(&mut self, words: &str, draw: &mut Generator) {
        let rate = draw.random_range(10..25) * 100;
        if draw.random_bool(0.5) {
            self.line(&format!(
                "qdisc add root handle 9: tbf rate {rate}kbit burst 15000 limit 1000000"
            ))
        } else {
            self.line("qdisc add root handle 9: htb default 1");
            self.line(&format!("class add parent 9: classid 9:1 htb rate {rate}kbit burst 15000"));
        }
        self.line(&format!("qdisc add parent 9:1 handle 1: {words}"));
    }
}

/// A token bucket alone, with its known rate in kbit/s.
pub(super) fn reference() -> (Setup, f64) {
    let mut setup = Setup { kind: "tbf", batch: String::new(), leaves: Vec::new(), turn: 0 };
    setup.line("qdisc add root handle 1: tbf rate 1000kbit burst 15000 limit 100000");
    setup.leaves.push(Leaf { port: 4_000, length: 1_042, class: "all".into() });
    (setup, 1_000.0)
}

/// A set-up of a kind.
pub(super) fn drawn(kind: &'static str, draw: &mut Generator) -> Setup {
    let mut setup = Setup { kind, batch: String::new(), leaves: Vec::new(), turn: 1_514 };
    match kind {
        "htb" => htb(&mut setup, draw),
        "hfsc" => hfsc(&mut setup, draw),
        "prio" => prio(&mut setup, draw),
        "fq_codel" => fq_codel(&mut setup, draw),
        "nested" => nested(&mut setup, draw),
        kind => by_weight(kind, &mut setup, draw),
    }
    setup
}

/// Leaves below the class at the top, 1:1, or below 1:2: the number of each and whether it is below
/// 1:2.
fn places(draw: &mut Generator) -> Vec<(usize, bool)> {
    let inner = draw.random_bool(0.6);
    let count = draw.random_range(2..5);
    // The inner class has at least one.
    (0..count).map(|at| (10 + at, inner && (at == 0 || draw.random_bool(0.5)))).collect()
}

/// Turns are never cut short by a class that is at its ceil for a moment, for `cburst` is longer.
fn htb(setup: &mut Setup, draw: &mut Generator) {
    const BURSTS: &str = "burst 15k cburst 15k";
    let top = draw.random_range(15..30) * 100;
    setup.line("qdisc add root handle 1: htb r2q 20");
    setup.line(&format!("class add parent 1: classid 1:1 htb rate {top}kbit {BURSTS}"));
    let places = places(draw);
    if places[0].1 {
        let (rate, ceil) = (draw.random_range(3..12) * 100, draw.random_range(12..30) * 100);
        setup.line(&format!(
            "class add parent 1:1 classid 1:2 htb rate {rate}kbit ceil {ceil}kbit {BURSTS}"
        ));
    }
    for (number, is_deeper) in places {
        let (rate, more) = (draw.random_range(2..8) * 100, draw.random_range(0..20) * 100);
        let turns = match draw.random_range(0..4) {
            0 => format!("quantum {}", draw.random_range(1_514..6_000)),
            1 => format!("prio {}", draw.random_range(0..3)),
            _ => String::new(),
        };
        setup.line(&format!(
            "class add parent 1:{} classid 1:{number:x} htb rate {rate}kbit ceil {}kbit {BURSTS} {turns}",
            1 + usize::from(is_deeper),
            rate + more
        ));
        setup.leaf(number, draw);
    }
    setup.turn = 6_000;
}

fn hfsc(setup: &mut Setup, draw: &mut Generator) {
    let top = draw.random_range(10..25) * 100;
    setup.line("qdisc add root handle 1: hfsc");
    setup.line(&format!("class add parent 1: classid 1:1 hfsc ls m2 {top}kbit ul m2 {top}kbit"));
    let places = places(draw);
    if places[0].1 {
        let limit = if draw.random_bool(0.3) {
            format!("ul m2 {}kbit", draw.random_range(5..10) * 100)
        } else {
            String::new()
        };
        let share = draw.random_range(3..15) * 100;
        setup.line(&format!("class add parent 1:1 classid 1:2 hfsc ls m2 {share}kbit {limit}"));
    }
    // Keeps the sum of all real-time curves below the rate of the link.
    let most = top / places.len() as u64 / 100;
    for (number, is_deeper) in places {
        let guaranteed = draw.random_range(1..most) * 90;
        let share = draw.random_range(1..20) * 100;
        let curves = match draw.random_range(0..4) {
            0 => format!("sc m2 {guaranteed}kbit"),
            1 => format!("rt m2 {guaranteed}kbit ls m2 {share}kbit"),
            2 => format!("ls m2 {share}kbit ul m2 {}kbit", draw.random_range(2..8) * 100),
            _ => format!("ls m2 {share}kbit"),
        };
        setup.line(&format!(
            "class add parent 1:{} classid 1:{number:x} hfsc {curves}",
            1 + usize::from(is_deeper)
        ));
        setup.leaf(number, draw);
    }
    setup.turn = 2 * 1_514;
}

/// Some bands have no packets, so that the others come to theirs.
fn prio(setup: &mut Setup, draw: &mut Generator) {
    let bands = draw.random_range(2..6);
    let last = bands - 1;
    setup.below_a_shaper(
        &format!("prio bands {bands} priomap {}", [last.to_string().as_str(); 16].join(" ")),
        draw,
    );
    let first = draw.random_range(1..=bands);
    for band in first..=bands {
        setup.leaf(band, draw);
    }
}

fn by_weight(kind: &str, setup: &mut Setup, draw: &mut Generator) {
    setup.below_a_shaper(kind, draw);
    for number in 10..10 + draw.random_range(2..5) {
        let share = match kind {
            "drr" => {
                let quantum = draw.random_range(400..6_000);
                setup.turn = setup.turn.max(quantum);
                format!("quantum {quantum}")
            }
            // Time stamps are rounded to slots of up to two packets: a class may be ahead by one or
            // behind.
            _ => {
                setup.turn = 2 * 2 * 1_514;
                format!("weight {}", draw.random_range(1..60))
            }
        };
        setup.line(&format!("class add parent 1: classid 1:{number:x} {kind} {share}"));
        setup.leaf(number, draw);
    }
}

/// Its leaves are flows.
fn fq_codel(setup: &mut Setup, draw: &mut Generator) {
    let quantum = draw.random_range(300..3_000);
    setup.turn = setup.turn.max(quantum);
    setup.below_a_shaper(&format!("fq_codel quantum {quantum} noecn"), draw);
    for number in 0..draw.random_range(2..5u16) {
        let length = 342 + 300 * u64::from(number) + draw.random_range(0..200);
        setup.leaves.push(Leaf { port: 4_000 + number, length, class: "all".into() });
    }
}

/// Two classes of htb that may have all of the link, drr below the one, qfq or prio below the
/// other.
fn nested(setup: &mut Setup, draw: &mut Generator) {
    const BURSTS: &str = "burst 15k cburst 15k";
    let top = draw.random_range(15..30) * 100;
    setup.line("qdisc add root handle 1: htb r2q 20");
    setup.line(&format!("class add parent 1: classid 1:1 htb rate {top}kbit {BURSTS}"));
    for (at, kind) in [(2usize, "drr"), (3, if draw.random_bool(0.5) { "qfq" } else { "prio" })] {
        let rate = draw.random_range(3..8) * 100;
        setup.line(&format!(
            "class add parent 1:1 classid 1:{at} htb rate {rate}kbit ceil {top}kbit {BURSTS}"
        ));
        setup.line(&format!("qdisc add parent 1:{at} handle {at}: {kind}"));
        for class in 1..=draw.random_range(2..4usize) {
            let share = match kind {
                "drr" => format!("quantum {}", draw.random_range(1_514..5_000)),
                _ => format!("weight {}", draw.random_range(1..60)),
            };
            if kind != "prio" {
                setup.line(&format!("class add parent {at}: classid {at}:{class} {kind} {share}"));
            }
            let port = 4_000 + (10 * at + class) as u16;
            setup.filter(1, port, at);
            setup.filter(at, port, class);
            setup.packets(port, &format!("{at}-{class}"), draw);
        }
    }
    setup.turn = 6_000;
}
