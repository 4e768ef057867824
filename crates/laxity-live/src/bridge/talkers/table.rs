//! Whose a flow's packets are, by its number.

use laxity::packet::{ClassId, FlowId};
use laxity_plan::matching::Headers;

use super::frequent::Amount;

/// The flows of a link that were heard of lately, in bounded memory: a set-associative table.
///
/// A set that is full gives up the flow that sent least in this second and the one before, so who
/// sends many flows of a packet each drives out others like that.
pub(super) struct Table {
    /// [`WAYS`] of each set; 0 if there is no flow.
    keys: Vec<[u64; WAYS]>,
    flows: Vec<[TableFlow; WAYS]>,
}

/// A flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TableFlow {
    pub(super) class: ClassId,
    pub(super) headers: Headers,
    /// What was sent of it in this second.
    pub(super) amount: Amount,
    /// How many bytes were sent of it in the second before.
    before: u64,
}

/// Flows of a set: their keys fill a line of the processor's cache.
const WAYS: usize = 8;
const SETS: usize = 2_048;

impl Table {
    /// A table without flows.
    pub(super) fn new() -> Self {
        Table { keys: vec![[0; WAYS]; SETS], flows: vec![[TableFlow::default(); WAYS]; SETS] }
    }

    /// A flow that is known.
    pub(super) fn find(&mut self, class: ClassId, flow: FlowId) -> Option<&mut TableFlow> {
        let key = key(class, flow);
        let set = set(key);
        let way = self.keys[set].iter().position(|other| *other == key)?;
        Some(&mut self.flows[set][way])
    }

    /// Notes the headers of a flow; the flow that it takes the place of is returned if anything was
    /// sent of it in this second.
    pub(super) fn note(
        &mut self,
        class: ClassId,
        flow: FlowId,
        headers: &Headers,
    ) -> Option<TableFlow> {
        if self.find(class, flow).is_some() {
            return None;
        }
        let key = key(class, flow);
        let (keys, flows) = (&mut self.keys[set(key)], &mut self.flows[set(key)]);
        let sent = |way: usize| (keys[way] != 0, flows[way].amount.bytes + flows[way].before);
        let way = (0..WAYS).min_by_key(|way| sent(*way)).unwrap_or_default();
        keys[way] = key;
        let new = TableFlow { class, headers: *headers, ..TableFlow::default() };
        let last = std::mem::replace(&mut flows[way], new);
        (last.amount.packets > 0).then_some(last)
    }

    /// Begins the next second: what was sent in this one is handed to `each`, flow by flow.
    pub(super) fn turn(&mut self, mut each: impl FnMut(&TableFlow)) {
        for flow in self.flows.as_flattened_mut() {
            if flow.amount.packets > 0 {
                each(flow);
            }
            flow.before = std::mem::take(&mut flow.amount).bytes;
        }
    }
}

fn key(class: ClassId, flow: FlowId) -> u64 {
    (u64::from(class.0) + 1) << 32 | u64::from(flow.0)
}

/// Flows are numbered one after the other, so that neighbours are apart.
fn set(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SETS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_that_send_stay_while_strangers_come_and_go() {
        let mut table = Table::new();
        let (class, headers) = (ClassId(3), Headers { vlan: Some(7), ..Headers::default() });
        for flow in 0..1_000 {
            assert!(table.note(class, FlowId(flow), &headers).is_none());
            table.find(class, FlowId(flow)).unwrap().amount.bytes += 1;
        }
        for stranger in 1_000..200_000 {
            table.note(class, FlowId(stranger), &Headers::default());
            if stranger % 50_000 == 0 {
                table.turn(|_| {});
                for flow in 0..1_000 {
                    table.find(class, FlowId(flow)).unwrap().amount.bytes += 1;
                }
            }
        }
        for flow in 0..1_000 {
            assert_eq!(table.find(class, FlowId(flow)).unwrap().headers, headers);
        }
        assert!(table.find(ClassId(4), FlowId(0)).is_none());
    }

    #[test]
    fn what_was_sent_of_a_flow_that_goes_is_told() {
        let mut table = Table::new();
        let mut told = 0;
        let all = 10 * (SETS * WAYS) as u32;
        for flow in 0..all {
            let gone = table.note(ClassId(0), FlowId(flow), &Headers::default());
            told += gone.map_or(0, |gone| gone.amount.packets);
            table.find(ClassId(0), FlowId(flow)).unwrap().amount.packets += 1;
        }
        table.turn(|flow| told += flow.amount.packets);
        assert_eq!(told, u64::from(all));
        table.turn(|_| panic!("nothing is sent in the next second"));
    }
}
