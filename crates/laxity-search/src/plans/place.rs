//! The same classes on one link, over several, or inside of a class.

use rand::RngExt;

use super::parts::{chance, link};
use crate::Generator;
use crate::draft::{ClassDraft, CurveDraft, Draft, LinkDraft, PathDraft};

/// A place for the classes of a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the one link of a plan.
    Link,
    /// At every link of two in a row.
    Links,
    /// In a class that has a share of a link.
    Share,
}

impl Place {
    /// All of them.
    pub const ALL: [Place; 3] = [Place::Link, Place::Links, Place::Share];

    /// Lays the classes of a plan out in this place. A plan of a network stays as it is.
    pub fn lay(self, draft: Draft, draw: &mut Generator) -> Draft {
        match self {
            Place::Links if draft.links.is_empty() => over_two_links(draft, draw),
            Place::Share => in_a_share(draft, draw),
            Place::Link | Place::Links => draft,
        }
    }
}

/// Some classes take both links, others one of them.
fn over_two_links(mut draft: Draft, draw: &mut Generator) -> Draft {
    for from in 0..2 {
        draft.links.push(LinkDraft {
            between: [from, from + 1],
            rate: draft.rate * draw.random_range(100..=120u64) / 100,
            delay: if chance(2, draw) { 0 } else { draw.random_range(0..3_000_000u64) },
            jitter: if chance(4, draw) { draw.random_range(1..4_000_000u64) } else { 0 },
            regulate: false,
            scheduler: String::new(),
        });
    }
    let is_leaf =
        |class: &&ClassDraft| draft.classes.iter().all(|of| of.parent != Some(class.name));
    let leaves: Vec<u16> = draft.classes.iter().filter(is_leaf).map(|class| class.name).collect();
    for (name, class) in (0..).zip(leaves) {
        let nodes = match draw.random_range(0..4u32) {
            0 if name > 0 => vec![0, 1],
            1 if name > 0 => vec![1, 2],
            _ => vec![0, 1, 2],
        };
        draft.paths.push(PathDraft { name, class, nodes });
    }
    draft
}

/// The link is a share of one that is up to four times as fast, beside a class that has the rest.
fn in_a_share(draft: Draft, draw: &mut Generator) -> Draft {
    let mut whole = link("kind = \"wf2q\"", draw);
    whole.rate = draft.rate * draw.random_range(110..=400u64) / 100;
    whole.max_packet = draft.max_packet;
    let share = draft.classes.len() as u16;
    let top = |name: u16, rate: u64| ClassDraft {
        link_share: Some(CurveDraft::line(rate)),
        ..ClassDraft::named(name.into())
    };
    whole.classes = draft.classes;
    for class in &mut whole.classes {
        class.parent = class.parent.or(Some(share));
    }
    whole.classes.push(ClassDraft { inside: Some(draft.scheduler), ..top(share, draft.rate) });
    whole.classes.push(top(share + 1, whole.rate - draft.rate));
    whole
}
