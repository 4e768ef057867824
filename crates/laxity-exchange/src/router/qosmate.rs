//! QoSmate, `/etc/config/qosmate` of OpenWrt.

mod rule;

use laxity::sched::cake::{Diffserv, Isolation};
use laxity::units::{Nanos, Rate};

use super::cake::{WASHED, read_options};
use super::rates::kilobits;
use super::uci::{self, Section, UciOption};
use super::{Router, RouterPromise, Rule, Shaper, Urgency};
use crate::Error;
use crate::error::shown;

/// Reads `/etc/config/qosmate`, with `ROOT_QDISC` hfsc, hybrid, cake or htb.
///
/// # Errors
/// At the first line that is no UCI, or whose value QoSmate does not have.
pub fn qosmate(text: &str) -> Result<Router, Error> {
    let file = File(uci::read(text)?);
    if file.0.iter().all(|section| section.kind != "settings") {
        return Err(Error::new("there is no `config settings`: this is no /etc/config/qosmate"));
    }
    let mut router =
        Router { interface: file.value("settings", "WAN").map(Into::into), ..Router::default() };
    router.up.rate = file.rate("settings", "UPRATE")?;
    router.down.rate = file.rate("settings", "DOWNRATE")?;
    let root = file.value("settings", "ROOT_QDISC").unwrap_or("hfsc");
    let has_promise = match root {
        "hfsc" | "hybrid" => true,
        "cake" | "htb" => false,
        other => {
            let place = file.option("settings", "ROOT_QDISC").map_or(1, |option| option.line);
            let message =
                format!("`ROOT_QDISC` is `{}`: accepted are hfsc, hybrid, cake, htb", shown(other));
            return Err(Error::at(place, message));
        }
    };
    file.sides(root, &mut router)?;
    if has_promise {
        router.up.promise = file.promise("GAMEUP", router.up.rate)?;
        router.down.promise = file.promise("GAMEDOWN", router.down.rate)?;
    }
    router.rules.extend(file.port_rules());
    for section in file.0.iter().filter(|section| section.kind == "rule") {
        rule::read(section, &mut router)?;
    }
    file.note_lost(root, &mut router.notes);
    Ok(router)
}

/// The sections of the file.
struct File(Vec<Section>);

impl File {
    fn option(&self, kind: &str, name: &str) -> Option<&UciOption> {
        let sections = self.0.iter().filter(|section| section.kind == kind);
        sections.filter_map(|section| section.option(name)).find(|option| !option.value.is_empty())
    }

    fn value(&self, kind: &str, name: &str) -> Option<&str> {
        self.option(kind, name).map(|option| option.value.as_str())
    }

    fn switch(&self, kind: &str, name: &str) -> Result<bool, Error> {
        let section = self.0.iter().find(|section| section.kind == kind);
        Ok(section.map(|section| section.switch(name)).transpose()?.flatten().unwrap_or(false))
    }

    /// A rate in kbit/s.
    fn rate(&self, kind: &str, name: &str) -> Result<Option<Rate>, Error> {
        let Some(option) = self.option(kind, name) else { return Ok(None) };
        kilobits(&option.value)
            .map_err(|message| Error::at(option.line, format!("`{name}`: {message}")))
    }

    /// The overhead, the tins and the round-trip time of both directions.
    fn sides(&self, root: &str, router: &mut Router) -> Result<(), Error> {
        let Router { up, down, notes, .. } = router;
        let sides: [(&mut Shaper, _, _, _); 2] =
            [(up, "up", "EGRESS", "WASHDSCPUP"), (down, "down", "INGRESS", "WASHDSCPDOWN")];
        for (shaper, direction, end, wash) in sides {
            let mut words = self.link_words();
            if root == "cake" || root == "hybrid" {
                words.extend(self.cake_words(end));
            } else {
                shaper.queues.settings.isolation = Isolation::Flows;
            }
            let place = self.0.first().map_or(1, |section| section.line);
            shaper.queues.settings.diffserv = Diffserv::Diffserv4;
            read_options(&words, shaper, direction, notes).map_err(|message| {
                Error::at(place, format!("the words that this file gives to cake: {message}"))
            })?;
            if self.switch("advanced", wash)? {
                shaper.queues.wash = true;
                notes.push(format!("{wash} 1: {WASHED}"));
                if direction == "down" {
                    notes.push(format!("{wash} 1: code points of what arrives do not count"));
                    shaper.queues.settings.diffserv = Diffserv::Besteffort;
                }
            }
        }
        Ok(())
    }

    /// What the link adds, in the words of cake.
    fn link_words(&self) -> Vec<&str> {
        let of = |name| self.value("advanced", name).or(self.value("cake", name));
        let preset = of("COMMON_LINK_PRESETS").or(self.value("hfsc", "LINKTYPE"));
        let overhead = of("OVERHEAD").or(self.value("hfsc", "OH"));
        let mut words: Vec<&str> = preset.into_iter().collect();
        words.extend(overhead.into_iter().flat_map(|bytes| ["overhead", bytes]));
        words.extend(of("MPU").into_iter().flat_map(|bytes| ["mpu", bytes]));
        words.extend(of("LINK_COMPENSATION"));
        words.extend(of("ETHER_VLAN_KEYWORD"));
        words
    }

    /// The words for cake itself in one direction, `INGRESS` or `EGRESS`.
    fn cake_words(&self, end: &str) -> Vec<&str> {
        let mut words = Vec::new();
        words.extend(self.value("cake", &format!("PRIORITY_QUEUE_{end}")));
        if self.value("cake", "HOST_ISOLATION") == Some("1") {
            words.push(if end == "EGRESS" { "dual-srchost" } else { "dual-dsthost" });
        }
        if self.value("cake", &format!("NAT_{end}")) == Some("1") {
            words.push("nat");
        }
        if end == "EGRESS" && self.value("cake", "ACK_FILTER_EGRESS") == Some("1") {
            words.push("ack-filter");
        }
        if end == "INGRESS" && self.value("cake", "AUTORATE_INGRESS") == Some("1") {
            words.push("autorate-ingress");
        }
        let rtt = self.option("cake", "RTT").map(|rtt| rtt.value.as_str());
        words.extend(rtt.into_iter().flat_map(|rtt| ["rtt", rtt]));
        let extra = self.value("cake", &format!("EXTRA_PARAMETERS_{end}"));
        words.extend(extra.into_iter().flat_map(str::split_whitespace));
        words
    }

    /// What the real-time class of H-FSC is promised: `GAMEUP` or `GAMEDOWN` within `MAXDEL`. Empty
    /// rates are those that QoSmate takes: 15 % of the link and 400 kbit/s.
    fn promise(&self, name: &str, link: Option<Rate>) -> Result<Option<RouterPromise>, Error> {
        const DEFAULT_DELAY_MS: u64 = 24;
        let given = self.rate("hfsc", name)?;
        let Some(rate) = given.or(link.map(|link| Rate(link.0 / 100 * 15 + 400_000))) else {
            return Ok(None);
        };
        let delay = match self.option("hfsc", "MAXDEL") {
            None => DEFAULT_DELAY_MS,
            Some(option) => {
                let delay = option.value.parse().ok().filter(|delay| (1..=1000).contains(delay));
                delay.ok_or_else(|| {
                    let value = shown(&option.value);
                    Error::at(
                        option.line,
                        format!("`MAXDEL` is `{value}`: milliseconds from 1 to 1000"),
                    )
                })?
            }
        };
        Ok(Some(RouterPromise { rate, delay: Nanos(delay * 1_000_000) }))
    }

    /// Rules that are options of `advanced`: ports and addresses.
    fn port_rules(&self) -> Vec<Rule> {
        let rule = |name: &str, before: &str, urgency| {
            let values = self.value("advanced", name)?;
            let values = values.split([',', ' ']).filter(|value| !value.is_empty());
            let values: Vec<&str> = values.collect();
            let matching = format!("{before} {{{}}}", values.join(", "));
            let is_match = matching.parse::<laxity_plan::matching::Match>().is_ok();
            is_match.then(|| Rule { name: name.into(), matching, urgency })
        };
        [
            rule("UDPBULKPORT", "udp port", Urgency::Bulk),
            rule("TCPBULKPORT", "tcp port", Urgency::Bulk),
            rule("VIDCONFPORTS", "udp port", Urgency::Video),
            rule("REALTIME4", "udp and ip addr", Urgency::RealTime),
            rule("REALTIME6", "udp and ip6 addr", Urgency::RealTime),
            rule("LOWPRIOLAN4", "ip addr", Urgency::Bulk),
            rule("LOWPRIOLAN6", "ip6 addr", Urgency::Bulk),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Settings that have no place in a plan.
    fn note_lost(&self, root: &str, notes: &mut Vec<String>) {
        for section in &self.0 {
            let kept: &[&str] = match section.kind.as_str() {
                "global" | "settings" | "rule" | "cake" => continue,
                "advanced" => &KEPT_ADVANCED,
                "hfsc" if root == "hfsc" || root == "hybrid" => {
                    &["GAMEUP", "GAMEDOWN", "MAXDEL", "LINKTYPE", "OH"]
                }
                // It is not in use.
                "hfsc" => continue,
                kind => {
                    if section.options.is_empty() {
                        continue;
                    }
                    let name = section.value("name").unwrap_or_default();
                    let said = format!("{kind} {name}");
                    notes.push(format!(
                        "{}: config {}: not kept",
                        section.line,
                        shown(said.trim())
                    ));
                    continue;
                }
            };
            for option in &section.options {
                let is_off = ["", "0", "none"].contains(&option.value.as_str());
                if !is_off && !kept.contains(&option.name.as_str()) {
                    let value = shown(&option.value);
                    notes.push(format!("{}: {} {value}: not kept", option.line, option.name));
                }
            }
        }
        if root == "hfsc" || root == "htb" {
            notes.push(format!("{root}: code points are sorted as by diffserv4"));
        }
    }
}

/// Options of `advanced` that are read, or whose notes are made elsewhere.
const KEPT_ADVANCED: [&str; 17] = [
    "UDPBULKPORT",
    "TCPBULKPORT",
    "VIDCONFPORTS",
    "REALTIME4",
    "REALTIME6",
    "LOWPRIOLAN4",
    "LOWPRIOLAN6",
    "COMMON_LINK_PRESETS",
    "OVERHEAD",
    "MPU",
    "LINK_COMPENSATION",
    "ETHER_VLAN_KEYWORD",
    "WASHDSCPUP",
    "WASHDSCPDOWN",
    // These say how QoSmate works, and not what it does to packets.
    "PRESERVE_CONFIG_FILES",
    "NFT_HOOK",
    "NFT_PRIORITY",
];
