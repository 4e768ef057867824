//! The classes of one plan under another, by name.

use std::collections::HashMap;

use laxity::packet::ClassId;
use laxity::police::Meter;
use laxity_plan::Plan;
use laxity_plan::model::Class;

/// The classes that have packets under one plan, and those of the same names under another, where
/// they may have other numbers.
#[derive(Clone, Debug)]
pub struct Renumbering<'a> {
    plans: [&'a Plan; 2],
    /// By the number under the first plan.
    numbers: Vec<Option<ClassId>>,
}

impl<'a> Renumbering<'a> {
    /// What becomes of the classes of the first plan under the second.
    pub fn new(before: &'a Plan, next: &'a Plan) -> Self {
        let leaves: HashMap<&str, ClassId> =
            next.leaves().map(|(id, class)| (class.name.as_str(), id)).collect();
        let number =
            |class: &Class| leaves.get(class.name.as_str()).copied().filter(|_| class.is_leaf());
        let numbers = before.classes.iter().map(number).collect();
        Renumbering { plans: [before, next], numbers }
    }

    /// The number of a class under the second plan; `None` if it is not there.
    pub fn get(&self, before: ClassId) -> Option<ClassId> {
        self.numbers.get(before.index()).copied().flatten()
    }

    /// The classes that stay, by their numbers under the first plan and under the second.
    pub fn stay(&self) -> impl Iterator<Item = [ClassId; 2]> {
        (0..).map(ClassId).zip(&self.numbers).filter_map(|(before, next)| Some([before, (*next)?]))
    }

    /// The classes of the first plan that are not in the second.
    pub fn leave(&self) -> impl Iterator<Item = ClassId> {
        self.plans[0].leaves().map(|(id, _)| id).filter(|id| self.get(*id).is_none())
    }

    /// Fresh meters of a class that stays, of the arrival curves that it has under both plans.
    pub(super) fn meters(&self, numbers: [ClassId; 2]) -> [Option<Meter>; 2] {
        [0, 1].map(|at| {
            let plan = self.plans[at];
            plan.meter(&plan.classes[numbers[at].index()])
        })
    }
}
