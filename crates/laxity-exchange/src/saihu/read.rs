//! Saihu's JSON as a network.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use laxity::police::TokenBucket;
use laxity::units::{Bytes, Nanos, Rate};
use serde_json::{Map, Value};

use crate::Error;
use crate::error::shown;
use crate::network::{Flow, Network, Port, Service, check_name};
use crate::units::{self, Parse, Round};

/// The most servers, and the most steps of all flows.
const MOST: usize = 1_000_000;

/// Keys that only matter to the tools: results, and settings of their computations.
const OF_TOOLS: &str = "id type physical_node port converted adjacency_matrix analysis_option \
    analysis_options path_name";

/// The network of a file.
pub(crate) fn read(text: &str, notes: &mut Vec<String>) -> Result<Network, Error> {
    let file: Value = serde_json::from_str(text).map_err(|error| {
        Error::at(
            format!("{}:{}", error.line(), error.column()),
            "this is no JSON that is read here",
        )
    })?;
    let file = Table::new(&file, "the file", "network flows servers")?;
    let general = Table::new(
        file.needed("network")?,
        "network",
        "name packetizer multiplexing time_unit data_unit rate_unit max_packet_length min_packet_length capacity",
    )?;
    match general.get("multiplexing").and_then(Value::as_str) {
        None | Some("FIFO") => {}
        Some(other) => {
            return Err(Error::at(
                "network.multiplexing",
                format!("`{}`: ports that are not FIFO cannot be said in a plan", shown(other)),
            ));
        }
    }
    let units = Units::new(&general, &Units::DEFAULT)?;
    let servers = servers(&file, &general, &units, notes)?;
    let flows = flows(&file, &general, &units, &servers, notes)?;
    let ports = placed(&servers, &flows)?;
    if flows.iter().any(|flow| flow.longest.is_none()) {
        notes.push("flows without `max_packet_length` are as fluid: packets of one byte".into());
    }
    let name = general.get("name").and_then(Value::as_str).unwrap_or("network");
    Ok(Network { name: name.to_string(), ports, flows })
}

/// A JSON object and its place in the file.
struct Table<'a> {
    object: &'a Map<String, Value>,
    place: String,
}

impl<'a> Table<'a> {
    /// The table at a place, whose keys are among these, with spaces between them.
    fn new(value: &'a Value, place: &str, keys: &str) -> Result<Table<'a>, Error> {
        let object = value
            .as_object()
            .ok_or_else(|| Error::at(place, "this is to be an object of keys and values"))?;
        let is_known =
            |key: &&String| keys.split(' ').chain(OF_TOOLS.split(' ')).any(|known| known == *key);
        if let Some(other) = object.keys().find(|key| !is_known(key)) {
            let accepted = keys.replace(' ', ", ");
            let message = format!("unknown key `{}`: accepted are {accepted}", shown(other));
            return Err(Error::at(place, message));
        }
        Ok(Table { object, place: place.to_string() })
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// A value of this table or else of the general one, with its place.
    fn own_or_general(&self, general: &Table<'a>, key: &str) -> Option<(&'a Value, String)> {
        let of = |table: &Table<'a>| Some((table.get(key)?, format!("{}.{key}", table.place)));
        of(self).or_else(|| of(general))
    }

    fn needed(&self, key: &str) -> Result<&'a Value, Error> {
        self.get(key).ok_or_else(|| Error::at(&self.place, format!("`{key}` is missing")))
    }

    fn text(&self, key: &str) -> Result<&'a str, Error> {
        let value = self.needed(key)?;
        value.as_str().ok_or_else(|| self.wrong(key, "is to be a string"))
    }

    fn list(&self, key: &str) -> Result<&'a [Value], Error> {
        let list = self.needed(key)?.as_array();
        let list = list.ok_or_else(|| self.wrong(key, "is to be a list"))?;
        if list.len() <= MOST {
            Ok(list)
        } else {
            Err(self.wrong(key, "has more than a million entries"))
        }
    }

    fn wrong(&self, key: &str, message: &str) -> Error {
        Error::at(format!("{}.{key}", self.place), format!("this {message}"))
    }
}

/// The units of numbers without one.
struct Units {
    time: String,
    data: String,
    rate: String,
}

impl Units {
    const DEFAULT: [&'static str; 3] = ["s", "b", "bps"];

    fn new(table: &Table<'_>, default: &[&str; 3]) -> Result<Units, Error> {
        let unit = |key: &str, default: &str| {
            table.get(key).map_or(Ok(default.to_string()), |_| table.text(key).map(str::to_string))
        };
        Ok(Units {
            time: unit("time_unit", default[0])?,
            data: unit("data_unit", default[1])?,
            rate: unit("rate_unit", default[2])?,
        })
    }

    fn inside(&self, table: &Table<'_>) -> Result<Units, Error> {
        Units::new(table, &[&self.time, &self.data, &self.rate])
    }
}

/// A number, or a string with a unit.
fn quantity<T>(
    value: &Value,
    place: &str,
    parse: Parse<T>,
    plain: &str,
    round: Round,
) -> Result<T, Error> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err(Error::at(place, "this is to be a number, or a string with a unit")),
    };
    parse(&text, plain, round).map_err(|message| Error::at(place, message))
}

struct Server<'a> {
    name: &'a str,
    service: Service,
}

fn servers<'a>(
    file: &Table<'a>,
    general: &Table<'a>,
    units: &Units,
    notes: &mut Vec<String>,
) -> Result<Vec<Server<'a>>, Error> {
    const KEYS: &str = "name service_curve capacity time_unit data_unit rate_unit";
    let mut parts = Vec::new();
    let one = |(number, value): (usize, &'a Value)| {
        let place = format!("servers[{number}]");
        let server = Table::new(value, &place, KEYS)?;
        let units = units.inside(&server)?;
        let place = format!("{place}.service_curve");
        let curve = Table::new(server.needed("service_curve")?, &place, "latencies rates")?;
        let latencies: Vec<Nanos> =
            quantities(&curve, "latencies", units::time, &units.time, Round::Up)?;
        let rates: Vec<Rate> = quantities(&curve, "rates", units::rate, &units.rate, Round::Down)?;
        let (latency, rate, is_all) = fastest(&latencies, &rates).ok_or_else(|| {
            Error::at(
                &place,
                "there are as many `latencies` as `rates`, one at least, and a rate that is not zero",
            )
        })?;
        let name = server.text("name")?;
        if !is_all {
            parts.push(format!(
                "of the service curve of `{}` the part of {rate} after {latency} counts: a link of a plan has one \
                 rate and one latency, and this part is nowhere above the whole",
                shown(name)
            ));
        }
        let peak = match server.own_or_general(general, "capacity") {
            None => rate,
            Some((value, place)) => {
                let peak = quantity(value, &place, units::rate, &units.rate, Round::Up)?;
                if peak < rate {
                    let message = format!("{peak} is below the rate of the service curve, {rate}");
                    return Err(Error::at(place, message));
                }
                peak
            }
        };
        Ok(Server { name, service: Service { rate, latency, peak } })
    };
    let servers: Vec<Server<'a>> =
        file.list("servers")?.iter().enumerate().map(one).collect::<Result<_, Error>>()?;
    // The first one stands for all.
    let more = parts.len().saturating_sub(1);
    notes.extend(parts.into_iter().next().map(|note| match more {
        0 => note,
        more => format!("{note}; and of {more} more servers alike"),
    }));
    let mut names = HashSet::new();
    match servers.iter().position(|server| !names.insert(server.name)) {
        None => Ok(servers),
        Some(at) => Err(Error::at(
            format!("servers[{at}].name"),
            format!("another server is called `{}`", shown(servers[at].name)),
        )),
    }
}

/// Of several rate-latency curves, whose maximum is the service: the curve that is highest in the
/// long run, and whether it is highest everywhere.
fn fastest(latencies: &[Nanos], rates: &[Rate]) -> Option<(Nanos, Rate, bool)> {
    if latencies.len() != rates.len() {
        return None;
    }
    let curves = || latencies.iter().zip(rates);
    let (latency, rate) = curves().max_by_key(|(latency, rate)| (**rate, Reverse(**latency)))?;
    // A curve of rate 0 is nowhere above another.
    let mut others = curves().filter(|(_, rate)| **rate > Rate(0));
    let is_all = others.all(|(other, _)| other >= latency);
    (*rate > Rate(0)).then_some((*latency, *rate, is_all))
}

fn quantities<T>(
    table: &Table<'_>,
    key: &str,
    parse: Parse<T>,
    plain: &str,
    round: Round,
) -> Result<Vec<T>, Error> {
    let place = |number: usize| format!("{}.{key}[{number}]", table.place);
    let one = |(number, value)| quantity(value, &place(number), parse, plain, round);
    table.list(key)?.iter().enumerate().map(one).collect()
}

fn flows<'a>(
    file: &Table<'a>,
    general: &Table<'a>,
    units: &Units,
    servers: &[Server<'_>],
    notes: &mut Vec<String>,
) -> Result<Vec<Flow>, Error> {
    let numbers: HashMap<&str, usize> =
        servers.iter().zip(0..).map(|(of, at)| (of.name, at)).collect();
    let mut flows: Vec<Flow> = Vec::new();
    let mut is_multicast = false;
    for (number, value) in file.list("flows")?.iter().enumerate() {
        let place = format!("flows[{number}]");
        let flow = Table::new(
            value,
            &place,
            "name path multicast arrival_curve max_packet_length min_packet_length time_unit data_unit rate_unit",
        )?;
        let units = units.inside(&flow)?;
        let place = format!("{place}.arrival_curve");
        let curve = Table::new(flow.needed("arrival_curve")?, &place, "bursts rates")?;
        let bursts: Vec<Bytes> = quantities(&curve, "bursts", units::size, &units.data, Round::Up)?;
        let rates: Vec<Rate> = quantities(&curve, "rates", units::rate, &units.rate, Round::Up)?;
        if bursts.is_empty() || bursts.len() != rates.len() {
            return Err(Error::at(
                place,
                "there are as many `bursts` as `rates`, and one at least",
            ));
        }
        let packet = |key: &str, round| {
            let read = |(value, place): (&Value, String)| {
                quantity(value, &place, units::size, &units.data, round)
            };
            flow.own_or_general(general, key).map(read).transpose()
        };
        let plain = Flow {
            name: named(flow.text("name")?.to_string(), &flow.place)?,
            ports: path(&flow, &numbers)?,
            arrival: bursts
                .into_iter()
                .zip(rates)
                .map(|(bucket, rate)| TokenBucket { bucket, rate })
                .collect(),
            // A plan has no empty packets.
            shortest: packet("min_packet_length", Round::Down)?.filter(|least| *least > Bytes(0)),
            longest: packet("max_packet_length", Round::Up)?.filter(|most| *most > Bytes(0)),
            deadline: None,
        };
        let others = flow.get("multicast").map_or(Ok(&[][..]), |_| flow.list("multicast"))?;
        is_multicast |= !others.is_empty();
        for (other, value) in others.iter().enumerate() {
            let place = format!("flows[{number}].multicast[{other}]");
            let branch = Table::new(value, &place, "name path")?;
            let name = named(format!("{}#{}", plain.name, branch.text("name")?), &place)?;
            flows.push(Flow { name, ports: path(&branch, &numbers)?, ..plain.clone() });
        }
        flows.push(plain);
    }
    let mut names = HashSet::new();
    if let Some(twice) = flows.iter().find(|flow| !names.insert(flow.name.as_str())) {
        return Err(Error::at("flows", format!("two flows are called `{}`", shown(&twice.name))));
    }
    if is_multicast {
        notes.push(
            "every path of `multicast` is a flow by itself, so that where they run together it counts several times"
                .into(),
        );
    }
    Ok(flows)
}

/// Checks that a name can be one of a plan.
fn named(name: String, place: &str) -> Result<String, Error> {
    let checked = check_name(&name);
    checked.map_err(|message| Error::at(format!("{place}.name"), message)).map(|()| name)
}

/// Servers by name, or by number as the tool writes them.
fn path(flow: &Table<'_>, numbers: &HashMap<&str, usize>) -> Result<Vec<usize>, Error> {
    let place = |at: usize| format!("{}.path[{at}]", flow.place);
    let step = |(at, value): (usize, &Value)| {
        let by_name = value.as_str().and_then(|name| numbers.get(name).copied());
        let by_number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        let step = by_name.or(by_number.filter(|number| *number < numbers.len()));
        step.ok_or_else(|| Error::at(place(at), "there is no such server in `servers`"))
    };
    let path: Vec<usize> =
        flow.list("path")?.iter().enumerate().map(step).collect::<Result<_, Error>>()?;
    let mut passed = HashSet::new();
    if let Some(at) = path.iter().position(|server| !passed.insert(*server)) {
        return Err(Error::at(place(at), "the flow has passed this server before"));
    }
    if path.is_empty() { Err(Error::at(&flow.place, "`path` is empty")) } else { Ok(path) }
}

/// The nodes of servers: each server leads to the node of all servers that come behind it.
fn placed(servers: &[Server<'_>], flows: &[Flow]) -> Result<Vec<Port>, Error> {
    // Server n is at node n, and leads to node n plus the number of servers.
    let mut nodes = Nodes((0..2 * servers.len()).collect());
    for pair in flows.iter().flat_map(|flow| flow.ports.windows(2)) {
        nodes.join(servers.len() + pair[0], pair[1]);
    }
    let mut names: HashMap<usize, String> = HashMap::new();
    let mut ends = |number: usize| {
        [number, servers.len() + number].map(|end| {
            let node = nodes.find(end);
            let next = names.len() + 1;
            names.entry(node).or_insert_with(|| format!("n{next}")).clone()
        })
    };
    let ends: Vec<[String; 2]> = (0..servers.len()).map(&mut ends).collect();
    let mut taken: HashMap<&[String; 2], &str> = HashMap::new();
    for (server, ends) in servers.iter().zip(&ends) {
        let refuse = |message: String| Err(Error::at("servers", message));
        if ends[0] == ends[1] {
            return refuse(format!(
                "server `{}` would lead back to its own node: all servers behind one server are at one node",
                shown(server.name)
            ));
        }
        if let Some(other) = taken.insert(ends, server.name) {
            return refuse(format!(
                "servers `{}` and `{}` lead from one node to another, which have one link in a plan",
                shown(other),
                shown(server.name)
            ));
        }
    }
    let port = |(server, ends): (&Server<'_>, &[String; 2])| Port {
        ends: ends.clone(),
        service: server.service,
    };
    Ok(servers.iter().zip(&ends).map(port).collect())
}

/// A union-find of equal nodes.
struct Nodes(Vec<usize>);

impl Nodes {
    fn find(&mut self, mut end: usize) -> usize {
        while self.0[end] != end {
            self.0[end] = self.0[self.0[end]];
            end = self.0[end];
        }
        end
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        self.0[one.max(other)] = one.min(other);
    }
}
