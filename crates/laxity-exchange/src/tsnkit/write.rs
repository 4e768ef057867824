//! A plan as streams and links.

use std::collections::HashMap;
use std::fmt::Write;

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Dist, Model, ModelSource, SchedulerSpec, Source};

use super::Files;
use crate::Error;
use crate::error::shown;

pub(super) fn files(plan: &Plan) -> Result<Files, Error> {
    let on = plan.network_plan().filter(|_| matches!(plan.scheduler, SchedulerSpec::Tdp(_)));
    let on = on.ok_or_else(|| {
        Error::new("streams in time frames are of plans with `kind = \"tdp\"` and a network")
    })?;
    let mut streams = String::from("stream,src,dst,size,period,deadline,jitter\n");
    let mut fed: HashMap<_, usize> = HashMap::new();
    let mut notes = Vec::new();
    let mut left_out = false;
    for source in &plan.sources {
        let refuse = |class: &str, what: &str| {
            Err(Error::new(format!("class `{}` {what}, which the files cannot say", shown(class))))
        };
        let Some(id) = source.class() else {
            return Err(Error::new("the plan has recordings, which are no streams of a period"));
        };
        let class = &plan.classes[id.index()];
        if !class.wants_frames() {
            left_out = true;
            continue;
        }
        let (Some(gap), Some(deadline)) = (class.gap, class.end_to_end) else {
            return refuse(&class.name, "has no `gap`, or no `end-to-end`");
        };
        let Source::Model(source) = source else { return refuse(&class.name, "has TCP") };
        let number = fed.len();
        if source.count > 1 || class.count > 1 || fed.insert(id, number).is_some() {
            return refuse(&class.name, "has several streams");
        }
        let ends = source.path.first().zip(source.path.last());
        let Some((first, last)) = ends else { return refuse(&class.name, "has no path") };
        let (src, dst) = (on.network.between(*first)[0].0, on.network.between(*last)[1].0);
        // Writing into a string does not fail.
        let _ = writeln!(
            streams,
            "{number},{src},[{dst}],{},{},{},0",
            plan.max_packet(class).0,
            period(source, gap).0,
            deadline.0
        );
    }
    if fed.is_empty() {
        return Err(Error::new("no class has a `gap`, an `end-to-end` and a source"));
    }
    let mut topology = String::from("link,q_num,rate,t_proc,t_prop\n");
    for hop in on.network.hops() {
        let link = on.network.link(hop);
        let [from, to] = on.network.between(hop).map(|node| node.0);
        let (whole, part) = (link.rate.0 / 1_000_000_000, link.rate.0 % 1_000_000_000);
        let _ = writeln!(topology, "\"({from}, {to})\",8,{whole}.{part:09},0,{}", link.delay.0);
    }
    if left_out {
        notes.push("classes without `gap` or deadline are left out: best effort".into());
    }
    notes.push("nodes are numbers, in the order in which the plan's links name them".into());
    Ok(Files { streams, topology, notes })
}

/// The period of a source whose class has a frame reserved every `gap`: the gap or a multiple of
/// it.
fn period(source: &ModelSource, gap: Nanos) -> Nanos {
    let (Model::Constant { rate, .. }, Dist::Constant(packet)) = (&source.model, &source.packet)
    else {
        return gap;
    };
    // The rate is in whole bits per second, so its packets are a little closer.
    let spacing = rate.time_for(*packet).0.saturating_add(gap.0 / 100);
    Nanos(gap.0.saturating_mul((spacing / gap.0.max(1)).max(1)))
}
