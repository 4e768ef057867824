//! ShapedDevices.csv: devices with their addresses and rates; those of one circuit share its rates.

use std::collections::HashMap;

use csv::{ReaderBuilder, StringRecord, Trim};
use laxity::units::Rate;
use laxity_plan::matching::Match;

use super::Both;
use super::tree::{Node, megabits};
use crate::Error;
use crate::error::shown;
use crate::network::check_name;

/// A circuit: the devices of a subscriber.
#[derive(Clone, Debug)]
pub(super) struct Circuit {
    pub id: String,
    pub name: String,
    /// The number of the node that it is below; `None` at the top.
    pub node: Option<usize>,
    /// Addresses and networks: of IPv4, of IPv6.
    pub addresses: [Vec<String>; 2],
    pub minimum: Both<Rate>,
    pub maximum: Both<Rate>,
    /// The queue of each direction: `None` where the column says none.
    pub has_queue: Both<bool>,
    /// Where it begins.
    line: usize,
}

#[cfg(test)]
impl Circuit {
    /// A circuit with a minimum, and nothing else that counts.
    pub(super) fn with_rates(node: Option<usize>, minimum: Rate) -> Circuit {
        Circuit {
            id: String::new(),
            name: String::new(),
            node,
            addresses: [Vec::new(), Vec::new()],
            minimum: [minimum; 2],
            maximum: [minimum; 2],
            has_queue: [true; 2],
            line: 1,
        }
    }
}

/// The most errors that are told at once.
const MOST_ERRORS: usize = 20;
/// The most devices.
const MOST: usize = 1_000_000;

/// The columns that count, as LibreQoS names them.
const COLUMNS: [&str; 9] = [
    "Circuit ID",
    "Circuit Name",
    "Parent Node",
    "IPv4",
    "IPv6",
    "Download Min Mbps",
    "Upload Min Mbps",
    "Download Max Mbps",
    "Upload Max Mbps",
];
/// A column that may be missing.
const SQM: &str = "sqm";

/// Reads the circuits.
///
/// # Errors
/// All that are wrong, each with its line and column, at most [`MOST_ERRORS`].
pub(super) fn read_circuits(
    text: &str,
    nodes: &[Node],
    notes: &mut Vec<String>,
) -> Result<Vec<Circuit>, Vec<Error>> {
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .comment(Some(b'#'))
        .flexible(true)
        .from_reader(text.as_bytes());
    let wrong = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        vec![Error::at(
            line,
            format!("this is no CSV that is read here: {}", shown(&error.to_string())),
        )]
    };
    let header = reader.headers().map_err(wrong)?.clone();
    let columns = Columns::new(&header).map_err(|error| vec![error])?;
    let mut table = Table {
        nodes: nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect(),
        circuits: Vec::new(),
        known: HashMap::new(),
        owners: HashMap::new(),
        errors: Vec::new(),
    };
    let (mut record, mut lines, mut longer) = (StringRecord::new(), 0, 0);
    while table.errors.len() < MOST_ERRORS && reader.read_record(&mut record).map_err(wrong)? {
        let line = record.position().map_or(1, |position| position.line() as usize);
        lines += 1;
        if lines > MOST {
            return Err(vec![Error::at(line, "more than a million devices")]);
        }
        longer += usize::from(record.len() > header.len());
        table.row(&Row { record: &record, columns: &columns, line });
    }
    if !table.errors.is_empty() {
        return Err(table.errors);
    }
    if table.circuits.is_empty() {
        return Err(vec![Error::new("there are no circuits")]);
    }
    if longer > 0 {
        notes.push(format!("{longer} rows have more cells than the header, as comments with commas do: what is too much is left out"));
    }
    let without =
        table.circuits.iter().filter(|circuit| circuit.addresses.iter().all(Vec::is_empty));
    if let Some(first) = without.clone().next() {
        let (count, id) = (without.count(), shown(&first.id));
        notes.push(format!("{count} circuits have no address, such as {id}: no packet is theirs"));
    }
    Ok(table.circuits)
}

/// The places of the columns.
struct Columns {
    places: [usize; COLUMNS.len()],
    sqm: Option<usize>,
}

impl Columns {
    fn new(header: &StringRecord) -> Result<Columns, Error> {
        let place = |name: &str| {
            header
                .iter()
                .position(|cell| cell.trim_start_matches('\u{feff}').eq_ignore_ascii_case(name))
        };
        let mut places = [0; COLUMNS.len()];
        for (at, name) in places.iter_mut().zip(COLUMNS) {
            *at = place(name).ok_or_else(|| {
                let needed = COLUMNS.join(", ");
                Error::at(1, format!("column `{name}` is missing: needed are {needed}"))
            })?;
        }
        Ok(Columns { places, sqm: place(SQM) })
    }
}

/// A row and where it is.
struct Row<'a> {
    record: &'a StringRecord,
    columns: &'a Columns,
    line: usize,
}

impl<'a> Row<'a> {
    /// The cell of one of [`COLUMNS`].
    fn cell(&self, column: usize) -> &'a str {
        self.record.get(self.columns.places[column]).unwrap_or_default()
    }

    /// An error at the cell of one of [`COLUMNS`].
    fn error(&self, column: usize, message: impl AsRef<str>) -> Error {
        let place = format!("{}:{}", self.line, self.columns.places[column] + 1);
        Error::at(place, format!("{}: {}", COLUMNS[column], message.as_ref()))
    }
}

// Places in `COLUMNS`. Rates are two columns, down and up.
const ID: usize = 0;
const NAME: usize = 1;
const PARENT: usize = 2;
const IPV4: usize = 3;
const IPV6: usize = 4;
const MINIMUM: usize = 5;
const MAXIMUM: usize = 7;

/// The circuits that are read.
struct Table<'a> {
    nodes: HashMap<&'a str, usize>,
    circuits: Vec<Circuit>,
    /// Circuits by their number.
    known: HashMap<String, usize>,
    /// Circuits by their addresses.
    owners: HashMap<String, usize>,
    errors: Vec<Error>,
}

impl Table<'_> {
    fn row(&mut self, row: &Row<'_>) {
        let before = self.errors.len();
        let circuit = self.circuit(row);
        if self.errors.len() > before {
            return;
        }
        let at = match self.known.get(&circuit.id) {
            None => {
                self.known.insert(circuit.id.clone(), self.circuits.len());
                self.circuits.push(circuit);
                self.circuits.len() - 1
            }
            Some(&at) => {
                let first = &self.circuits[at];
                let same = [
                    (PARENT, first.node == circuit.node),
                    (MINIMUM, first.minimum == circuit.minimum),
                    (MAXIMUM, first.maximum == circuit.maximum),
                ];
                if let Some((column, _)) = same.iter().find(|(_, same)| !same) {
                    let message = format!(
                        "differs from the first device of circuit `{}` in line {}: the devices of a circuit share it",
                        shown(&first.id),
                        first.line
                    );
                    self.errors.push(row.error(*column, message));
                    return;
                }
                for (all, more) in self.circuits[at].addresses.iter_mut().zip(circuit.addresses) {
                    all.extend(more);
                }
                at
            }
        };
        self.claim(row, at);
    }

    /// The circuit of a row; what is wrong with it is added to the errors.
    fn circuit(&mut self, row: &Row<'_>) -> Circuit {
        let errors = &mut self.errors;
        let id = row.cell(ID);
        if let Err(message) = check_name(id) {
            errors.push(row.error(ID, message));
        }
        let node = match row.cell(PARENT) {
            "" | "none" => None,
            name => {
                let node = self.nodes.get(name).copied();
                if node.is_none() {
                    let message = format!("`{}` is no node of the network", shown(name));
                    errors.push(row.error(PARENT, message));
                }
                node
            }
        };
        let mut rate = |column: usize| {
            megabits(row.cell(column)).unwrap_or_else(|message| {
                errors.push(row.error(column, message));
                Rate(1)
            })
        };
        let minimum = [rate(MINIMUM), rate(MINIMUM + 1)];
        let maximum = [rate(MAXIMUM), rate(MAXIMUM + 1)];
        for at in 0..2 {
            if minimum[at] > maximum[at] {
                let message = format!("{} is below the minimum of {}", maximum[at], minimum[at]);
                errors.push(row.error(MAXIMUM + at, message));
            }
        }
        let mut addresses = |column: usize, version: &str| {
            let cell =
                row.cell(column).split([',', ' ', ';']).filter(|address| !address.is_empty());
            let (mut all, mut wrong) = (Vec::new(), None);
            for address in cell {
                match format!("{version} addr {address}").parse::<Match>() {
                    Ok(_) => all.push(address.to_owned()),
                    Err(_) => wrong = wrong.or(Some(address)),
                }
            }
            if let Some(address) = wrong {
                errors.push(
                    row.error(column, format!("`{}` is no address and no network", shown(address))),
                );
            }
            all
        };
        let addresses = [addresses(IPV4, "ip"), addresses(IPV6, "ip6")];
        let sqm = row.columns.sqm.and_then(|at| row.record.get(at)).unwrap_or_default();
        let (down, up) = sqm.split_once('/').unwrap_or((sqm, sqm));
        Circuit {
            id: id.to_owned(),
            name: row.cell(NAME).to_owned(),
            node,
            addresses,
            minimum,
            maximum,
            has_queue: [down, up].map(|word| !word.trim().eq_ignore_ascii_case("none")),
            line: row.line,
        }
    }

    /// Gives a circuit the addresses of a row, which no other one may have.
    fn claim(&mut self, row: &Row<'_>, circuit: usize) {
        for column in [IPV4, IPV6] {
            let cell =
                row.cell(column).split([',', ' ', ';']).filter(|address| !address.is_empty());
            for address in cell {
                let owner = self.owners.insert(address.to_ascii_lowercase(), circuit);
                if let Some(other) = owner.filter(|other| *other != circuit) {
                    let message = format!(
                        "`{}` is also an address of circuit `{}` in line {}",
                        shown(address),
                        shown(&self.circuits[other].id),
                        self.circuits[other].line
                    );
                    self.errors.push(row.error(column, message));
                }
            }
        }
    }
}
