//! What drawings of networks have in common.

use std::collections::{BTreeMap, BTreeSet};

use laxity::packet::ClassId;
use laxity_plan::Plan;

use crate::chart::Style;
use crate::quantity::count;

/// The longest name that is written whole.
pub(super) const NAME_LIMIT: usize = 12;

/// The classes that a drawing shows, with their styles in every figure.
pub(super) struct DrawnClasses<'a> {
    plan: &'a Plan,
    classes: BTreeMap<ClassId, Style>,
}

impl<'a> DrawnClasses<'a> {
    pub(super) fn new(plan: &'a Plan, classes: BTreeSet<ClassId>) -> Self {
        let leaves = plan.leaves().map(|(class, _)| class).zip((0..).map(Style::new));
        let classes = leaves.filter(|(class, _)| classes.contains(class)).collect();
        DrawnClasses { plan, classes }
    }

    pub(super) fn are_told_apart(&self) -> bool {
        self.classes.len() <= Style::COUNT
    }

    pub(super) fn style(&self, class: ClassId) -> Style {
        let own = self.classes.get(&class).filter(|_| self.are_told_apart());
        own.copied().unwrap_or(Style::new(0))
    }

    pub(super) fn legend(&self) -> Vec<(String, Style)> {
        if !self.are_told_apart() {
            return vec![(format!("{} classes", count(self.classes.len() as u64)), Style::new(0))];
        }
        let name = |class: &ClassId| self.plan.classes[class.index()].name.clone();
        self.classes.iter().map(|(class, style)| (name(class), *style)).collect()
    }
}

/// A place on paper, as SVG writes it.
pub(super) fn round(value: f64) -> String {
    format!("{value:.1}")
}
