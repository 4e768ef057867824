//! From a set-up to the text of a plan.

mod below;
pub(crate) mod cake;
mod class;
mod htb;
mod link;
mod queue;
mod text;

use laxity::units::Rate;
use laxity_plan::error::Fault;

use crate::assembly::{Assembly, Discipline, Root};
use crate::notes::Notes;
use crate::rules::{self, Arrangement};
use crate::toml::Curves;
use class::{curves, default_class, names, weights};
use link::{link_rate, the_link};
use queue::queues;

pub(crate) use below::shaped;

/// The most classes on a way from the top to a leaf, as in every plan.
const DEEPEST: usize = 64;

/// What a plan is written from.
pub(crate) struct Draft {
    setup: Assembly,
    root: Root,
    link: Rate,
    /// The one class at the top, if it is the link itself.
    whole: Option<usize>,
    curves: Vec<Curves>,
    names: Vec<String>,
    arranged: Arrangement,
    /// The weight of each class that has one, as it is written.
    weights: Vec<Option<String>>,
    /// Classes hold the schedulers that hang at them.
    holds: bool,
}

impl Draft {
    pub(crate) fn new(
        mut setup: Assembly,
        root: Root,
        given: Option<Rate>,
        notes: &mut Notes,
    ) -> Result<Draft, Fault> {
        if setup.classes.is_empty() {
            return Err(Fault::at(&root.span, "this qdisc has no classes").help(
                "add one such as `tc class add dev eth0 parent 1: classid 1:1 hfsc sc m2 10mbit`",
            ));
        }
        if let Discipline::Htb { r2q, .. } = root.discipline {
            htb::lend(&mut setup, r2q, notes);
        }
        let link = link_rate(&setup, &root, given, notes)?;
        if let Discipline::Htb { .. } = root.discipline {
            htb::note_rest(&setup, link, notes);
        }
        let whole = the_link(&setup, link, notes);
        let mut curves = curves(&setup, root.discipline, link, whole, notes);
        let default = default_class(&setup, &root, notes);
        let mut rules = rules::rules(&setup, &root, default, notes)?;
        let holds = root.discipline.has_rates() && below::holds(&setup, &curves, link);
        let mut default = default;
        if holds {
            (rules, default) = below::join(&mut setup, &mut curves, rules, default, notes)?;
        }
        if let Some(deep) = setup
            .classes
            .iter()
            .find(|class| class.depth + 1 - usize::from(whole.is_some()) > DEEPEST)
        {
            let message = format!("class {} is more than {DEEPEST} levels deep", deep.class.handle);
            return Err(Fault::at(&deep.origin.span, message)
                .help(format!("a plan has at most {DEEPEST} levels of classes")));
        }
        let leaves: Vec<usize> =
            (0..setup.classes.len()).filter(|class| setup.classes[*class].is_leaf).collect();
        let arranged = rules::arrange(rules, &leaves, setup.classes.len(), default, notes)?;
        for leaf in leaves.iter().filter(|leaf| arranged.matches[**leaf].is_none()) {
            let node = &setup.classes[*leaf];
            let handle = node.class.handle;
            let text = format!("{handle} has no filter that is mapped: write its `match`");
            notes.not_mapped(node.origin.line, text);
        }
        let names = names(&setup);
        below::note_unheld(&setup, holds, notes);
        queues(&mut setup, &root, notes);
        let weights = weights(&setup, root.discipline);
        if holds {
            let text = "`kind = \"wf2q\"`, whose classes hold what hangs at them";
            notes.reading(root.line, text);
        }
        Ok(Draft { setup, root, link, whole, curves, names, arranged, weights, holds })
    }
}
