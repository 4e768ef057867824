//! The plan of cake at the root: a class for each tin.

use std::fmt::Write as _;

use laxity::overhead::Overhead;
use laxity::sched::cake::{CakeSettings, Diffserv};
use laxity::units::Rate;
use laxity_plan::error::Fault;
use laxity_plan::matching::{Expr, Numbers};
use laxity_plan::model::CakeSpec;
use laxity_plan::written;

use super::link::link_rate;
use super::text::head;
use crate::assembly::{Assembly, Root};
use crate::contract::Contract;
use crate::linux::tin_handle;
use crate::notes::{Note, Notes};
use crate::setup::cake::Cake;
use crate::toml::{self, key, quoted};

/// What a plan of cake is written from.
pub(crate) struct CakeDraft {
    cake: Cake,
    link: Rate,
    overhead: Overhead,
    /// Of the discipline and its tins.
    major: u16,
    contract: Contract,
}

/// How many code points there are.
const CODE_POINTS: u8 = 64;
/// The least overhead of a plan, in bytes.
const LEAST_OVERHEAD: i32 = -64;
/// The code point of voice, by which its tin is known.
const EF: u8 = 46;

impl CakeDraft {
    pub(crate) fn new(
        setup: Assembly,
        root: &Root,
        cake: Cake,
        given: Option<Rate>,
        notes: &mut Notes,
    ) -> Result<CakeDraft, Fault> {
        let link = link_rate(&setup, root, given, notes)?;
        let lost = [
            (
                cake.memory > 0,
                "memlimit: it counts the memory that packets take; `limit` counts bytes",
            ),
            (cake.fwmark > 0, "fwmark: write `match = \"mark …\"` under `laxity live --dev`"),
            (!setup.filters.is_empty(), "filters: a packet's tin follows from its code point"),
        ];
        for (_, text) in lost.iter().filter(|(is_said, _)| *is_said) {
            notes.not_mapped(root.line, format!("cake: {text}"));
        }
        if cake.nat {
            let text = "nat: `laxity live --dev` tells hosts by their addresses inside of NAT";
            notes.reading(root.line, text);
        }
        if !cake.split_gso {
            let text = "no-split-gso: `laxity live` takes apart what the kernel has merged";
            notes.reading(root.line, text);
        }
        let said = cake.overhead.unwrap_or(root.overhead);
        let overhead = if said.bytes >= LEAST_OVERHEAD { said } else { Overhead::NONE };
        if overhead != said {
            let bytes = Cake::from_ip(&said).0;
            let text = format!("overhead {bytes}: a plan takes no more than 64 bytes off a frame");
            notes.not_mapped(root.line, format!("cake: {text}"));
        }
        let major = root.major.unwrap_or_default();
        Ok(CakeDraft { cake, link, overhead, major, contract: setup.contract })
    }

    /// The plan, with notes at its head.
    pub(crate) fn text(&self, name: &str, notes: &[Note]) -> String {
        let Cake { diffserv, isolation, rtt, ingress, wash, ack_filter, .. } = self.cake;
        let usual = CakeSettings::USUAL;
        let settings = CakeSettings { diffserv, isolation, rtt, ingress, ack_filter, ..usual };
        let keys = written::cake(&CakeSpec { wash, settings, ..CakeSpec::USUAL });
        let overhead = toml::overhead_value(&self.overhead);
        let overhead = overhead.map(|overhead| format!("overhead = {overhead}\n"));
        let mut text = head(name, notes);
        let _ = write!(
            text,
            "version = 1\ntitle = {}\n\n[link]\nrate = \"{}\"\n{}{}\n[scheduler]\n{}\n",
            quoted(&format!("Imported from {}", crate::error::plain(name))),
            self.link,
            overhead.unwrap_or_default(),
            self.contract.link().unwrap_or_default(),
            keys.join("\n"),
        );
        // What has no code point is in the tin of 0, whose class takes the rest.
        let rest = diffserv.tin(0);
        for tin in (0..diffserv.tins()).rev().filter(|tin| *tin != rest) {
            self.class(tin, &code_points(diffserv, tin), &mut text);
        }
        self.class(rest, "any", &mut text);
        text
    }

    /// Writes the class of a tin.
    fn class(&self, tin: usize, matching: &str, text: &mut String) {
        let diffserv = self.cake.diffserv;
        let first = [EF].into_iter().chain(0..CODE_POINTS).find(|dscp| diffserv.tin(*dscp) == tin);
        let handle = tin_handle(self.major, tin);
        let name = self.contract.name(handle);
        let name = name.unwrap_or_else(|| diffserv.name(tin).replace(' ', "-"));
        let header = format!("[class.{}]", key(&name));
        let _ = write!(
            text,
            "\n{header:<30} # {handle}\ndscp = {}\nmatch = {}\n{}",
            first.unwrap_or_default(),
            quoted(matching),
            self.contract.class(handle)
        );
    }
}

/// The match of the code points of a tin.
fn code_points(diffserv: Diffserv, tin: usize) -> String {
    let points = (0..CODE_POINTS).filter(|dscp| diffserv.tin(*dscp) == tin);
    Expr::Dscp(Numbers::new(points.map(|dscp| (dscp.into(), dscp.into())).collect())).to_string()
}
