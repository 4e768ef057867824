//! `[class.NAME]`.

use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos, Rate};

use super::hierarchy::Hierarchy;
use super::scheduling::scheduling_of_part;
use super::{curve, keys, stream};
use crate::aqm::queue;
use crate::discipline::Kind;
use crate::error::{Fault, Span, shown};
use crate::model::{Arrival, Class, LinkId, LinkSpec, Network, Police, TokenBucket, Weight};
use crate::raw::{
    self, Arrivals, At, Count, MOST, Number, Quantity, Table, matching, positive, within,
};

/// The longest name of a class, in characters.
const LONGEST_NAME: usize = 64;
/// The most token buckets of one class.
const MOST_BUCKETS: usize = 64;
/// The largest weight.
const LARGEST_WEIGHT: f64 = 4000.0;

/// What of the plan is needed to read its classes.
pub(super) struct Context<'a> {
    pub link: &'a LinkSpec,
    pub network: Option<&'a Network>,
    pub scheduler: &'a raw::Scheduler,
    /// The disciplines that share links, or are to share them when the plan is put under others.
    pub disciplines: &'a [Kind],
    pub text: &'a str,
}

pub(super) fn all(raw: raw::Classes, context: &Context<'_>) -> Result<Vec<Class>, Fault> {
    let classes = raw.0;
    if classes.is_empty() {
        return Err(Fault::new(None, "the plan has no classes")
            .help("write at least one table `[class.NAME]`"));
    }
    if classes.len() > MOST {
        let message = format!(
            "the plan has {} classes, more than {MOST}, the most there may be",
            classes.len()
        );
        return Err(Fault::at(&classes[MOST].0.span, message));
    }
    classes.iter().try_for_each(|(name, _)| check_name(name))?;
    stream::check_total(classes.iter().map(|(_, Table(class))| class))?;
    let hierarchy = Hierarchy::read(&classes)?;
    hierarchy.check_schedulers(&classes, context.scheduler)?;
    keys::check(&classes, &hierarchy, context.disciplines)?;
    let places = hierarchy.parents.into_iter().zip(hierarchy.children);
    let read = |((name, class), (parent, children)): ((At<String>, Table<raw::Class>), _)| {
        read(name.value, class.0, parent, children, context)
    };
    let mut classes: Vec<Class> =
        classes.into_iter().zip(places).map(read).collect::<Result<_, Fault>>()?;
    // Collecting keeps the room that the classes took as they were written, which is more.
    classes.shrink_to_fit();
    Ok(classes)
}

fn read(
    name: String,
    raw: raw::Class,
    parent: Option<ClassId>,
    children: Vec<ClassId>,
    context: &Context<'_>,
) -> Result<Class, Fault> {
    let &Context { link, network, text, .. } = context;
    let curves = curve::class_curves(&raw, children.is_empty())?;
    let streams = stream::class_streams(&raw)?;
    let deadline = raw.deadline.as_ref().map(positive("deadline")).transpose()?;
    let arrival = raw.arrival.as_ref().map(|arrivals| arrival(arrivals, link)).transpose()?;
    if let (Some(deadline), Some(At { span, .. })) = (deadline, &raw.deadline) {
        check_deadline(deadline, arrival.as_ref(), span, link, network.is_some())?;
    }
    let deadline_over = raw.deadline_over.as_deref().map(|at| deadline_over(at, context));
    let frame_at = raw.frame_at.as_deref().map(|at| frame_at(at, context));
    let end_to_end = raw.end_to_end.as_ref().map(positive("end-to-end")).transpose()?;
    if let (Some(At { span, .. }), false) = (&raw.end_to_end, network.is_some()) {
        let help = "one link has one delay: write `deadline`";
        return Err(Fault::at(span, "`end-to-end` without a network").help(help));
    }
    let police = match (&raw.police, &arrival) {
        (Some(police), None) => {
            let message = "`police` without `arrival`: there is no contract to break";
            return Err(
                Fault::at(&police.span, message).help("add `arrival`, or leave `police` out")
            );
        }
        (police, _) => police.as_ref().map_or(Police::Count, |police| police.value.0.into()),
    };
    let inside = raw.scheduler.as_ref().map(|at| {
        let help = "frames are of links: write it in `[scheduler]` of a network";
        scheduling_of_part(at, link, "inside a class", help)
    });
    Ok(Class {
        name,
        parent,
        children,
        curves,
        deadline,
        deadline_over: deadline_over.transpose()?.unwrap_or_default(),
        frame_at: frame_at.transpose()?.unwrap_or_default(),
        end_to_end,
        arrival,
        weight: raw.weight.map_or(Ok(Weight::ONE), weight)?,
        level: raw.level.as_deref().map(level).transpose()?,
        dscp: raw.dscp.map_or(0, |at| at.value.0),
        hosts: Box::default(),
        police,
        queue: raw
            .queue
            .as_ref()
            .map(|at| queue(&at.value.0, &at.span, link))
            .transpose()?
            .map(Box::new),
        matching: raw.r#match.map(|expression| matching(&expression, text)).transpose()?,
        count: streams.count,
        gap: streams.gap,
        loss: streams.loss,
        late: streams.late,
        inside: inside.transpose()?.map(Box::new),
    })
}

/// A promise needs the traffic that it holds for; in a network a deadline without it orders packets
/// at every link and promises nothing.
fn check_deadline(
    deadline: Nanos,
    arrival: Option<&Arrival>,
    span: &Span,
    link: &LinkSpec,
    in_network: bool,
) -> Result<(), Fault> {
    let Some(arrival) = arrival else {
        if in_network {
            return Ok(());
        }
        let message = "`deadline` without `arrival`: a promise needs the traffic that it holds for";
        return Err(Fault::at(span, message)
            .help("add `arrival = { bucket = \"300b\", rate = \"150kB/s\" }`"));
    };
    let packet = arrival.packet.unwrap_or(link.max_packet);
    let time = link.rate.time_for(packet);
    if deadline >= time {
        return Ok(());
    }
    let message = format!(
        "`deadline` is {deadline}, but the class's largest packet ({packet}) alone takes {time} on the link"
    );
    Err(Fault::at(span, message).help(match arrival.packet {
        Some(_) => "a deadline is at least that time",
        None => {
            "a deadline is at least that time; if the class's packets are shorter than the link's, \
             say so with `packet` in `arrival`"
        }
    }))
}

/// The deadlines over single links, by link.
fn deadline_over(
    raw: &At<raw::LinkTimes>,
    context: &Context<'_>,
) -> Result<Box<[(LinkId, Nanos)]>, Fault> {
    let Some(network) = context.network else {
        let help = "one link has one delay: write `deadline`";
        return Err(Fault::at(&raw.span, "`deadline-over` without a network").help(help));
    };
    if context.disciplines.contains(&Kind::Tdp) {
        let help = "frames are reserved for whole paths: write `end-to-end`";
        return Err(Fault::at(&raw.span, "`deadline-over` means nothing under `tdp`").help(help));
    }
    let over = |(name, deadline): &(At<String>, Quantity<Nanos>)| {
        let link = link(name, network, "deadline-over = { LINK = \"2ms\" }")?;
        Ok((link, positive("deadline-over")(deadline)?))
    };
    raw.value.0.iter().map(over).collect()
}

/// The time frames in which links send the first packet of a class, by link.
fn frame_at(
    raw: &At<raw::LinkFrames>,
    context: &Context<'_>,
) -> Result<Box<[(LinkId, u32)]>, Fault> {
    let Some(network) = context.network else {
        let help = "frames are of the links of a network: leave it out";
        return Err(Fault::at(&raw.span, "`frame-at` without a network").help(help));
    };
    let at = |(name, frame): &(At<String>, At<Count>)| {
        let link = link(name, network, "frame-at = { LINK = 3 }")?;
        let frame = u32::try_from(frame.value.0).unwrap_or(u32::MAX);
        Ok((link, frame))
    };
    raw.value.0.iter().map(at).collect()
}

/// The link that a key of a class names.
fn link(
    At { value: name, span }: &At<String>,
    network: &Network,
    example: &str,
) -> Result<LinkId, Fault> {
    let link = network.links.iter().position(|link| link.name == *name).ok_or_else(|| {
        let message = format!("the plan has no link `{}`", shown(name));
        Fault::at(span, message).help(format!("it names links: `{example}`"))
    })?;
    Ok(LinkId(link as u32))
}

fn check_name(At { value: name, span }: &At<String>) -> Result<(), Fault> {
    let wrong = match name {
        name if name.trim().is_empty() => "a class needs a name".into(),
        name if name.chars().count() > LONGEST_NAME => {
            format!("the name `{}` is too long", shown(name))
        }
        name if name.chars().any(char::is_control) => {
            "a control character in a class's name".into()
        }
        _ => return Ok(()),
    };
    Err(Fault::at(span, wrong)
        .help(format!("a name has 1 to {LONGEST_NAME} characters, such as `[class.voice]`")))
}

fn weight(At { value: Number(weight), span }: At<Number>) -> Result<Weight, Fault> {
    let wrong = |message: String| {
        Err(Fault::at(&span, message)
            .help(format!("a weight is more than 0 and at most {LARGEST_WEIGHT}")))
    };
    match (weight * 1e6).round() {
        _ if weight == 0.0 => wrong("`weight` is zero".into()),
        _ if weight < 0.0 => wrong(format!("`weight` is negative: {weight}")),
        _ if weight > LARGEST_WEIGHT => wrong(format!("`weight` is too large: {weight}")),
        0.0 => wrong(format!("`weight` is {weight}, less than a millionth")),
        millionths => Ok(Weight(millionths as u32)),
    }
}

fn level(at: &At<Count>) -> Result<u8, Fault> {
    let help = || "0 to 255 are accepted, and 0 goes first".into();
    Ok(within("level", at, 0..=u8::MAX.into(), help)? as u8)
}

/// All buckets of a class, with the peaks' among them, and the smallest `packet`.
fn arrival(raw: &At<Arrivals>, link: &LinkSpec) -> Result<Arrival, Fault> {
    let tables: Vec<&raw::Bucket> = match &raw.value {
        Arrivals::One(table) => vec![table],
        Arrivals::Several(list) => list.iter().map(|Table(table)| table).collect(),
    };
    if tables.is_empty() || tables.len() > MOST_BUCKETS {
        let message = format!("`arrival` has {} token buckets", tables.len());
        return Err(
            Fault::at(&raw.span, message).help(format!("write 1 to {MOST_BUCKETS} of them"))
        );
    }
    let (mut buckets, mut packet, mut shortest) = (Vec::new(), None, None);
    for table in &tables {
        let sustained =
            TokenBucket { bucket: positive("bucket")(&table.bucket)?, rate: table.rate.value.0 };
        let (least, most) =
            table.packet.as_ref().map_or(Ok((None, None)), |packet| lengths(packet, link))?;
        buckets.push(sustained);
        buckets.extend(table.peak.as_ref().map(|at| peak(at, most, sustained)).transpose()?);
        packet = packet.into_iter().chain(most).min();
        shortest = shortest.max(least);
        if let (Some(packet), Some(shortest), Some(at)) = (packet, shortest, &table.packet)
            && packet < shortest
        {
            let message = format!("packets of at least {shortest} and at most {packet}");
            return Err(Fault::at(&at.span, message).help("`at-least` is no more than `at-most`"));
        }
    }
    for At { value: raw::Unit(bucket), span } in tables.iter().map(|table| &table.bucket) {
        if let Some(packet) = packet.max(shortest).filter(|packet| packet > bucket) {
            let message = format!("`bucket` is {bucket}, too small for one packet of {packet}");
            let help = "a bucket holds at least the class's largest packet";
            return Err(Fault::at(span, message).help(help));
        }
    }
    Ok(Arrival { buckets, packet, shortest })
}

/// The bucket of a TSpec's peak: one packet at the peak rate.
fn peak(
    raw: &Quantity<Rate>,
    packet: Option<Bytes>,
    sustained: TokenBucket,
) -> Result<TokenBucket, Fault> {
    let At { value: raw::Unit(peak), span } = raw;
    let Some(bucket) = packet else {
        let message =
            "`peak` without a largest `packet`: a peak rate holds for packets of some size";
        return Err(Fault::at(span, message).help("add `packet = \"100b\"` beside it"));
    };
    if *peak < sustained.rate {
        let message = format!("`peak` is {peak}, below `rate`, {}", sustained.rate);
        return Err(Fault::at(span, message).help("a peak rate is at least the sustained one"));
    }
    Ok(TokenBucket { bucket, rate: *peak })
}

/// The shortest and the largest packet that a class says it has.
fn lengths(
    At { value, span }: &At<raw::Lengths>,
    link: &LinkSpec,
) -> Result<(Option<Bytes>, Option<Bytes>), Fault> {
    let of = |key: &str, raw: &Option<Quantity<Bytes>>| {
        raw.as_ref().map(|at| packet(key, at.value.0, &at.span, link)).transpose()
    };
    match value {
        raw::Lengths::AtMost(size) => Ok((None, Some(packet("packet", size.0, span, link)?))),
        raw::Lengths::Range(range) => {
            Ok((of("at-least", &range.at_least)?, of("at-most", &range.at_most)?))
        }
    }
}

/// A length that the link's packets may have.
fn packet(key: &str, packet: Bytes, span: &Span, link: &LinkSpec) -> Result<Bytes, Fault> {
    let LinkSpec { max_packet, min_packet, .. } = link;
    if packet == Bytes(0) {
        return Err(Fault::zero(key, span));
    }
    if packet > *max_packet {
        let message = format!("`{key}` is {packet}, above the link's `max-packet`, {max_packet}");
        return Err(Fault::at(span, message));
    }
    if packet < *min_packet {
        let message = format!("`{key}` is {packet}, below the link's `min-packet`, {min_packet}");
        return Err(Fault::at(span, message)
            .help("write a lower `min-packet` in `[link]` (its default is 40b)"));
    }
    Ok(packet)
}
