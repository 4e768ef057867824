//! The outputs of a network and the routes through them, before anything is known of them.

use std::collections::HashMap;

use laxity::packet::ClassId;
use laxity::units::Nanos;

use super::{BoundError, ClassAtOutput, Output, OutputId, Paths, Route, RouteId};
use crate::model::{Hop, Hops, Source};
use crate::network::NetworkPlan;

/// Collects the outputs of a network and the classes that pass them.
pub(super) struct Outputs<'a> {
    on: NetworkPlan<'a>,
    paths: &'a mut Paths,
    /// By hop and, where links are private, route.
    numbers: HashMap<(Hop, Option<RouteId>), OutputId>,
}

impl<'a> Outputs<'a> {
    pub(super) fn new(on: NetworkPlan<'a>, paths: &'a mut Paths) -> Self {
        Outputs { on, paths, numbers: HashMap::new() }
    }

    /// Adds the routes of all sources, and the outputs on them.
    pub(super) fn collect(mut self) {
        for source in &self.on.plan.sources {
            match source {
                Source::Model(source) => self.add(source.class, &source.path, source.count, false),
                Source::Tcp(source) => {
                    let back = source.path.iter().rev().map(|hop| hop.reversed()).collect();
                    self.add(source.class, &source.path, source.count, false);
                    self.add(source.class, &back, source.count, true);
                }
                Source::Recording(recording) => {
                    for (class, _) in self.on.plan.leaves() {
                        self.add(class, &recording.path, 1, false);
                    }
                }
            }
        }
    }

    fn add(&mut self, class: ClassId, path: &Hops, flows: u32, acks: bool) {
        let number = RouteId::from_index(self.paths.routes.len());
        let key = (class, path.clone(), acks);
        let known = *self.paths.numbers.entry(key).or_insert(number);
        if let Some(route) = self.paths.routes.get_mut(known.index()) {
            route.flows = route.flows.saturating_add(flows);
            return;
        }
        self.paths.placed[class.index()] = true;
        let outputs = path.iter().map(|hop| self.output(class, *hop, number)).collect();
        let plan = self.on.plan;
        let longest = plan.max_packet(&plan.classes[class.index()]);
        let takes = |hop: &Hop| self.on.network.link(*hop).takes(longest);
        self.paths.routes.push(Route {
            class,
            path: path.clone(),
            flows,
            acks,
            outputs,
            regulated: self.on.plan.regulated(class, path).collect(),
            bounds: Err(BoundError::UnboundedUpstream),
            unloaded: path.iter().map(takes).fold(Nanos::ZERO, Nanos::saturating_add),
        });
    }

    /// The output of a route at a hop.
    fn output(&mut self, class: ClassId, hop: Hop, route: RouteId) -> OutputId {
        let private = self.on.network.link(hop).private.then_some(route);
        let outputs = &mut self.paths.outputs;
        let number = *self.numbers.entry((hop, private)).or_insert_with(|| {
            outputs.push(Output { hop, private, classes: Vec::new() });
            OutputId::from_index(outputs.len() - 1)
        });
        let classes = &mut outputs[number.index()].classes;
        if let Err(at) = classes.binary_search_by_key(&class, |passing| passing.class) {
            let bound = Err(BoundError::UnboundedUpstream);
            classes.insert(at, ClassAtOutput { class, arrival: None, bound });
        }
        number
    }
}
