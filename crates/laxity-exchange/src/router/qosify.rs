//! qosify, `/etc/config/qosify` of OpenWrt.

use laxity::sched::cake::Diffserv;

use super::Router;
use super::cake::read_options;
use super::rates::tc_rate;
use super::uci::{self, Section};
use crate::Error;
use crate::error::shown;

/// Reads `/etc/config/qosify`: its first interface or device that is not disabled, or else the
/// first of all.
///
/// # Errors
/// At the first line that is no UCI, or whose value qosify does not have.
pub fn qosify(text: &str) -> Result<Router, Error> {
    let sections = uci::read(text)?;
    let links: Vec<&Section> = sections
        .iter()
        .filter(|section| ["interface", "device"].contains(&section.kind.as_str()))
        .collect();
    let mut enabled = Vec::new();
    for link in &links {
        if link.switch("disabled")? != Some(true) {
            enabled.push(*link);
        }
    }
    let Some(link) = enabled.first().or(links.first()).copied() else {
        return Err(Error::new(
            "there is no `config interface` and no `config device`: this is no /etc/config/qosify",
        ));
    };
    let mut router = Router { interface: link.value("name").map(Into::into), ..Router::default() };
    if enabled.is_empty() {
        router.notes.push(format!("{}: disabled 1: the plan does not know of it", link.line));
    }
    for other in links.iter().filter(|other| other.line != link.line) {
        let name = other.value("name").unwrap_or("without a name");
        router.notes.push(format!(
            "{}: {} is left out: a plan is for one link",
            other.line,
            shown(name)
        ));
    }
    // Their code points are those of qosify's own maps, which are files beside this one.
    for section in
        sections.iter().filter(|section| !links.iter().any(|link| link.line == section.line))
    {
        let name = section.name.as_deref().unwrap_or_default();
        let said = format!("{} {}", section.kind, name);
        router.notes.push(format!(
            "{}: config {}: packets are told by the ports and code points in the plan, not by maps and sizes",
            section.line,
            shown(said.trim())
        ));
    }
    read_link(link, &mut router)?;
    Ok(router)
}

/// Options that are read, or that only say what is shaped.
const KEPT: [&str; 18] = [
    "name",
    "disabled",
    "bandwidth",
    "bandwidth_up",
    "bandwidth_down",
    "ingress",
    "egress",
    "mode",
    "nat",
    "host_isolate",
    "autorate_ingress",
    "options",
    "ingress_options",
    "egress_options",
    "overhead_type",
    "overhead",
    "overhead_mpu",
    "overhead_encap",
];

fn read_link(link: &Section, router: &mut Router) -> Result<(), Error> {
    for option in link.options.iter().filter(|option| !KEPT.contains(&option.name.as_str())) {
        let value = shown(&option.value);
        router.notes.push(format!("{}: {} {value}: not kept", option.line, option.name));
    }
    let Router { up, down, notes, .. } = router;
    let sides = [
        (up, "up", "egress", "bandwidth_up", "egress_options"),
        (down, "down", "ingress", "bandwidth_down", "ingress_options"),
    ];
    for (shaper, direction, switch, bandwidth, own) in sides {
        shaper.queues.settings.diffserv = Diffserv::Diffserv4;
        let mut words: Vec<&str> = Vec::new();
        words.extend(overhead_words(link));
        words.extend(link.value("mode").map(str::split_whitespace).into_iter().flatten());
        let word = |name, word| Ok::<_, Error>(link.switch(name)?.unwrap_or(true).then_some(word));
        words.extend(word("nat", "nat")?);
        let isolation = if direction == "up" { "dual-srchost" } else { "dual-dsthost" };
        words.extend(word("host_isolate", isolation)?);
        if direction == "down" && link.switch("autorate_ingress")? == Some(true) {
            words.push("autorate-ingress");
        }
        for name in ["options", own] {
            words.extend(link.value(name).map(str::split_whitespace).into_iter().flatten());
        }
        read_options(&words, shaper, direction, notes).map_err(|message| {
            Error::at(link.line, format!("the words that this gives to cake: {message}"))
        })?;
        let rate = link.option(bandwidth).or(link.option("bandwidth"));
        if let Some(rate) = rate.filter(|rate| !rate.value.is_empty()) {
            let read = tc_rate(&rate.value);
            shaper.rate =
                Some(read.map_err(|message| {
                    Error::at(rate.line, format!("`{}`: {message}", rate.name))
                })?);
        }
        if link.switch(switch)? == Some(false) {
            shaper.rate = None;
        }
    }
    Ok(())
}

/// The overhead in the words of cake.
fn overhead_words(link: &Section) -> Vec<&str> {
    match link.value("overhead_type") {
        None | Some("none") => Vec::new(),
        Some("manual") => {
            let valued = [("overhead", "overhead"), ("mpu", "overhead_mpu")];
            let valued =
                valued.into_iter().filter_map(|(word, name)| Some([word, link.value(name)?]));
            valued.flatten().chain(link.value("overhead_encap")).collect()
        }
        Some(word) => vec![word],
    }
}

#[cfg(test)]
mod tests {
    use laxity::sched::cake::Isolation;
    use laxity::units::Rate;

    use super::*;

    const DSL: &str = "\
config defaults
\tlist defaults /etc/qosify/*.conf
\toption dscp_icmp +besteffort

config interface lan
\toption name lan
\toption disabled 1

config interface wan
\toption name wan
\toption bandwidth_up 9mbit
\toption bandwidth_down 48mbit
\toption overhead_type pppoe-ptm
\toption mode diffserv4
\toption egress_options 'wash'
";

    #[test]
    fn the_interface_that_is_on_is_read() {
        let router = qosify(DSL).unwrap();
        assert_eq!(router.interface.as_deref(), Some("wan"));
        assert_eq!(router.up.rate, Some(Rate(9_000_000)));
        assert_eq!(router.down.rate, Some(Rate(48_000_000)));
        assert_eq!(router.up.overhead.bytes, 16);
        assert_eq!(router.up.queues.settings.diffserv, Diffserv::Diffserv4);
        let notes = router.notes.join("\n");
        for note in ["1: config defaults", "5: lan is left out", "up: wash", "down: nat"] {
            assert!(notes.contains(note), "{note} is missing in {notes}");
        }
        let (up, down) = (router.up.queues, router.down.queues);
        assert_eq!((up.wash, down.wash), (true, false));
        assert_eq!(down.settings.isolation, Isolation::DualDsthost);
    }

    #[test]
    fn a_direction_that_is_off_has_no_rate() {
        let router = qosify(&format!("{DSL}\toption ingress 0\n")).unwrap();
        assert_eq!((router.up.rate.is_some(), router.down.rate), (true, None));
    }

    #[test]
    fn wrong_values_are_refused_at_their_line() {
        for (from, to, place) in [("9mbit", "fast", "11"), ("pppoe-ptm", "string", "9")] {
            let error = qosify(&DSL.replace(from, to)).unwrap_err();
            assert_eq!(error.place(), Some(place), "{error}");
        }
        assert!(qosify("config queue\n").is_err());
    }
}
