//! Disciplines.

use super::object::{OPTIONS, Object, STAB, Sort};
use super::{attributes, queue, size_table};
use crate::setup::{Handle, Prio, Qdisc, QdiscKind};

/// The object of a qdisc: its kind, its own number, its parent and its parameters.
pub(super) fn object(qdisc: &Qdisc) -> Object {
    let options = match &qdisc.kind {
        QdiscKind::Hfsc { default } => {
            u16::try_from(*default).unwrap_or_default().to_ne_bytes().to_vec()
        }
        QdiscKind::Htb { default, r2q } => queue::htb(*default, *r2q),
        QdiscKind::Prio(Prio { bands, priomap }) => {
            [&u32::from(*bands).to_ne_bytes()[..], priomap].concat()
        }
        QdiscKind::Tbf(tbf) => queue::tbf(tbf),
        kind @ QdiscKind::FqCodel(_) => queue::numbered(kind, &queue::FQ_CODEL, None),
        kind @ QdiscKind::CoDel(_) => queue::numbered(kind, &queue::CODEL, None),
        kind @ QdiscKind::Pie(_) => queue::numbered(kind, &queue::PIE, None),
        QdiscKind::Red(of) | QdiscKind::Choke(of) => queue::red(of),
        QdiscKind::Pfifo { limit: Some(limit) } | QdiscKind::Bfifo { limit } => {
            limit.to_ne_bytes().to_vec()
        }
        // Those that have no parameters, and those that are read and never given to the kernel.
        QdiscKind::Drr
        | QdiscKind::Qfq
        | QdiscKind::Pfifo { limit: None }
        | QdiscKind::Mq
        | QdiscKind::Cake(_)
        | QdiscKind::Netem(_)
        | QdiscKind::Other { .. } => Vec::new(),
    };
    let object = Object::new(Sort::Qdisc, qdisc.handle, qdisc.parent, qdisc.kind.name());
    let object = if options.is_empty() { object } else { object.with(OPTIONS, &options) };
    match &qdisc.stab {
        Some(stab) => object.with(STAB, &size_table::attributes(stab)),
        None => object,
    }
}

pub(super) fn read(object: &Object) -> Option<Qdisc> {
    let options = object.options();
    let number = || attributes::words(options).map(|[number]| number);
    let kind = match object.kind().as_str() {
        "hfsc" => QdiscKind::Hfsc { default: u16::from_ne_bytes(*options.first_chunk()?).into() },
        "htb" => {
            let (default, r2q) = queue::read_htb(options)?;
            QdiscKind::Htb { default, r2q }
        }
        "drr" => QdiscKind::Drr,
        "qfq" => QdiscKind::Qfq,
        "prio" => QdiscKind::Prio(Prio {
            bands: number()?.try_into().ok()?,
            priomap: *options.get(4..)?.first_chunk()?,
        }),
        "tbf" => QdiscKind::Tbf(queue::read_tbf(options)?),
        "fq_codel" => QdiscKind::FqCodel(queue::read_fq_codel(options)?),
        "codel" => QdiscKind::CoDel(queue::read_codel(options)?),
        "pie" => QdiscKind::Pie(queue::read_pie(options)?),
        "red" => QdiscKind::Red(queue::read_red(options)?),
        "choke" => QdiscKind::Choke(queue::read_red(options)?),
        "pfifo" => QdiscKind::Pfifo { limit: Some(number()?) },
        "bfifo" => QdiscKind::Bfifo { limit: number()? },
        _ => return None,
    };
    let stab = match attributes::find(&object.attributes, STAB) {
        Some(stab) => Some(size_table::read(stab)?),
        None => None,
    };
    let parent = if object.parent == Handle(0) { Handle::ROOT } else { object.parent };
    Some(Qdisc { handle: object.handle, parent, kind, stab })
}
