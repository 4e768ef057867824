//! Which keys a class may have: those that mean something to a discipline by which it is served.

use std::collections::BTreeSet;

use laxity::packet::ClassId;

use super::hierarchy::Hierarchy;
use crate::discipline::Kind;
use crate::error::{Fault, Span};
use crate::keys::misplaced;
use crate::raw::{self, At, Table};

/// Refuses the keys of a class that none of the disciplines knows by which it is served: the
/// scheduler that a class above it holds, else those of links, and for its own packets the one that
/// it holds.
pub(super) fn check(
    classes: &[(At<String>, Table<raw::Class>)],
    hierarchy: &Hierarchy,
    of_links: &[Kind],
) -> Result<(), Fault> {
    let holds = |class: usize| Some(classes[class].1.0.scheduler.as_ref()?.value.0.kind.0);
    let up = |class: &usize| hierarchy.parents[*class].map(ClassId::index);
    let options: BTreeSet<_> =
        Kind::ALL.iter().flat_map(|kind| kind.room().keys_of_classes()).collect();
    for (at, (_, Table(class))) in classes.iter().enumerate() {
        // With `loss`, streams are watched under every discipline.
        let is_option = |key: &str| options.contains(key) && (key != "gap" || class.loss.is_none());
        let mut written = class.written().filter(|(key, _)| is_option(key)).peekable();
        if written.peek().is_none() {
            continue;
        }
        let above = std::iter::successors(up(&at), up).find_map(holds);
        let inside = above.or(holds(at).filter(|_| hierarchy.is_leaf(at)));
        let takes = |key: &str| {
            let of_links = of_links.iter().copied().filter(|_| above.is_none() || key == "parent");
            let mut serving = inside.into_iter().chain(of_links);
            serving.any(|kind| kind.room().takes_of_classes(key))
        };
        if let Some((key, span)) = misplaced(written, takes) {
            let of_links = of_links.iter().copied().filter(|_| above.is_none());
            return Err(refused(&key, span, inside.into_iter().chain(of_links).collect()));
        }
    }
    Ok(())
}

fn refused(key: &str, span: &Span, serving: Vec<Kind>) -> Fault {
    let words = |kinds: &mut dyn Iterator<Item = &Kind>| {
        kinds.map(|kind| format!("`{}`", kind.word())).collect::<Vec<_>>().join(", ")
    };
    let takes = |kind: &&Kind| kind.room().takes_of_classes(key);
    let owners = words(&mut Kind::ALL.iter().filter(takes));
    let watched = if key == "gap" { ", and for classes with `loss`" } else { "" };
    let known: BTreeSet<_> =
        serving.iter().flat_map(|kind| kind.room().keys_of_classes()).collect();
    let known: Vec<_> = known.into_iter().map(|key| format!("`{key}`")).collect();
    let serving = words(&mut serving.iter());
    let known = match &known[..] {
        [] => format!("classes under {serving} have no such keys"),
        known => format!("classes under {serving} may have {}", known.join(", ")),
    };
    Fault::at(span, format!("`{key}` means nothing under {serving}"))
        .help(format!("it is for {owners}{watched}; {known}"))
}
