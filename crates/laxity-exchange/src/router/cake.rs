//! Command lines of cake (`tc-cake(8)`), and its words in other tools' settings.

use laxity::overhead::{Framing, Overhead};
use laxity::sched::cake::{AckFilter, Diffserv, Isolation};
use laxity::units::Nanos;

use super::rates::{tc_rate, tc_time};
use super::{Router, Shaper};
use crate::Error;
use crate::error::shown;

/// The bytes of an Ethernet header. cake counts overheads from the IP packet, plans from the frame.
const HEADER: i32 = 14;

/// Reads the words of commands, or the lines that `tc qdisc show` prints. What is at an interface
/// whose name begins with `ifb`, or has the word `ingress`, is for what is received.
///
/// # Errors
/// If no command sets up cake or cake_mq, or one of its words is none of cake.
pub fn cake(commands: &[Vec<String>]) -> Result<Router, Error> {
    let mut router = Router::default();
    let mut any = false;
    for command in commands {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let Some(at) = words.iter().position(|word| ["cake", "cake_mq"].contains(word)) else {
            continue;
        };
        if !words[..at].contains(&"qdisc") || words[..at].iter().any(|word| is_removal(word)) {
            continue;
        }
        any = true;
        let device = words.iter().position(|word| *word == "dev").and_then(|at| words.get(at + 1));
        let options = after_place(&words[at + 1..]);
        let is_down =
            options.contains(&"ingress") || device.is_some_and(|dev| dev.starts_with("ifb"));
        let (shaper, direction) =
            if is_down { (&mut router.down, "down") } else { (&mut router.up, "up") };
        read_options(options, shaper, direction, &mut router.notes)
            .map_err(|message| Error::new(format!("`{}`: {message}", shown(&words.join(" ")))))?;
        if !is_down {
            router.interface = device.map(|dev| (*dev).to_owned());
        }
        if words[at] == "cake_mq" {
            router
                .notes
                .push(format!("{direction}: cake_mq: one shaper for all queues of the interface"));
        }
    }
    if any { Ok(router) } else { Err(Error::new("no command sets up cake or cake_mq")) }
}

fn is_removal(word: &str) -> bool {
    ["del", "delete"].contains(&word)
}

/// The options of a line that `tc` shows: behind where the discipline is.
fn after_place<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let mut rest = words;
    loop {
        rest = match rest {
            [handle, rest @ ..] if handle.ends_with(':') => rest,
            ["root", rest @ ..] => rest,
            ["dev" | "parent" | "refcnt", _, rest @ ..] => rest,
            _ => return rest,
        };
    }
}

/// Round-trip times of cake by their names, in microseconds.
const ROUND_TRIPS: [(&str, u64); 8] = [
    ("datacentre", 100),
    ("lan", 1_000),
    ("metro", 10_000),
    ("regional", 30_000),
    ("internet", 100_000),
    ("oceanic", 300_000),
    ("satellite", 1_000_000),
    ("interplanetary", 3_600_000_000),
];

/// Words that change nothing in a plan: what they switch off is not there, or is as it always is.
const SILENT: [&str; 4] = ["egress", "nonat", "split-gso", "noatm"];

/// Words that a plan does not keep, and what it does instead.
const LOST: [(&str, &str); 3] = [
    ("nat", "flows are told by the addresses that packets have where the plan runs"),
    ("no-split-gso", "`laxity live` cuts what the kernel has merged"),
    ("autorate-ingress", "the rate stays as it is written"),
];

/// What becomes of code points in a plan with deadlines.
pub(super) const WASHED: &str = "packets with a deadline keep their code points";

/// Reads the words of cake into a shaper.
///
/// # Errors
/// A sentence without a place.
pub(super) fn read_options(
    words: &[&str],
    shaper: &mut Shaper,
    direction: &str,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    let mut rest = words.iter().copied();
    let mut is_raw = false;
    while let Some(word) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("`{word}` needs a value behind it"));
        if let Some((_, micros)) = ROUND_TRIPS.iter().find(|(name, _)| *name == word) {
            shaper.queues.settings.rtt = Nanos(micros * 1_000);
        } else if let Some(tins) = Diffserv::from_word(word) {
            shaper.queues.settings.diffserv = tins;
        } else if let Some((_, overhead)) = Overhead::NAMED.iter().find(|(name, _)| *name == word) {
            shaper.overhead = *overhead;
            if word == "ethernet" {
                shaper.overhead.at_least = 84;
            }
        } else if let Some(isolation) = Isolation::from_word(word) {
            shaper.queues.settings.isolation = isolation;
        } else if let Some((_, instead)) = LOST.iter().find(|(name, _)| *name == word) {
            notes.push(format!("{direction}: {word}: {instead}"));
        } else if !SILENT.contains(&word) {
            match word {
                "bandwidth" => shaper.rate = Some(tc_rate(value()?)?),
                "unlimited" => shaper.rate = None,
                "rtt" => shaper.queues.settings.rtt = tc_time(value()?)?,
                "no-ack-filter" => shaper.queues.settings.ack_filter = AckFilter::Off,
                "ack-filter" => shaper.queues.settings.ack_filter = AckFilter::On,
                "ack-filter-aggressive" => {
                    shaper.queues.settings.ack_filter = AckFilter::Aggressive
                }
                "ingress" => shaper.queues.settings.ingress = true,
                "nowash" => shaper.queues.wash = false,
                "wash" => {
                    shaper.queues.wash = true;
                    notes.push(format!("{direction}: wash: {WASHED}"));
                }
                "diffserv-llt" => {
                    shaper.queues.settings.diffserv = Diffserv::Diffserv4;
                    notes.push(format!("{direction}: diffserv-llt: read as diffserv4"));
                }
                "overhead" => {
                    let bytes: i32 = number(word, value()?, -64..=256)?;
                    // `raw` leaves lengths as the interface has them, and is shown with this.
                    if !(is_raw && bytes == 0) {
                        shaper.overhead.bytes = bytes - HEADER;
                    }
                }
                "mpu" => {
                    let least: i32 = number(word, value()?, 0..=256)?;
                    shaper.overhead.at_least = least.unsigned_abs();
                }
                "atm" => shaper.overhead.framing = Framing::Atm,
                "ptm" => shaper.overhead.framing = Framing::Ptm,
                "ether-vlan" => shaper.overhead.bytes += 4,
                "conservative" => {
                    let bytes = 48 - HEADER;
                    shaper.overhead = Overhead { bytes, at_least: 0, framing: Framing::Atm };
                }
                "raw" => {
                    is_raw = true;
                    shaper.overhead = Overhead::NONE;
                }
                "via-ethernet" => {}
                "memlimit" => {
                    let size = value()?;
                    notes.push(format!(
                        "{direction}: memlimit {}: queues hold packets, not bytes",
                        shown(size)
                    ));
                }
                "fwmark" => {
                    let mask = value()?;
                    notes.push(format!(
                        "{direction}: fwmark {}: packets are sorted by ports and code points alone",
                        shown(mask)
                    ));
                }
                _ => {
                    return Err(format!(
                        "`{}` is no word of cake: accepted are those of tc-cake(8), such as bandwidth 20mbit, diffserv4, docsis",
                        shown(word)
                    ));
                }
            }
        }
    }
    Ok(())
}

/// A whole number within limits.
fn number(word: &str, text: &str, within: std::ops::RangeInclusive<i32>) -> Result<i32, String> {
    let number = text.parse().ok().filter(|number| within.contains(number));
    number.ok_or_else(|| {
        format!("`{word} {}`: a number from {} to {}", shown(text), within.start(), within.end())
    })
}

#[cfg(test)]
mod tests {
    use laxity::sched::cake::CakeSettings;
    use laxity::units::Rate;
    use laxity_plan::model::CakeSpec;

    use super::*;

    fn read(lines: &str) -> Result<Router, Error> {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        cake(&lines.lines().map(words).collect::<Vec<_>>())
    }

    #[test]
    fn both_directions_of_a_router_are_read() {
        let router = read(
            "tc qdisc del dev eth0 root cake\n\
             tc qdisc add dev eth0 root cake bandwidth 20mbit diffserv4 nat docsis ack-filter\n\
             tc qdisc add dev ifb4eth0 root cake bandwidth 100Mbit besteffort ingress dual-dsthost wash rtt 50ms overhead 44 mpu 84",
        )
        .unwrap();
        assert_eq!(router.interface.as_deref(), Some("eth0"));
        assert_eq!(router.up.rate, Some(Rate(20_000_000)));
        assert_eq!(router.up.queues.settings.diffserv, Diffserv::Diffserv4);
        assert_eq!((router.up.overhead.bytes, router.up.overhead.at_least), (4, 64));
        assert_eq!(router.down.rate, Some(Rate(100_000_000)));
        let (up, down) = (router.up.queues, router.down.queues);
        assert_eq!((up.settings.ack_filter, up.settings.ingress), (AckFilter::On, false));
        let settings = CakeSettings {
            diffserv: Diffserv::Besteffort,
            isolation: Isolation::DualDsthost,
            rtt: Nanos(50_000_000),
            ingress: true,
            ..CakeSettings::USUAL
        };
        assert_eq!(down, CakeSpec { wash: true, settings, ..CakeSpec::USUAL });
        assert_eq!((router.down.overhead.bytes, router.down.overhead.at_least), (30, 84));
        let notes = router.notes.join("\n");
        for note in ["up: nat:", "down: wash:"] {
            assert!(notes.contains(note), "{note} is missing in {notes}");
        }
    }

    #[test]
    fn what_tc_shows_is_read() {
        let router = read(
            "qdisc noqueue 0: dev lo root refcnt 2\n\
             qdisc cake 8001: dev wan root refcnt 2 bandwidth 20Mbit diffserv3 triple-isolate nonat nowash \
             no-ack-filter split-gso rtt 100ms raw overhead 0\n\
             qdisc cake_mq 8002: dev ifb0 root bandwidth 1Gbit besteffort rtt 100ms noatm overhead 18 mpu 64",
        )
        .unwrap();
        assert_eq!(router.up.overhead, Overhead::NONE);
        assert_eq!(router.up.queues.settings.diffserv, Diffserv::Diffserv3);
        assert_eq!(router.down.rate, Some(Rate(1_000_000_000)));
        assert_eq!(router.down.overhead.bytes, 4);
    }

    #[test]
    fn unknown_words_are_refused() {
        for (line, part) in [
            ("tc qdisc add dev eth0 root fq_codel", "no command sets up cake"),
            ("tc qdisc add dev eth0 root cake bandwith 20mbit", "`bandwith` is no word of cake"),
            ("tc qdisc add dev eth0 root cake bandwidth", "needs a value"),
            ("tc qdisc add dev eth0 root cake bandwidth fast", "not a rate"),
            ("tc qdisc add dev eth0 root cake overhead 9999", "from -64 to 256"),
        ] {
            let error = read(line).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
