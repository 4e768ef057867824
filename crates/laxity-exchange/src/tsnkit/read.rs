//! Streams and links as a plan.

use std::collections::BTreeMap;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use num_integer::gcd;

use super::{File, waits};
use crate::error::shown;
use crate::units::{Decimal, Round};
use crate::{Conversion, Error};

/// The most lines of a file.
const MOST: usize = 1_000_000;
/// The most frames of a super cycle that a plan has.
const MOST_FRAMES: u64 = 1 << 16;
/// The shortest frame of a plan.
const SHORTEST_FRAME: u64 = 100;

pub(super) struct Stream {
    pub name: String,
    ends: [u64; 2],
    size: Bytes,
    pub period: Nanos,
    pub deadline: Nanos,
    /// The time between frames reserved for it.
    pub gap: Nanos,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Link {
    rate: Rate,
    delay: Nanos,
}

/// Reads two files as a plan, in time frames of this length, or of the shortest that divides all
/// periods and holds two of the largest packets.
///
/// # Errors
/// If a file is malformed, or says something that a plan cannot: the file, and what is wrong with
/// it.
pub fn import(
    streams: &str,
    topology: &str,
    frame: Option<Nanos>,
) -> Result<Conversion, (File, Error)> {
    let mut notes = Vec::new();
    let mut streams = read_streams(streams, &mut notes).map_err(|error| (File::Streams, error))?;
    let links = read_links(topology).map_err(|error| (File::Topology, error))?;
    let text =
        framed(&mut streams, &links, frame, &mut notes).map_err(|error| (File::Streams, error))?;
    Ok(Conversion { text, notes })
}

/// The plan in frames of this length, or of one that fits.
fn framed(
    streams: &mut [Stream],
    links: &BTreeMap<[u64; 2], Link>,
    frame: Option<Nanos>,
    notes: &mut Vec<String>,
) -> Result<String, Error> {
    let largest = streams.iter().map(|stream| stream.size).max();
    let slowest = links.values().map(|link| link.rate).min();
    let (Some(largest), Some(slowest)) = (largest, slowest) else {
        return Err(Error::new("there are no streams, or no links"));
    };
    let common = streams.iter().fold(0, |common, stream| gcd(common, stream.period.0));
    let cycle = streams.iter().try_fold(1u64, |cycle, stream| {
        cycle.checked_mul(stream.period.0 / gcd(cycle, stream.period.0))
    });
    let cycle = cycle
        .ok_or_else(|| Error::new("the periods have no common multiple that is short enough"))?;
    let frame = match frame {
        Some(Nanos(frame)) => frame,
        None => {
            let least = slowest.time_for(largest).0.saturating_mul(2).max(SHORTEST_FRAME);
            let fits = |frame: &u64| *frame >= least && cycle / frame <= MOST_FRAMES;
            divisors(common).into_iter().find(fits).ok_or_else(|| {
                Error::new(format!(
                    "no length of a time frame divides all periods and holds two packets of {largest}: say one with --frame"
                ))
            })?
        }
    };
    if frame == 0 || !cycle.is_multiple_of(frame) || cycle / frame > MOST_FRAMES {
        return Err(Error::new(format!(
            "frames of {} do not make up {}, after which all periods begin together, {MOST_FRAMES} of them at most",
            Nanos(frame),
            Nanos(cycle)
        )));
    }
    let written = |streams: &[Stream]| {
        let text = text(streams, links, frame, cycle / frame);
        let plan = Plan::parse(&text, "plan", Path::new("")).map_err(|error| {
            Error::new(format!("what the files say is no plan: {}", error.message()))
        })?;
        Ok((text, plan))
    };
    let (_, plan) = written(streams)?;
    notes.extend(waits::shorten(&plan, streams, frame));
    Ok(written(streams)?.0)
}

fn text(streams: &[Stream], links: &BTreeMap<[u64; 2], Link>, frame: u64, frames: u64) -> String {
    let mut text = String::from("version = 1\n");
    let fastest = links.values().map(|link| link.rate.0).max().unwrap_or_default();
    let sizes = || streams.iter().map(|stream| stream.size);
    text += &format!(
        "\n[link]\nrate = \"{}bit\"\nmax-packet = \"{}b\"\nmin-packet = \"{}b\"\n",
        fastest,
        sizes().max().unwrap_or_default().0,
        sizes().min().unwrap_or_default().0
    );
    text += &format!("\n[scheduler]\nkind = \"tdp\"\nframe = \"{frame}ns\"\nframes = {frames}\n");
    for stream in streams {
        text += &format!(
            "\n[class.\"{}\"]\ngap = \"{}ns\"\nend-to-end = \"{}ns\"\narrival = {{ bucket = \"{size}b\", rate = \"{}bit\", \
             packet = {{ at-least = \"{size}b\", at-most = \"{size}b\" }} }}\n",
            stream.name,
            stream.gap.0,
            stream.deadline.0,
            stream.rate().0,
            size = stream.size.0,
        );
    }
    for (number, ([from, to], link)) in links.iter().enumerate() {
        text += &format!(
            "\n[network.link-{}]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"{}bit\"\ndelay = \"{}ns\"\n",
            number + 1,
            link.rate.0,
            link.delay.0
        );
    }
    for stream in streams {
        let [from, to] = stream.ends;
        text += &format!(
            "\n[[source]]\nclass = \"{}\"\nmodel = \"constant\"\nrate = \"{}bit\"\npacket = \"{}b\"\n\
             path = \"shortest\"\nfrom = \"{from}\"\nto = \"{to}\"\n",
            stream.name,
            stream.rate().0,
            stream.size.0
        );
    }
    text
}

impl Stream {
    /// Long-term rate of the stream.
    fn rate(&self) -> Rate {
        let bits = u128::from(self.size.0) * 8 * 1_000_000_000;
        Rate(u64::try_from(bits.div_ceil(u128::from(self.period.0))).unwrap_or(u64::MAX))
    }
}

/// Another name of the first column.
const ID: &str = "id";

/// A file's records under columns of these names, each with its line.
fn records<const N: usize>(
    text: &str,
    columns: [&str; N],
    mut each: impl FnMut(usize, [&str; N]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
    let wrong = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        Error::at(line, format!("this is no CSV that is read here: {}", shown(&error.to_string())))
    };
    let header = reader.headers().map_err(wrong)?.clone();
    let accepted = columns.join(",");
    let plain = |name: &str| name.trim_start_matches('\u{feff}').to_owned();
    let header: Vec<String> = header.iter().map(plain).collect();
    // Numbered things may also be named so, as the tool reads them, in a column beside the number.
    let known = |name: &&String| columns.contains(&name.as_str()) || *name == ID;
    if let Some(other) = header.iter().find(|name| !known(name)) {
        return Err(Error::at(
            1,
            format!("unknown column `{}`: accepted are {accepted}", shown(other)),
        ));
    }
    let place = |column: &str| header.iter().position(|name| name == column);
    let mut places = [0; N];
    for (number, (place_of, column)) in places.iter_mut().zip(columns).enumerate() {
        let id = if number == 0 { place(ID) } else { None };
        *place_of = place(column).or(id).ok_or_else(|| {
            Error::at(1, format!("column `{column}` is missing: needed are {accepted}"))
        })?;
    }
    let mut record = StringRecord::new();
    let mut lines = 0;
    while reader.read_record(&mut record).map_err(wrong)? {
        let line = record.position().map_or(1, |position| position.line() as usize);
        lines += 1;
        if lines > MOST {
            return Err(Error::at(line, "more than a million lines"));
        }
        each(line, places.map(|at| record.get(at).unwrap_or_default()))?;
    }
    Ok(())
}

fn read_streams(text: &str, notes: &mut Vec<String>) -> Result<Vec<Stream>, Error> {
    let mut streams: Vec<Stream> = Vec::new();
    let (mut is_multicast, mut has_jitter) = (false, false);
    let columns = ["stream", "src", "dst", "size", "period", "deadline", "jitter"];
    records(text, columns, |line, [stream, src, dst, size, period, deadline, jitter]| {
        let number = |text: &str, what: &str| whole(text, what, line);
        let (id, src) = (number(stream, "stream")?, number(src, "src")?);
        let inner = dst.strip_prefix('[').and_then(|dst| dst.strip_suffix(']')).unwrap_or(dst);
        let targets: Vec<u64> =
            inner.split(',').map(|dst| number(dst.trim(), "dst")).collect::<Result<_, Error>>()?;
        is_multicast |= targets.len() > 1;
        has_jitter |= number(jitter, "jitter")? > 0;
        let positive = |text: &str, what: &str| match number(text, what)? {
            0 => Err(Error::at(line, format!("`{what}` is zero"))),
            more => Ok(more),
        };
        let (size, period) = (Bytes(positive(size, "size")?), Nanos(positive(period, "period")?));
        let deadline = Nanos(positive(deadline, "deadline")?);
        for (at, &dst) in targets.iter().enumerate() {
            let name = match at {
                0 => format!("stream-{id}"),
                _ => format!("stream-{id}#{dst}"),
            };
            streams.push(Stream { name, ends: [src, dst], size, period, deadline, gap: period });
        }
        Ok(())
    })?;
    if is_multicast {
        notes.push(
            "every destination of a stream is a stream by itself, which reserves frames of its own"
                .into(),
        );
    }
    if has_jitter {
        notes.push(
            "`jitter` is left out: time-driven priority keeps it below two time frames".into(),
        );
    }
    Ok(streams)
}

fn read_links(text: &str) -> Result<BTreeMap<[u64; 2], Link>, Error> {
    let mut links: BTreeMap<[u64; 2], Link> = BTreeMap::new();
    records(
        text,
        ["link", "q_num", "rate", "t_proc", "t_prop"],
        |line, [link, _, rate, proc, prop]| {
            let inner = link.strip_prefix('(').and_then(|link| link.strip_suffix(')'));
            let ends: Option<(&str, &str)> = inner.and_then(|link| link.split_once(','));
            let (from, to) =
                ends.ok_or_else(|| Error::at(line, "`link` is two nodes such as (0, 1)"))?;
            let mut ends = [whole(from.trim(), "link", line)?, whole(to.trim(), "link", line)?];
            ends.sort_unstable();
            if ends[0] == ends[1] {
                return Err(Error::at(line, "a link from a node to itself"));
            }
            let rate = Decimal::parse(rate).and_then(|rate| rate.times(1, 1, 9, Round::Down));
            let rate = rate.filter(|rate| *rate > 0);
            let rate = rate
                .ok_or_else(|| Error::at(line, "`rate` is bits a nanosecond, such as 1 or 0.1"))?;
            let delay = whole(proc, "t_proc", line)?.saturating_add(whole(prop, "t_prop", line)?);
            let link = Link { rate: Rate(rate), delay: Nanos(delay) };
            match links.insert(ends, link) {
                Some(other) if other != link => Err(Error::at(
                    line,
                    format!(
                        "the link between {} and {} differs the other way, which a plan cannot say",
                        ends[0], ends[1]
                    ),
                )),
                _ => Ok(()),
            }
        },
    )?;
    Ok(links)
}

/// A number without a part, as it is or as `100000.0`.
fn whole(text: &str, what: &str, line: usize) -> Result<u64, Error> {
    let exact = |number: Decimal| {
        let up = number.times(1, 1, 0, Round::Up)?;
        number.times(1, 1, 0, Round::Down).filter(|down| *down == up)
    };
    Decimal::parse(text).and_then(exact).ok_or_else(|| {
        Error::at(line, format!("`{what}` is `{}`, not a whole number", shown(text)))
    })
}

/// All divisors, the smallest first.
fn divisors(n: u64) -> Vec<u64> {
    // Periods of hours have a root of two million.
    let small: Vec<u64> =
        (1..=n.isqrt().min(4_000_000)).filter(|divisor| n.is_multiple_of(*divisor)).collect();
    let large = small.iter().rev().map(|small| n / small).filter(|large| !small.contains(large));
    let mut all: Vec<u64> = small.iter().copied().chain(large).collect();
    all.sort_unstable();
    all
}
