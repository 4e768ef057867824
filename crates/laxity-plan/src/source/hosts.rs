//! Between which hosts flows go.

use std::collections::HashMap;

use laxity::packet::{ClassId, FlowId, HostId, Hosts};

use crate::model::{Class, ModelSource, Source, TcpSource};
use crate::raw::{At, HostPair};

/// The hosts of the flows of each class that sources name, numbered in the order of their names.
/// Flows are numbered in the order of the sources.
#[derive(Default)]
pub(crate) struct FlowHosts {
    numbers: HashMap<String, u32>,
    classes: HashMap<ClassId, Vec<(FlowId, Hosts)>>,
    any: bool,
}

impl FlowHosts {
    /// Adds the flows of a source.
    pub(super) fn add(&mut self, source: &Source, raw: Option<&At<HostPair>>) {
        let (Source::Model(ModelSource { class, count, .. })
        | Source::Tcp(TcpSource { class, count, .. })) = source
        else {
            return;
        };
        let hosts = raw.map_or(Hosts::UNKNOWN, |At { value: HostPair(names), .. }| {
            let [source, destination] = names.each_ref().map(|name| self.number(name));
            Hosts { source, destination }
        });
        self.any |= hosts != Hosts::UNKNOWN;
        let flows = self.classes.entry(*class).or_default();
        let first = flows.last().map_or(0, |(end, _)| end.0);
        flows.push((FlowId(first.saturating_add(*count)), hosts));
    }

    fn number(&mut self, name: &str) -> HostId {
        let next = self.numbers.len() as u32;
        HostId(*self.numbers.entry(name.to_owned()).or_insert(next))
    }

    /// Tells the classes of a plan, if any source names hosts.
    pub(crate) fn tell(self, classes: &mut [Class]) {
        for (class, flows) in self.classes.into_iter().filter(|_| self.any) {
            classes[class.index()].hosts = flows.into();
        }
    }
}
