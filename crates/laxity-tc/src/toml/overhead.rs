//! A size table of the kernel as the `overhead` of a link.

use laxity::overhead::{Framing, Overhead};

use crate::notes::NotMapped;
use crate::setup::SizeTable;

/// The overhead that a size table comes to, and whether Linux looks lengths up in steps.
pub(crate) fn overhead(sizes: &SizeTable) -> Result<(Overhead, bool), NotMapped> {
    let SizeTable { overhead: bytes, mpu, atm, .. } = *sizes;
    if !(-64..=1000).contains(&bytes) || mpu > 1000 {
        let said = sizes.words(false);
        let text = format!("stab ({said}): a plan adds -64 to 1000 bytes, and pads to 1000");
        return Err(text.into());
    }
    // Without cells and a least length Linux adds the bytes alone, and has no table.
    let framing = if atm { Framing::Atm } else { Framing::Whole };
    Ok((Overhead { bytes, at_least: mpu, framing }, atm || mpu > 0))
}

/// The value of `overhead` in a plan; `None` for none.
pub(crate) fn overhead_value(overhead: &Overhead) -> Option<String> {
    let Overhead { bytes, at_least, framing } = *overhead;
    if *overhead == Overhead::NONE {
        return None;
    }
    if let Some((name, _)) = Overhead::NAMED.iter().find(|(_, named)| named == overhead) {
        return Some(format!("\"{name}\""));
    }
    let mut parts = vec![format!("bytes = \"{bytes}b\"")];
    if at_least > 0 {
        parts.push(format!("at-least = \"{at_least}b\""));
    }
    match framing {
        Framing::Atm => parts.push("framing = \"atm\"".into()),
        Framing::Ptm => parts.push("framing = \"ptm\"".into()),
        _ => {}
    }
    Some(match &parts[..] {
        [_] => format!("\"{bytes}b\""),
        parts => format!("{{ {} }}", parts.join(", ")),
    })
}
