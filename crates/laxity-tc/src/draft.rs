//! From a set-up to the text of a plan.

mod classes;
mod link;
mod queues;
mod text;

use laxity::overhead::Overhead;
use laxity::units::Rate;
use laxity_plan::error::Fault;

use crate::curves::Curves;
use crate::error::Read;
use crate::notes::Notes;
use crate::order::{self, Arrangement};
use crate::rules;
use crate::setup::{Class, Discipline, Root, Setup};
use crate::{below, htb};
pub use classes::default_class;
use classes::{curves, names, weights};
pub use link::link_rate;
use link::the_link;
use queues::queues;

/// The most classes on a way from the top to a leaf, as in every plan.
const DEEPEST: usize = 64;

/// What a plan is written from.
pub struct Draft {
    setup: Setup,
    discipline: Discipline,
    overhead: Overhead,
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
    pub fn new(
        mut setup: Setup,
        root: Root,
        given: Option<Rate>,
        notes: &mut Notes,
    ) -> Read<Draft> {
        if setup.classes.is_empty() {
            return Err(Fault::at(&root.span, "this qdisc has no classes").help(
                "add one such as `tc class add dev eth0 parent 1: classid 1:1 hfsc sc m2 10mbit`",
            ));
        }
        let top: Vec<usize> = (0..setup.classes.len())
            .filter(|class| setup.classes[*class].parent.is_none())
            .collect();
        if let Discipline::Htb { r2q, .. } = root.discipline {
            htb::lend(&mut setup, r2q, notes);
        }
        let link = link_rate(&setup, &root, &top, given, notes)?;
        if let Discipline::Htb { .. } = root.discipline {
            htb::said(&setup, link, notes);
        }
        let whole = the_link(&setup, &top, link, notes);
        let mut curves = curves(&setup, root.discipline, link, whole, notes);
        let default = default_class(&setup, &root, notes);
        let mut rules = rules::of(&setup, &root, default, notes)?;
        let holds = below::holds(&setup, root.discipline, &curves, link);
        let mut default = default;
        if holds {
            (rules, default) = below::join(&mut setup, &mut curves, rules, default, notes)?;
        }
        if let Some(deep) = setup
            .classes
            .iter()
            .find(|class| class.depth + 1 - usize::from(whole.is_some()) > DEEPEST)
        {
            let message = format!("class {} is more than {DEEPEST} levels deep", deep.handle);
            return Err(Fault::at(&deep.span, message)
                .help(format!("a plan has at most {DEEPEST} levels of classes")));
        }
        let leaves: Vec<usize> =
            (0..setup.classes.len()).filter(|class| setup.classes[*class].is_leaf).collect();
        let arranged = order::arrange(rules, &leaves, setup.classes.len(), default, notes)?;
        for leaf in leaves.iter().filter(|leaf| arranged.matches[**leaf].is_none()) {
            let Class { handle, line, .. } = setup.classes[*leaf];
            notes.not_mapped(
                line,
                format!("{handle} has no filter that is mapped: write its `match`"),
            );
        }
        let names = names(&setup);
        below::tell(&setup, holds, notes);
        queues(&mut setup, &root, notes);
        let weights = weights(&setup, root.discipline);
        let Root { discipline, overhead, line, .. } = root;
        if holds {
            let text = "`kind = \"wf2q\"`, whose classes hold what hangs at them";
            notes.reading(line, text);
        }
        Ok(Draft {
            setup,
            discipline,
            overhead,
            link,
            whole,
            curves,
            names,
            arranged,
            weights,
            holds,
        })
    }
}
