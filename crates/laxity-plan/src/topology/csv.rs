//! Links as CSV: a header, then one line a link.

use csv::{ReaderBuilder, StringRecord, Trim};

use super::{MOST, Topology, TopologyError, TopologyLink, check_name, quantity};
use crate::error::shown;

const COLUMNS: [&str; 4] = ["from", "to", "rate", "delay"];

pub(super) fn parse(text: &str) -> Result<Topology, TopologyError> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| wrong(&error))?.clone();
    let columns = columns(&header)?;
    let mut topology = Topology::default();
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| wrong(&error))? {
        let line = record.position().map_or(1, |position| position.line() as usize);
        let [from, to, rate, delay] =
            columns.map(|column| column.and_then(|at| record.get(at)).unwrap_or_default());
        [from, to].into_iter().try_for_each(|name| check_name(name, line))?;
        if from == to {
            return Err(TopologyError::new(line, format!("a link from `{from}` to itself")));
        }
        let link = TopologyLink {
            between: [topology.node(from), topology.node(to)],
            rate: quantity(rate, line)?,
            delay: quantity(delay, line)?,
        };
        if !topology.join(link) {
            let message = format!("a second link between `{from}` and `{to}`");
            return Err(TopologyError::new(line, message));
        }
        if topology.links.len() > MOST {
            return Err(TopologyError::new(line, format!("more than {MOST} links")));
        }
    }
    if topology.links.is_empty() {
        Err(TopologyError::new(1, "there are no links"))
    } else {
        Ok(topology)
    }
}

/// Where each column is; only the first two are needed.
fn columns(header: &StringRecord) -> Result<[Option<usize>; 4], TopologyError> {
    let refuse = |message: String| {
        let accepted = "a topology is GraphML, GML, a network of SNDlib, or CSV with the columns from, to, rate, delay";
        Err(TopologyError::new(1, format!("{message}: {accepted}")))
    };
    let mut columns = [None; 4];
    for (at, name) in header.iter().enumerate() {
        match COLUMNS.iter().position(|column| *column == name.trim_start_matches('\u{feff}')) {
            Some(column) if columns[column].is_none() => columns[column] = Some(at),
            Some(column) => return refuse(format!("two columns are called `{}`", COLUMNS[column])),
            None => return refuse(format!("no column is called `{}`", shown(name).escape_debug())),
        }
    }
    match columns {
        [Some(_), Some(_), ..] => Ok(columns),
        _ => refuse("`from` or `to` is missing".into()),
    }
}

fn wrong(error: &csv::Error) -> TopologyError {
    let line = error.position().map_or(1, |position| position.line() as usize);
    let message = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields, where the header has {expected_len}")
        }
        _ => "this is no line of CSV".into(),
    };
    TopologyError::new(line, message)
}
