//! The XML of WoPANets as a network.

use std::collections::{HashMap, HashSet};

use laxity::police::TokenBucket;
use laxity::units::{Bytes, Nanos, Rate};
use roxmltree::{Document, Node, ParsingOptions};

use crate::Error;
use crate::error::shown;
use crate::network::{Flow, Network, Port, Service, check_name};
use crate::units::{self, Parse, Round};

/// The most elements of a file.
const MOST: u32 = 4_000_000;

/// Attributes that are only drawn, names, or hints for computations.
const OF_TOOLS: &str = "x y x-type shortest-path-policy converted fromPort toPort type mode id \
    switching-technique path_name physical_node";

/// Accepted words of `technology`: kinds of networks, and settings of computations.
const TECHNOLOGIES: [&str; 7] = ["FIFO", "IS", "PK", "CEIL", "MOH", "TDMI", "AFDX"];

/// The network of a file.
pub(crate) fn read(text: &str, notes: &mut Vec<String>) -> Result<Network, Error> {
    let options = ParsingOptions { nodes_limit: MOST, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let pos = error.pos();
        Error::at(
            format!("{}:{}", pos.row, pos.col),
            format!("this is no XML that is read here: {}", shown(&error.to_string())),
        )
    })?;
    let root = document.root_element();
    if root.tag_name().name() != "elements" {
        return Err(at(root, "this is no network of WoPANets: its root is to be <elements>"));
    }
    let mut file = File::new(root, notes)?;
    file.flows()
}

/// A place in the file and what is wrong there.
fn at(node: Node<'_, '_>, message: impl Into<String>) -> Error {
    let pos = node.document().text_pos_at(node.range().start);
    Error::at(format!("{}:{}", pos.row, pos.col), message)
}

type Element<'a> = Node<'a, 'a>;

/// A line of an arrival curve, and the shortest and the longest packet, if they are known.
type Contract = (TokenBucket, Option<Bytes>, Option<Bytes>);

fn children<'a>(node: Element<'a>) -> impl Iterator<Item = Element<'a>> {
    node.children().filter(Node::is_element)
}

/// Refuses attributes with a meaning that is not read. The names of the others are in `accepted`,
/// with spaces between them.
fn check(node: Element<'_>, accepted: &str) -> Result<(), Error> {
    let is_known =
        |name: &str| accepted.split(' ').chain(OF_TOOLS.split(' ')).any(|known| known == name);
    let Some(other) = node.attributes().find(|attribute| !is_known(attribute.name())) else {
        return Ok(());
    };
    let (element, other, accepted) =
        (node.tag_name().name(), shown(other.name()), accepted.replace(' ', ", "));
    let message =
        format!("<{element}> with `{other}`, which a plan cannot say: accepted are {accepted}");
    Err(at(node, message))
}

fn needed<'a>(node: Element<'a>, key: &str) -> Result<&'a str, Error> {
    node.attribute(key).ok_or_else(|| at(node, format!("`{key}` is missing")))
}

/// The quantity of an attribute of the first of these elements that has it; `plain` is the unit of
/// numbers without one.
fn quantity<T>(
    nodes: &[Element<'_>],
    key: &str,
    parse: Parse<T>,
    plain: &str,
    round: Round,
) -> Result<Option<T>, Error> {
    let found = nodes.iter().find_map(|node| Some((*node, node.attribute(key)?)));
    let read = |(node, text)| {
        parse(text, plain, round).map_err(|message| at(node, format!("`{key}`: {message}")))
    };
    found.map(read).transpose()
}

/// Refuses malformed rates and times, even if they are not used.
fn check_quantities(node: Element<'_>) -> Result<(), Error> {
    for key in ["service-rate", "transmission-capacity"] {
        quantity(&[node], key, units::rate, "bps", Round::Up)?;
    }
    for key in ["service-latency", "tech-latency"] {
        quantity(&[node], key, units::time, "s", Round::Up)?;
    }
    Ok(())
}

struct File<'a, 'n> {
    network: Element<'a>,
    nodes: HashMap<&'a str, Element<'a>>,
    links: HashMap<(&'a str, &'a str), Element<'a>>,
    flows: Vec<Element<'a>>,
    /// Whether ports have service curves; then those without delay no packet.
    has_services: bool,
    overhead: Bytes,
    ports: Vec<Port>,
    numbers: HashMap<(&'a str, &'a str), usize>,
    notes: &'n mut Vec<String>,
}

impl<'a, 'n> File<'a, 'n> {
    fn new(root: Element<'a>, notes: &'n mut Vec<String>) -> Result<Self, Error> {
        let mut networks = children(root).filter(|node| node.has_tag_name("network"));
        let network = networks.next().ok_or_else(|| at(root, "there is no <network>"))?;
        if let Some(other) = networks.next() {
            return Err(at(other, "a second <network>"));
        }
        let mut file = File {
            network,
            nodes: HashMap::new(),
            links: HashMap::new(),
            flows: Vec::new(),
            has_services: false,
            overhead: Bytes(0),
            ports: Vec::new(),
            numbers: HashMap::new(),
            notes,
        };
        file.general()?;
        for node in children(root) {
            file.has_services |= node.has_attribute("service-rate");
            match node.tag_name().name() {
                "network" => {}
                "station" | "switch" => file.node(node)?,
                "link" => file.link(node)?,
                "flow" => file.flows.push(node),
                other => return Err(at(node, format!("<{}> is not read here", shown(other)))),
            }
        }
        Ok(file)
    }

    fn general(&mut self) -> Result<(), Error> {
        check(
            self.network,
            "name technology overhead maximum-packet-size minimum-packet-size transmission-capacity",
        )?;
        let words = self.network.attribute("technology").unwrap_or("FIFO");
        let words: Vec<&str> = words.split('+').filter(|word| !word.is_empty()).collect();
        if let Some(other) = words.iter().find(|word| !TECHNOLOGIES.contains(word)) {
            let accepted = TECHNOLOGIES.join(", ");
            let message = format!("technology `{}`: accepted are {accepted}", shown(other));
            return Err(at(self.network, message));
        }
        if !words.contains(&"FIFO") && !words.contains(&"AFDX") {
            return Err(at(
                self.network,
                "`technology` without FIFO: ports that are not FIFO cannot be said in a plan",
            ));
        }
        check_quantities(self.network)?;
        self.overhead =
            quantity(&[self.network], "overhead", units::size, "B", Round::Up)?.unwrap_or_default();
        Ok(())
    }

    fn node(&mut self, node: Element<'a>) -> Result<(), Error> {
        check(
            node,
            "name service-rate service-latency transmission-capacity service-policy tech-latency",
        )?;
        if let Some(policy) = node.attribute("service-policy")
            && policy != "FIRST_IN_FIRST_OUT"
        {
            let message =
                format!("`{}`: a port that is not FIFO cannot be said in a plan", shown(policy));
            return Err(at(node, message));
        }
        check_quantities(node)?;
        let name = needed(node, "name")?;
        check_name(name).map_err(|message| at(node, message))?;
        match self.nodes.insert(name, node) {
            None => Ok(()),
            Some(_) => Err(at(node, format!("another node is called `{}`", shown(name)))),
        }
    }

    fn link(&mut self, node: Element<'a>) -> Result<(), Error> {
        check(node, "name from to service-rate service-latency transmission-capacity")?;
        check_quantities(node)?;
        let ends = (needed(node, "from")?, needed(node, "to")?);
        match self.links.insert(ends, node) {
            None => Ok(()),
            Some(_) => Err(at(
                node,
                format!("a second link from `{}` to `{}`", shown(ends.0), shown(ends.1)),
            )),
        }
    }

    fn flows(&mut self) -> Result<Network, Error> {
        let mut flows: Vec<Flow> = Vec::new();
        let mut is_multicast = false;
        for node in std::mem::take(&mut self.flows) {
            let plain = self.contract(node)?;
            let source = needed(node, "source")?;
            let targets: Vec<_> = children(node).collect();
            if targets.is_empty() {
                return Err(at(node, "a flow without a <target>"));
            }
            is_multicast |= targets.len() > 1;
            for (number, target) in targets.iter().enumerate() {
                if !target.has_tag_name("target") {
                    return Err(at(*target, "a flow has <target> elements"));
                }
                check(*target, "name")?;
                let name = match (number, target.attribute("name")) {
                    (0, _) => plain.name.clone(),
                    (_, Some(name)) => format!("{}#{name}", plain.name),
                    (_, None) => format!("{}#p{number}", plain.name),
                };
                check_name(&name).map_err(|message| at(*target, message))?;
                flows.push(Flow { name, ports: self.path(source, *target)?, ..plain.clone() });
            }
        }
        let mut names = HashSet::new();
        if let Some(twice) = flows.iter().find(|flow| !names.insert(flow.name.as_str())) {
            return Err(Error::new(format!("two flows are called `{}`", shown(&twice.name))));
        }
        if is_multicast {
            self.notes.push(
                "every <target> of a flow is a flow by itself, so that where they run together it counts several times"
                    .into(),
            );
        }
        if flows.iter().any(|flow| flow.longest.is_none()) {
            self.notes.push(
                "flows without `maximum-packet-size` are as fluid: packets of one byte".into(),
            );
        }
        let name = self.network.attribute("name").unwrap_or("network").to_string();
        Ok(Network { name, ports: std::mem::take(&mut self.ports), flows })
    }

    /// The arrival curve of a flow.
    fn contract(&self, node: Element<'a>) -> Result<Flow, Error> {
        let name = needed(node, "name")?.to_string();
        check_name(&name).map_err(|message| at(node, message))?;
        let deadline = quantity(&[node], "deadline", units::time, "ms", Round::Down)?;
        let periodic = node.attribute("arrival-curve").is_none() && node.has_attribute("period");
        let (line, shortest, longest) =
            if periodic { self.periodic(node)? } else { self.leaky_bucket(node)? };
        Ok(Flow {
            name,
            ports: Vec::new(),
            arrival: vec![line],
            shortest: shortest.filter(|least| *least > Bytes(0)),
            longest: longest.filter(|most| *most > Bytes(0)),
            deadline: deadline.filter(|deadline| *deadline > Nanos::ZERO),
        })
    }

    /// An arrival curve that is given, and the shortest and longest packet.
    fn leaky_bucket(&self, node: Element<'a>) -> Result<Contract, Error> {
        check(
            node,
            "name source arrival-curve lb-burst lb-rate maximum-packet-size minimum-packet-size deadline",
        )?;
        match node.attribute("arrival-curve") {
            Some("leaky-bucket") => {}
            other => {
                let word = other.map_or("none".into(), |word| format!("`{}`", shown(word)));
                return Err(at(
                    node,
                    format!(
                        "an arrival curve is `leaky-bucket`, or the flow has a `period`; this is {word}"
                    ),
                ));
            }
        }
        let missing = |key: &str| at(node, format!("`{key}` is missing"));
        // The tools disagree on the unit of a plain size, so a unit is required.
        let size = |of: &[_], key: &str, round| quantity(of, key, units::size, "", round);
        let bucket = size(&[node], "lb-burst", Round::Up)?.ok_or_else(|| missing("lb-burst"))?;
        let rate = quantity(&[node], "lb-rate", units::rate, "bps", Round::Up)?;
        let rate = rate.ok_or_else(|| missing("lb-rate"))?;
        let packet = |key, round| size(&[node, self.network], key, round);
        let shortest = packet("minimum-packet-size", Round::Down)?;
        Ok((TokenBucket { bucket, rate }, shortest, packet("maximum-packet-size", Round::Up)?))
    }

    /// A frame every period: a bucket of one, filled at that pace.
    fn periodic(&self, node: Element<'a>) -> Result<Contract, Error> {
        check(node, "name source period max-payload min-payload deadline jitter priority")?;
        let jitter = quantity(&[node], "jitter", units::time, "ms", Round::Up)?;
        if jitter.is_some_and(|jitter| jitter > Nanos::ZERO) {
            return Err(at(node, "`jitter` of a source is not read: give the flow a leaky bucket"));
        }
        let priority = node.attribute("priority");
        if priority.is_some_and(|priority| priority != "Low") {
            return Err(at(node, "a `priority` other than Low: the ports are FIFO"));
        }
        let period =
            quantity(&[node], "period", units::time, "ms", Round::Down)?.unwrap_or_default();
        let payload = quantity(&[node], "max-payload", units::size, "B", Round::Up)?;
        let payload = payload.ok_or_else(|| at(node, "`max-payload` is missing"))?;
        let least =
            quantity(&[node], "min-payload", units::size, "B", Round::Down)?.unwrap_or(payload);
        let frame = |payload: Bytes| Bytes(payload.0.saturating_add(self.overhead.0));
        let longest = frame(payload);
        if longest == Bytes(0) || period == Nanos::ZERO {
            return Err(at(node, "a flow sends a frame of some length every `period`"));
        }
        let bits = u128::from(longest.0) * 8 * 1_000_000_000;
        let rate = u64::try_from(bits.div_ceil(period.0.into())).unwrap_or(u64::MAX);
        let line = TokenBucket { bucket: longest, rate: Rate(rate) };
        Ok((line, Some(frame(least.min(payload))), Some(longest)))
    }

    /// The ports on the path to a target; nodes that delay no packet have none.
    fn path(&mut self, source: &'a str, target: Element<'a>) -> Result<Vec<usize>, Error> {
        let mut from = source;
        let mut ports = Vec::new();
        let mut passed = HashSet::from([source]);
        for step in children(target) {
            if !step.has_tag_name("path") {
                return Err(at(step, "a <target> has <path> elements"));
            }
            check(step, "node")?;
            let to = needed(step, "node")?;
            if !passed.insert(to) {
                return Err(at(step, format!("the flow has been at `{}` before", shown(to))));
            }
            match self.port(from, to, step)? {
                Some(port) => ports.push(port),
                None if ports.is_empty() => {}
                None => {
                    let message = format!(
                        "`{}` has no service, but nodes before it have: give it a `service-rate`",
                        shown(from)
                    );
                    return Err(at(step, message));
                }
            }
            from = to;
        }
        if ports.is_empty() {
            Err(at(target, "no node on this way has a service"))
        } else {
            Ok(ports)
        }
    }

    /// The port from one node to another; `None` if it delays no packet.
    fn port(
        &mut self,
        from: &'a str,
        to: &'a str,
        step: Element<'a>,
    ) -> Result<Option<usize>, Error> {
        if let Some(&number) = self.numbers.get(&(from, to)) {
            return Ok(Some(number));
        }
        let unknown = |name: &str| at(step, format!("there is no node `{}`", shown(name)));
        let node = *self.nodes.get(from).ok_or_else(|| unknown(from))?;
        if !self.nodes.contains_key(to) {
            return Err(unknown(to));
        }
        // A link without a direction of its own is one for both.
        let link = self.links.get(&(from, to)).or_else(|| self.links.get(&(to, from)));
        let link = *link.ok_or_else(|| {
            at(step, format!("no link joins `{}` and `{}`", shown(from), shown(to)))
        })?;
        let rate_of = |of: &[_], key, round| quantity(of, key, units::rate, "bps", round);
        let rate = rate_of(&[link, node], "service-rate", Round::Down)?;
        let capacity = rate_of(&[link, node, self.network], "transmission-capacity", Round::Up)?;
        let time_of = |of: &[_], key| quantity(of, key, units::time, "s", Round::Up);
        let service = match (rate, capacity) {
            (Some(rate), capacity) => {
                let latency = time_of(&[link, node], "service-latency")?.unwrap_or_default();
                let peak = capacity.unwrap_or(rate);
                if peak < rate {
                    let message = format!(
                        "a `transmission-capacity` of {peak} below the `service-rate`, {rate}"
                    );
                    return Err(at(link, message));
                }
                Service { rate, latency, peak }
            }
            (None, Some(rate)) if !self.has_services => Service {
                rate,
                latency: time_of(&[node], "tech-latency")?.unwrap_or_default(),
                peak: rate,
            },
            _ => return Ok(None),
        };
        if service.rate == Rate(0) {
            return Err(at(link, "a rate of zero"));
        }
        self.ports.push(Port { ends: [from.to_string(), to.to_string()], service });
        self.numbers.insert((from, to), self.ports.len() - 1);
        Ok(Some(self.ports.len() - 1))
    }
}
