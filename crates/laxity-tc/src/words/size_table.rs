//! `stab`: the words that say what a link adds to frames (tc-stab(8)).

use laxity_plan::error::Fault;

use super::command::Args;
use super::quantity::{signed, whole};
use crate::setup::SizeTable;

/// The options of `stab`, which have one value each.
pub(crate) const OPTIONS: [&str; 5] = ["mtu", "mpu", "overhead", "tsize", "linklayer"];

/// Reads the options up to the first word that is none.
pub(crate) fn read(args: &mut Args<'_>) -> Result<SizeTable, Fault> {
    let mut sizes = SizeTable::default();
    while let Some(name) =
        OPTIONS.into_iter().find(|name| args.peek().is_some_and(|word| word.means(name)))
    {
        args.next();
        let value = args.value(name)?;
        match name {
            "overhead" => sizes.overhead = signed(value, "overhead")?,
            "mpu" => sizes.mpu = whole(value, 0, "mpu")?,
            "mtu" => sizes.mtu = whole(value, 0, "mtu")?,
            "tsize" => sizes.tsize = whole(value, 0, "tsize")?,
            _ => match value.text.as_str() {
                "atm" | "adsl" => sizes.atm = true,
                "ethernet" => sizes.atm = false,
                _ => return Err(value.fault("linklayer", "tc reads ethernet, atm or adsl here")),
            },
        }
    }
    Ok(sizes)
}
