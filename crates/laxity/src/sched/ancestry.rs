//! The check that every hierarchy passes: parents exist, and no class lies below itself.

use alloc::vec::Vec;

use crate::error::SetupError;
use crate::packet::ClassId;

/// Checks the parents of all classes, in time linear in their number.
///
/// # Errors
/// If a parent does not exist or a class is its own ancestor.
pub(super) fn check(parents: &[Option<ClassId>]) -> Result<(), SetupError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        No,
        OnTheWay,
        LeadsToTheTop,
    }
    let mut seen = alloc::vec![Visit::No; parents.len()];
    for start in 0..parents.len() {
        let mut way = Vec::new();
        let mut at = Some(start);
        while let Some(class) = at {
            match *seen.get(class).ok_or(SetupError::NoClass(ClassId(class as u32)))? {
                Visit::LeadsToTheTop => break,
                Visit::OnTheWay => return Err(SetupError::Cycle(ClassId(class as u32))),
                Visit::No => seen[class] = Visit::OnTheWay,
            }
            way.push(class);
            at = parents[class].map(ClassId::index);
        }
        way.into_iter().for_each(|class| seen[class] = Visit::LeadsToTheTop);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_leads_to_the_top() {
        let class = |number| Some(ClassId(number));
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&[class(2), None, class(1), class(2)]), Ok(()));
        assert_eq!(check(&[class(0)]), Err(SetupError::Cycle(ClassId(0))));
        assert_eq!(
            check(&[None, class(2), class(3), class(1)]),
            Err(SetupError::Cycle(ClassId(1)))
        );
        assert_eq!(check(&[None, class(2)]), Err(SetupError::NoClass(ClassId(2))));
    }
}
