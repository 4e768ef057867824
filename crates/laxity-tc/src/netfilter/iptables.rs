//! Commands of iptables and ip6tables (iptables(8)).

use laxity_plan::matching::{Net, Numbers, Side, Version};

use super::rules::{Action, Condition, MOST_STATES, Netfilter, Rule};
use crate::error::plain;
use crate::notes::{NotMapped, quoted};
use crate::packets::{Field, PORTS, Packets, one, service, with_all};
use crate::setup::Handle;
use crate::words::command::Command;
use crate::words::quantity::{self, number};

/// Options without a value that change nothing.
const PLAIN: [&str; 8] = ["-v", "--verbose", "-n", "--numeric", "-w", "--wait", "-4", "-6"];
/// What is loaded for conditions that are read by themselves.
const MATCHES: [&str; 9] =
    ["tcp", "udp", "udplite", "sctp", "multiport", "comment", "dscp", "tos", "mark"];
/// Protocols by name (protocols(5)).
const PROTOCOLS: &str =
    "tcp 6 udp 17 udplite 136 icmp 1 icmpv6 58 ipv6-icmp 58 esp 50 gre 47 sctp 132";
/// Ports that scripts like to name (services(5)).
const SERVICES: &str = "ftp 21 ssh 22 telnet 23 smtp 25 domain 53 http 80 www 80 pop3 110 ntp 123 \
    imap 143 https 443 sip 5060";

/// Takes a command; the reason if it does not count.
pub(super) fn read(netfilter: &mut Netfilter, command: &Command) -> Result<(), NotMapped> {
    taken(netfilter, command).map_err(|NotMapped(why)| match why.as_str() {
        "" => why.into(),
        _ => format!("{}: {why}", quoted(&command.words[1..])).into(),
    })
}

fn taken(netfilter: &mut Netfilter, command: &Command) -> Result<(), NotMapped> {
    let version = if command.program().starts_with("ip6") { Version::V6 } else { Version::V4 };
    if let Some(word) = command.unknown_word() {
        return Err(format!("`{}` is not known", plain(&word.text)).into());
    }
    let texts: Vec<&str> = command.words[1..].iter().map(|word| word.text.as_str()).collect();
    let table = value(&texts, &["-t", "--table"]).unwrap_or("filter");
    if table != "mangle" {
        return Err("".into());
    }
    let named = |names: &[&str]| value(&texts, names).map(str::to_string);
    let mut add = |chain: &str, before: Option<usize>| -> Result<(), NotMapped> {
        let rule = rule(version, &texts, command.line)?;
        if !netfilter.add(version, chain, before, rule) {
            return Err("it is one of too many rules".into());
        }
        Ok(())
    };
    if let Some(chain) = named(&["-A", "--append"]) {
        return add(&chain, None);
    }
    if let Some(chain) = named(&["-I", "--insert"]) {
        let at = texts.iter().position(|word| *word == chain).unwrap_or(0);
        let number = texts.get(at + 1).and_then(|number| number.parse().ok()).unwrap_or(1);
        return add(&chain, Some(number));
    }
    if texts.iter().any(|word| ["-F", "--flush"].contains(word)) {
        match named(&["-F", "--flush"]).filter(|chain| !chain.starts_with('-')) {
            Some(chain) => netfilter.chain(version, &chain).clear(),
            None => netfilter.chains.retain(|(is_v6, _), _| *is_v6 != (version == Version::V6)),
        }
        return Ok(());
    }
    let silent = ["-N", "--new-chain", "-X", "--delete-chain", "-P", "--policy", "-Z", "-L", "-S"];
    if texts.iter().any(|word| silent.contains(word)) {
        return Ok(());
    }
    Err("it is kept as it was".into())
}

fn value<'a>(words: &[&'a str], names: &[&str]) -> Option<&'a str> {
    let at = words.iter().position(|word| names.contains(word))?;
    words.get(at + 1).copied()
}

/// Reads conditions and target of a rule.
fn rule(version: Version, words: &[&str], line: usize) -> Result<Rule, NotMapped> {
    let mut asked = vec![Packets::default()];
    let (mut mark, mut out, mut target, mut options) = (None, None, None, Vec::new());
    let mut left = words.iter().copied();
    while let Some(word) = left.next() {
        let negated = word == "!";
        let name = if negated { left.next().unwrap_or("") } else { word };
        if PLAIN.contains(&name) {
            continue;
        }
        let Some(mut given) = left.next() else {
            return Err(format!("`{}` is not followed", plain(name)).into());
        };
        let mut negated = negated;
        if given == "!" {
            (negated, given) = (true, left.next().unwrap_or(""));
        }
        let numbers = |numbers: Option<Numbers>, most: u16| {
            let numbers =
                numbers.ok_or_else(|| NotMapped(format!("`{}` is not followed", plain(given))))?;
            Ok::<Numbers, NotMapped>(if negated { others(&numbers, most) } else { numbers })
        };
        let mut with = |field, numbers: Numbers| with_all(&mut asked, field, &numbers);
        match name {
            "-t" | "--table" | "-A" | "--append" => {}
            "-I" | "--insert" => {
                let mut ahead = left.clone();
                if ahead.next().is_some_and(|number| number.parse::<usize>().is_ok()) {
                    left = ahead;
                }
            }
            "-m" | "--match" if MATCHES.contains(&given) => {}
            "--comment" => {}
            "-p" | "--protocol" | "--proto" if given == "all" || given == "0" => {}
            "-p" | "--protocol" | "--proto" => {
                with(Field::Protocol, numbers(protocol(given), 255)?);
            }
            "--sport" | "--source-port" | "--sports" | "--source-ports" => {
                with(Field::SourcePort, numbers(ports(given), u16::MAX)?);
            }
            "--dport" | "--destination-port" | "--dports" | "--destination-ports" => {
                with(Field::DestinationPort, numbers(ports(given), u16::MAX)?);
            }
            "--ports" if !negated => {
                let ports = numbers(ports(given), u16::MAX)?;
                asked = alternatives(&asked, 2, |packets, at| packets.with(PORTS[at], &ports));
            }
            "--dscp" | "--dscp-class" => {
                with(Field::Dscp, numbers(code_point(given).map(one), 63)?)
            }
            "--tos" if !negated => {
                let (value, mask) = with_mask(given, 0xff).ok_or("its `--tos` is not followed")?;
                let (value, mask) = (value as u8, mask as u8);
                for packets in &mut asked {
                    service(value & mask, mask, packets)?;
                }
            }
            "-s" | "--source" | "--src" | "-d" | "--destination" | "--dst" if !negated => {
                let is_source = ["-s", "--source", "--src"].contains(&name);
                let side = if is_source { Side::Source } else { Side::Destination };
                let nets = nets(given, version)?;
                asked =
                    alternatives(&asked, nets.len(), |packets, at| packets.within(side, nets[at]));
            }
            "-o" | "--out-interface" if !negated => out = Some(given.to_string()),
            "--mark" => {
                let (value, mask) =
                    with_mask(given, u32::MAX).ok_or("its `--mark` is not followed")?;
                mark = Some(Condition { value: value & mask, mask, negated });
            }
            "-j" | "--jump" => {
                target = Some(given);
                options = left.by_ref().collect();
            }
            _ => return Err(format!("`{} {}` is not followed", plain(name), plain(given)).into()),
        }
    }
    let action = action(target.unwrap_or_default(), &options)?;
    Ok(Rule { packets: asked, mark, out, action, line })
}

/// Each of the packets with each of several more conditions.
pub(super) fn alternatives(
    asked: &[Packets],
    count: usize,
    ask: impl Fn(&mut Packets, usize),
) -> Vec<Packets> {
    let each = asked.iter().flat_map(|packets| (0..count).map(move |at| (packets.clone(), at)));
    let each = each.map(|(mut packets, at)| {
        ask(&mut packets, at);
        packets
    });
    each.take(MOST_STATES).collect()
}

fn action(target: &str, options: &[&str]) -> Result<Action, NotMapped> {
    let given = |name: &str| value(options, &[name]);
    let unread = || {
        let options = plain(&options.join(" "));
        NotMapped(format!("`-j {} {options}` is not followed", plain(target)))
    };
    let masked = |name: &str| given(name).and_then(|text| with_mask(text, u32::MAX));
    match target {
        "MARK" => {
            let (cleared, turned) = if let Some((value, mask)) = masked("--set-mark") {
                (mask | value, value)
            } else if let Some((value, mask)) = masked("--set-xmark") {
                (mask, value)
            } else if let Some((bits, _)) = masked("--or-mark") {
                (bits, bits)
            } else if let Some((bits, _)) = masked("--and-mark") {
                (!bits, 0)
            } else {
                (0, masked("--xor-mark").ok_or_else(unread)?.0)
            };
            Ok(Action::Mark { cleared, turned })
        }
        "CLASSIFY" => {
            given("--set-class").and_then(Handle::parse).map(Action::Class).ok_or_else(unread)
        }
        "DSCP" => {
            let point = given("--set-dscp").or(given("--set-dscp-class")).and_then(code_point);
            point.map(|point| Action::Dscp(point as u8)).ok_or_else(unread)
        }
        "TOS" => {
            let tos = masked("--set-tos").filter(|(_, mask)| mask & 0xfc == 0xfc);
            tos.map(|(tos, _)| Action::Dscp((tos as u8) >> 2)).ok_or_else(unread)
        }
        "RETURN" => Ok(Action::Return),
        "ACCEPT" => Ok(Action::Accept),
        "" | "CONNMARK" | "DROP" | "REJECT" | "QUEUE" | "NFQUEUE" | "LOG" | "TCPMSS" | "TTL"
        | "HL" | "TPROXY" => Err(unread()),
        chain if options.is_empty() => Ok(Action::Call(chain.to_string())),
        _ => Err(unread()),
    }
}

pub(super) fn code_point(text: &str) -> Option<u16> {
    laxity_plan::matching::code_point(&text.to_ascii_lowercase())
        .or_else(|| number(text, 0))
        .filter(|point| *point < 64)
}

/// `0x1` or `0x1/0xff`.
pub(super) fn with_mask(text: &str, all: u32) -> Option<(u32, u32)> {
    let (value, mask) =
        text.split_once('/').map_or((text, None), |(value, mask)| (value, Some(mask)));
    Some((number(value, 0)?, mask.map_or(Some(all), |mask| number(mask, 0))?))
}

pub(super) fn protocol(text: &str) -> Option<Numbers> {
    numbered(PROTOCOLS, text).filter(|number| *number < 256).map(one)
}

/// A number, or the one of a name in a list of names and numbers.
fn numbered(names: &str, text: &str) -> Option<u16> {
    number(quantity::listed(names, text).unwrap_or(text), 0)
}

/// Ports by number, `A:B` and lists of them.
fn ports(text: &str) -> Option<Numbers> {
    let port = |text: &str, or: u16| match text {
        "" => Some(or),
        text => service_port(text),
    };
    let range = |text: &str| match text.split_once(':') {
        Some((from, to)) => port(from, 0).zip(port(to, u16::MAX)),
        None => service_port(text).map(|port| (port, port)),
    };
    let ranges = text.split(',').map(range).collect::<Option<Vec<_>>>()?;
    ranges.iter().all(|(from, to)| from <= to).then(|| Numbers::new(ranges))
}

pub(super) fn service_port(text: &str) -> Option<u16> {
    numbered(SERVICES, text)
}

pub(super) fn nets(text: &str, version: Version) -> Result<Vec<Net>, NotMapped> {
    let net = |text: &str| {
        let network = quantity::network(text)
            .filter(|(address, _)| address.is_ipv4() == (version == Version::V4));
        let net = network.map(|(address, prefix)| Net::new(address, prefix));
        net.ok_or_else(|| NotMapped(format!("`{}` is not followed", plain(text))))
    };
    text.split(',').map(net).collect()
}

/// The numbers up to the greatest that are none of these.
pub(super) fn others(numbers: &Numbers, most: u16) -> Numbers {
    let (mut next, mut all) = (Some(0u16), Vec::new());
    for (from, to) in numbers.ranges() {
        if let Some(start) = next.filter(|start| start < from) {
            all.push((start, from - 1));
        }
        next = to.checked_add(1).filter(|next| *next <= most);
    }
    all.extend(next.map(|start| (start, most)));
    Numbers::new(all)
}
