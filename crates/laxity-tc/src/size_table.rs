//! `stab`: what a link adds to the frames that are queued (tc-stab(8)).

use laxity::overhead::{Framing, Overhead};

use crate::args::Args;
use crate::error::{Read, plain};
use crate::notes::Notes;
use crate::units::{signed, whole};

/// The options of `stab`, which have one value each.
pub const OPTIONS: [&str; 5] = ["mtu", "mpu", "overhead", "tsize", "linklayer"];

/// The options of one `stab`.
#[derive(Default)]
pub struct SizeTable {
    overhead: i32,
    mpu: u32,
    is_atm: bool,
    /// As they are written.
    words: Vec<String>,
}

impl SizeTable {
    /// Reads the options up to the first word that is none.
    pub fn read(args: &mut Args<'_>) -> Read<SizeTable> {
        let mut read = SizeTable::default();
        while let Some(name) =
            OPTIONS.into_iter().find(|name| args.peek().is_some_and(|word| word.means(name)))
        {
            args.next();
            let value = args.value(name)?;
            read.words.push(format!("{name} {}", plain(&value.text)));
            match name {
                "overhead" => read.overhead = signed(value, "overhead")?,
                "mpu" => read.mpu = whole(value, 0, "mpu")?,
                "linklayer" => match value.text.as_str() {
                    "atm" | "adsl" => read.is_atm = true,
                    "ethernet" => read.is_atm = false,
                    _ => {
                        return Err(value.fault("linklayer", "tc reads ethernet, atm or adsl here"));
                    }
                },
                _ => {
                    whole(value, 0, name)?;
                }
            }
        }
        Ok(read)
    }

    /// The options as they are written, if there are any.
    pub fn words(&self) -> Option<String> {
        (!self.words.is_empty()).then(|| self.words.join(" "))
    }

    /// What a plan says of them.
    pub fn overhead(&self, notes: &mut Notes, line: usize) -> Overhead {
        let Some(words) = self.words() else { return Overhead::NONE };
        if !(-64..=1000).contains(&self.overhead) || self.mpu > 1000 {
            let text = format!("stab ({words}): a plan adds -64 to 1000 bytes, and pads to 1000");
            notes.not_mapped(line, text);
            return Overhead::NONE;
        }
        // Without cells and a least length Linux adds the bytes alone, and has no table.
        if self.is_atm || self.mpu > 0 {
            let text = "stab: Linux looks lengths up in steps of some bytes, a plan has each";
            notes.reading(line, text);
        }
        let framing = if self.is_atm { Framing::Atm } else { Framing::Whole };
        Overhead { bytes: self.overhead, at_least: self.mpu, framing }
    }
}

/// The value of a plan's `overhead`.
pub fn written(overhead: &Overhead) -> Option<String> {
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
