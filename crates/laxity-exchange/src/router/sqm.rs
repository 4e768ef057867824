//! sqm-scripts, `/etc/config/sqm` of OpenWrt.

use laxity::overhead::{Framing, Overhead};
use laxity::sched::cake::{Diffserv, Isolation};
use laxity::units::Rate;

use super::cake::{WASHED, read_options};
use super::rates::kilobits;
use super::uci::{self, Section, UciOption};
use super::{Router, Shaper};
use crate::Error;
use crate::error::shown;

/// Reads `/etc/config/sqm`: its first queue that is enabled, or else its first one.
///
/// # Errors
/// At the first line that is no UCI, or whose value sqm-scripts does not have.
pub fn sqm(text: &str) -> Result<Router, Error> {
    let sections = uci::read(text)?;
    let queues: Vec<&Section> = sections.iter().filter(|section| section.kind == "queue").collect();
    let mut enabled = Vec::new();
    for queue in &queues {
        if queue.switch("enabled")? == Some(true) {
            enabled.push(*queue);
        }
    }
    let Some(queue) = enabled.first().or(queues.first()).copied() else {
        return Err(Error::new("there is no `config queue`: this is no /etc/config/sqm"));
    };
    let mut router =
        Router { interface: queue.value("interface").map(Into::into), ..Router::default() };
    for other in queues.iter().filter(|other| other.line != queue.line) {
        let name = other.value("interface").unwrap_or("without an interface");
        router.notes.push(format!(
            "{}: the queue of {} is left out: a plan is for one link",
            other.line,
            shown(name)
        ));
    }
    if enabled.is_empty() {
        router.notes.push(format!("{}: enabled 0: the plan does not know of it", queue.line));
    }
    for option in &queue.options {
        if !KEPT.contains(&option.name.as_str()) && !is_default(option) {
            let value = shown(&option.value);
            router.notes.push(format!("{}: {} {value}: not kept", option.line, option.name));
        }
    }
    router.up.rate = rate(queue, "upload")?;
    router.down.rate = rate(queue, "download")?;
    let is_cake = queue.value("qdisc").unwrap_or("fq_codel").starts_with("cake");
    let overhead = overhead(queue, is_cake)?;
    (router.up.overhead, router.down.overhead) = (overhead, overhead);
    (router.up.queues.settings.diffserv, router.down.queues.settings.diffserv) =
        tins(queue, &mut router.notes)?;
    router.down.queues.wash = queue.switch("squash_dscp")?.unwrap_or(true);
    if router.down.queues.wash {
        router.notes.push(format!("down: squash_dscp 1: {WASHED}"));
    }
    if !is_cake {
        router.up.queues.settings.isolation = Isolation::Flows;
        router.down.queues.settings.isolation = Isolation::Flows;
    }
    let Router { up, down, notes, .. } = &mut router;
    options(queue, "eqdisc_opts", up, "up", is_cake, notes)?;
    options(queue, "iqdisc_opts", down, "down", is_cake, notes)?;
    Ok(router)
}

/// Options that a plan keeps, or whose notes are made elsewhere.
const KEPT: [&str; 19] = [
    "enabled",
    "interface",
    "download",
    "upload",
    "script",
    "qdisc",
    "linklayer",
    "overhead",
    "tcMPU",
    "squash_dscp",
    "squash_ingress",
    "iqdisc_opts",
    "eqdisc_opts",
    // These show other options in LuCI, and change nothing themselves.
    "qdisc_advanced",
    "qdisc_really_really_advanced",
    "linklayer_advanced",
    "linklayer_adaptation_mechanism",
    "debug_logging",
    "verbosity",
];

/// Whether an option says what holds anyway.
fn is_default(option: &UciOption) -> bool {
    matches!(
        (option.name.as_str(), option.value.as_str()),
        (_, "")
            | ("itarget" | "etarget", "auto" | "default")
            | ("ingress_ecn" | "egress_ecn", "ECN")
            | ("tcMTU", "2047")
            | ("tcTSIZE", "128" | "512")
            | ("shaper", "htb")
    )
}

/// A rate in kbit/s; 0 shapes nothing.
fn rate(queue: &Section, name: &str) -> Result<Option<Rate>, Error> {
    let Some(option) = queue.option(name) else { return Ok(None) };
    kilobits(&option.value)
        .map_err(|message| Error::at(option.line, format!("`{name}`: {message}")))
}

/// What the link adds. cake counts from the IP packet, and the others from the frame.
fn overhead(queue: &Section, is_cake: bool) -> Result<Overhead, Error> {
    let framing = match queue.value("linklayer").unwrap_or("none") {
        "none" => return Ok(Overhead::NONE),
        "ethernet" => Framing::Whole,
        "atm" | "adsl" => Framing::Atm,
        "ptm" => Framing::Ptm,
        other => {
            let line = queue.option("linklayer").map_or(queue.line, |option| option.line);
            return Err(Error::at(
                line,
                format!("`linklayer` is `{}`: accepted are none, ethernet, atm", shown(other)),
            ));
        }
    };
    let number = |name: &str, most: i32| -> Result<i32, Error> {
        let Some(option) = queue.option(name).filter(|option| !option.value.is_empty()) else {
            return Ok(0);
        };
        let number = option.value.parse().ok().filter(|number| (-64..=most).contains(number));
        number.ok_or_else(|| {
            let value = shown(&option.value);
            Error::at(
                option.line,
                format!("`{name}` is `{value}`: a number of bytes, up to {most}"),
            )
        })
    };
    let header = if is_cake { 14 } else { 0 };
    Ok(Overhead {
        bytes: number("overhead", 256)? - header,
        at_least: number("tcMPU", 256)?.max(0).unsigned_abs(),
        framing,
    })
}

/// The tins of a script, up and down.
fn tins(queue: &Section, notes: &mut Vec<String>) -> Result<(Diffserv, Diffserv), Error> {
    let script = queue.value("script").unwrap_or("simple.qos");
    let tins = match script {
        "layer_cake.qos" => Diffserv::Diffserv3,
        // Three bands by DSCP and ports.
        "simple.qos" | "simple_pppoe.qos" | "simple_home.qos" => Diffserv::Diffserv3,
        "piece_of_cake.qos" | "simplest.qos" | "simplest_tbf.qos" => Diffserv::Besteffort,
        other => {
            let line = queue.option("script").map_or(queue.line, |option| option.line);
            notes.push(format!("{line}: script {}: read as one without tins", shown(other)));
            Diffserv::Besteffort
        }
    };
    let ignores = queue.switch("squash_ingress")?.unwrap_or(true);
    Ok((tins, if ignores { Diffserv::Besteffort } else { tins }))
}

/// The words that are given to cake itself.
fn options(
    queue: &Section,
    name: &str,
    shaper: &mut Shaper,
    direction: &str,
    is_cake: bool,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let Some(option) = queue.option(name).filter(|option| !option.value.is_empty()) else {
        return Ok(());
    };
    if !is_cake {
        notes.push(format!("{}: {name} {}: not kept", option.line, shown(&option.value)));
        return Ok(());
    }
    let words: Vec<&str> = option.value.split_whitespace().collect();
    read_options(&words, shaper, direction, notes)
        .map_err(|message| Error::at(option.line, format!("`{name}`: {message}")))
}

#[cfg(test)]
mod tests {
    use laxity::sched::cake::AckFilter;

    use super::*;

    const CABLE: &str = "\
config queue 'wan'
\toption enabled '1'
\toption interface 'eth1'
\toption download '180000'
\toption upload '19000'
\toption qdisc 'cake'
\toption script 'layer_cake.qos'
\toption squash_dscp '0'
\toption squash_ingress '0'
\toption qdisc_advanced '1'
\toption qdisc_really_really_advanced '1'
\toption iqdisc_opts 'nat dual-dsthost ingress'
\toption eqdisc_opts 'nat dual-srchost ack-filter'
\toption linklayer 'ethernet'
\toption overhead '18'
\toption tcMPU '64'
\toption ilimit '1001'
";

    #[test]
    fn a_queue_is_read_with_notes_on_what_is_not_kept() {
        let router = sqm(CABLE).unwrap();
        assert_eq!(router.interface.as_deref(), Some("eth1"));
        assert_eq!(router.up.rate, Some(Rate(19_000_000)));
        assert_eq!(router.down.rate, Some(Rate(180_000_000)));
        let docsis = Overhead::NAMED.iter().find(|(name, _)| *name == "docsis").unwrap().1;
        assert_eq!((router.up.overhead, router.down.overhead), (docsis, docsis));
        assert_eq!(
            (router.up.queues.settings.diffserv, router.down.queues.settings.diffserv),
            (Diffserv::Diffserv3, Diffserv::Diffserv3)
        );
        let notes = router.notes.join("\n");
        for note in ["17: ilimit 1001: not kept", "up: nat", "down: nat"] {
            assert!(notes.contains(note), "{note} is missing in {notes}");
        }
        let (up, down) = (router.up.queues, router.down.queues);
        assert_eq!(up.settings.isolation, Isolation::DualSrchost);
        assert_eq!(up.settings.ack_filter, AckFilter::On);
        assert_eq!((down.settings.isolation, down.wash), (Isolation::DualDsthost, false));
        assert!(down.settings.ingress && !up.settings.ingress);
    }

    #[test]
    fn what_arrives_is_not_sorted_unless_the_router_says_so() {
        let router = sqm(&CABLE.replace("\toption squash_ingress '0'\n", "")).unwrap();
        assert_eq!(
            (router.up.queues.settings.diffserv, router.down.queues.settings.diffserv),
            (Diffserv::Diffserv3, Diffserv::Besteffort)
        );
        let router = sqm(&CABLE.replace("\toption squash_dscp '0'\n", "")).unwrap();
        assert_eq!((router.up.queues.wash, router.down.queues.wash), (false, true));
    }

    #[test]
    fn zero_is_no_rate() {
        let router = sqm(&CABLE.replace("'180000'", "'0'")).unwrap();
        assert_eq!(router.down.rate, None);
    }

    #[test]
    fn wrong_values_are_refused_at_their_line() {
        for (from, to, place, part) in [
            ("'19000'", "'fast'", "5", "kbit/s"),
            ("'ethernet'", "'carrier-pigeon'", "14", "none, ethernet, atm"),
            ("'18'", "'1800'", "15", "bytes"),
            ("ack-filter", "ack-filtre", "13", "no word of cake"),
            ("enabled '1'", "enabled 'maybe'", "2", "1 or 0"),
        ] {
            let error = sqm(&CABLE.replace(from, to)).unwrap_err();
            assert_eq!(error.place(), Some(place), "{error}");
            assert!(error.message().contains(part), "{error}");
        }
        assert!(sqm("config defaults\n").is_err());
    }
}
