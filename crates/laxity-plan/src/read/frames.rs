//! `frame-at` of classes, which has to go with their paths.

use laxity::packet::ClassId;

use crate::error::{Fault, Span, shown};
use crate::model::{Class, Hop, Plan};
use crate::raw::{At, Classes, Table};
use crate::tdp::FramedNetwork;

/// Where `frame-at` is written, by class.
pub(super) fn written(classes: &Classes) -> Vec<(ClassId, Span)> {
    let span = |(id, (_, Table(class))): (ClassId, &(At<String>, Table<_>))| {
        let class: &crate::raw::Class = class;
        Some((id, class.frame_at.as_ref()?.span.clone()))
    };
    (0..).map(ClassId).zip(&classes.0).filter_map(span).collect()
}

/// Refuses frames that do not go with the path of a class.
pub(super) fn check(plan: &Plan, written: &[(ClassId, Span)]) -> Result<(), Fault> {
    if written.is_empty() {
        return Ok(());
    }
    let Some(framed) = plan.framed_network() else { return Ok(()) };
    let paths = plan.class_paths();
    let demand = framed.demand();
    for (id, span) in written {
        let class = &plan.classes[id.index()];
        check_links(framed, class, paths[id.index()], span)?;
        let name = |hop: &Hop| shown(&framed.network.link(*hop).name);
        for stretch in &demand.stretches[demand.stretches_of(*id)] {
            let path = &paths[id.index()][stretch.hops.clone()];
            let frames: Vec<u32> = path.iter().filter_map(|hop| class.frame_at(hop.link)).collect();
            if let Err(place) = stretch.flow.reservation_in(framed.spec.period(), &frames) {
                let [before, here] = [place - 1, place].map(|place| name(&path[place]));
                let hop = stretch.flow.path[place];
                let least = u64::from(frames[place - 1]) + u64::from(hop.delay);
                let least = least % u64::from(framed.spec.period());
                return Err(Fault::at(
                    span,
                    format!(
                        "link `{here}` cannot send in frame {} what `{before}` sends in frame {}",
                        frames[place],
                        frames[place - 1]
                    ),
                )
                .help(match hop.spare {
                    0 => format!("its forwarding delay says frame {least}"),
                    spare => {
                        format!("its forwarding delay says frame {least}, or up to {spare} later")
                    }
                }));
            }
        }
    }
    Ok(())
}

/// All links with frames on the path are named, and no others.
fn check_links(
    framed: FramedNetwork<'_>,
    class: &Class,
    path: &[Hop],
    span: &Span,
) -> Result<(), Fault> {
    let name = |hop: &Hop| shown(&framed.network.link(*hop).name);
    let refuse = |message: String, help: &str| Err(Fault::at(span, message).help(help));
    let all = "name every link with frames on the path of the class, or leave `frame-at` out";
    let framed_hops = || path.iter().filter(|hop| framed.has_frames(**hop));
    if !class.wants_frames() {
        let help = "add `gap`, `end-to-end` or `deadline`, or leave `frame-at` out";
        return refuse("`frame-at` of a class that is promised no frames".into(), help);
    }
    if let Some(missing) = framed_hops().find(|hop| class.frame_at(hop.link).is_none()) {
        return refuse(format!("`frame-at` says no frame for link `{}`", name(missing)), all);
    }
    let passes = |link| framed_hops().filter(|hop| hop.link == link).count();
    for (link, frame) in &class.frame_at {
        let link_name = shown(&framed.network.links[link.index()].name);
        match passes(*link) {
            1 => {}
            0 => {
                let message =
                    format!("no packet of the class is sent in a frame over link `{link_name}`");
                return refuse(message, all);
            }
            _ => {
                let message =
                    format!("the path of the class passes link `{link_name}` more than once");
                return refuse(message, "frames of such a path are found: leave `frame-at` out");
            }
        }
        if *frame >= framed.spec.period() {
            let message = format!("frame {frame} of link `{link_name}`");
            let help = format!("the frames of a period are 0 to {}", framed.spec.period() - 1);
            return refuse(message, &help);
        }
    }
    Ok(())
}
