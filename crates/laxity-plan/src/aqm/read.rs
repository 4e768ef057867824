//! `queue = { kind = … }`.

use laxity::aqm::{Choke, CoDel, Pie};
use laxity::units::{Bytes, Nanos};

use super::Kind;
use super::red::red;
use crate::error::{Fault, Span};
use crate::keys::{has, misplaced};
use crate::model::{DropTailSpec, LinkSpec, QueueLimit, QueueSpec};
use crate::raw::{self, At, Count, Number, positive_or, within};

/// The most packets that an arriving one is compared with.
const MOST_CANDIDATES: u64 = 1000;

/// Reads a `queue`, of a class or of all.
pub(crate) fn queue(raw: &raw::Queue, span: &Span, link: &LinkSpec) -> Result<QueueSpec, Fault> {
    check_keys(raw)?;
    let limit = limit("limit", &raw.limit)?;
    Ok(match raw.kind.0 {
        Kind::Droptail => {
            let mark = raw.mark.as_ref().map(|mark| threshold(mark, limit)).transpose()?;
            QueueSpec::DropTail(DropTailSpec { limit, mark })
        }
        Kind::Red => QueueSpec::Red(red(raw, span, limit, link)?),
        Kind::Choke => {
            let candidates = raw.candidates.as_ref().map_or(Ok(1), candidates)?;
            QueueSpec::Choke(Choke { red: red(raw, span, limit, link)?, candidates })
        }
        Kind::Codel => QueueSpec::CoDel(codel(raw, limit, link)?),
        Kind::Pie => QueueSpec::Pie(pie(raw, limit, link)?),
    })
}

/// Refuses the keys of another kind.
fn check_keys(raw: &raw::Queue) -> Result<(), Fault> {
    let kind = raw.kind.0;
    let Some((key, span)) = misplaced(raw.written(), |key| has(kind.keys(), key)) else {
        return Ok(());
    };
    let owners = Kind::ALL.iter().filter(|kind| has(kind.keys(), &key));
    let owners: Vec<_> = owners.map(|kind| format!("`{}`", kind.word())).collect();
    let message = format!("`{key}` does not belong to `kind = \"{}\"`", kind.word());
    let help = format!("leave it out; it belongs to {}", owners.join(", "));
    Err(Fault::at(span, message).help(help))
}

/// A limit of packets or bytes that is not zero.
pub(crate) fn limit(key: &str, raw: &At<QueueLimit>) -> Result<QueueLimit, Fault> {
    match raw.value {
        QueueLimit::Packets(0) | QueueLimit::Bytes(Bytes(0)) => Err(Fault::zero(key, &raw.span)),
        limit => Ok(limit),
    }
}

fn threshold(raw: &At<QueueLimit>, most: QueueLimit) -> Result<QueueLimit, Fault> {
    use QueueLimit::{Bytes as Size, Packets};
    let mark = limit("mark", raw)?;
    match (mark, most) {
        (Packets(mark), Packets(most)) | (Size(Bytes(mark)), Size(Bytes(most))) if mark < most => {}
        (Packets(_), Packets(_)) | (Size(_), Size(_)) => {
            let message = "`mark` is not below `limit`: what would be marked is dropped";
            return Err(
                Fault::at(&raw.span, message).help("write a smaller `mark`, or a larger `limit`")
            );
        }
        (Packets(_), Size(_)) | (Size(_), Packets(_)) => {
            let message = "`mark` and `limit` are not measured alike";
            return Err(Fault::at(&raw.span, message)
                .help("write both in packets, as in 50, or both in bytes, as in \"50kB\""));
        }
    }
    Ok(mark)
}

fn candidates(at: &At<Count>) -> Result<u32, Fault> {
    let help = || format!("1 to {MOST_CANDIDATES} packets are compared");
    within("candidates", at, 1..=MOST_CANDIDATES, help)
}

fn codel(raw: &raw::Queue, limit: QueueLimit, link: &LinkSpec) -> Result<CoDel, Fault> {
    Ok(CoDel {
        target: positive_or("target", &raw.target, CoDel::TARGET)?,
        interval: positive_or("interval", &raw.interval, CoDel::INTERVAL)?,
        limit: limit.into(),
        ecn: raw.ecn.as_ref().is_some_and(|ecn| ecn.value),
        max_packet: link.max_packet,
    })
}

fn pie(raw: &raw::Queue, limit: QueueLimit, link: &LinkSpec) -> Result<Pie, Fault> {
    let [alpha, beta] = Pie::GAINS;
    Ok(Pie {
        target: positive_or("target", &raw.target, Pie::TARGET)?,
        update: positive_or("update", &raw.update, Pie::UPDATE)?,
        alpha: millionths("alpha", Pie::MOST_GAIN, &raw.alpha, alpha)?,
        beta: millionths("beta", Pie::MOST_GAIN, &raw.beta, beta)?,
        burst: raw.burst.as_ref().map_or(Pie::BURST, |burst: &raw::Quantity<Nanos>| burst.value.0),
        limit: limit.into(),
        ecn: raw.ecn.as_ref().is_some_and(|ecn| ecn.value),
        packet: link.max_packet,
    })
}

/// A number in millionths, at most `most` of them.
pub(crate) fn millionths(
    key: &str,
    most: u32,
    raw: &Option<At<Number>>,
    default: u32,
) -> Result<u32, Fault> {
    let Some(At { value: Number(written), span }) = raw else { return Ok(default) };
    let millionths = (written * 1e6).round();
    if (0.0..=f64::from(most)).contains(&millionths) {
        return Ok(millionths as u32);
    }
    let largest = f64::from(most) / 1e6;
    Err(Fault::at(span, format!("`{key}` is {written}")).help(format!("it is 0 to {largest}")))
}
