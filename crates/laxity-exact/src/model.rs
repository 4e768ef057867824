//! The question whether a number of flows have room, as a model for the solver.
//!
//! At each output, the first packet of a flow's period is sent in one of the n / gcd(n, k) frames
//! after which its pattern repeats. A hop with spare delay relates the frames of two outputs; any
//! other hop just shifts them. Symmetries are broken: if nothing is reserved yet, all frames have
//! the same room, so a solution stays one if all starts are shifted alike, and one flow begins with
//! frame 0 if it is placed. Of equal flows, those listed first are placed first and begin first.

use std::collections::{BTreeMap, BTreeSet};

use laxity::admit::tdp::{Flow, Hop, Ledger, OutputId, Reservation};
use num_integer::gcd;
use pumpkin_conflict_resolvers::resolvers::ResolutionResolver;
use pumpkin_constraints::boolean_less_than_or_equals;
use pumpkin_core::Solver;
use pumpkin_core::results::{ProblemSolution, SatisfactionResult};
use pumpkin_core::termination::TerminationCondition;
use pumpkin_core::variables::Literal;

use crate::bound;

/// The answer of the solver.
pub(crate) enum Answer {
    /// A placement, by flow.
    Placed(Vec<Option<Reservation>>),
    /// Proof that there is none.
    Impossible,
    /// The effort was not enough, or a capacity is too large for the solver.
    Unknown,
}

/// Asks for a placement of at least `wanted` flows, and takes the steps needed off `effort`.
pub(crate) fn place(ledger: &Ledger, flows: &[Flow], wanted: usize, effort: &mut u64) -> Answer {
    let mut model = Model::new(ledger, flows);
    let Some(()) = model.state(wanted) else { return Answer::Unknown };
    let Model { mut solver, variables, placings, .. } = model;
    if solver.is_inconsistent() {
        return Answer::Impossible;
    }
    let mut brancher = solver.default_brancher();
    let mut resolver = ResolutionResolver::default();
    match solver.satisfy(&mut brancher, &mut Steps(effort), &mut resolver) {
        SatisfactionResult::Satisfiable(found) => {
            let solution = found.solution();
            let is = |variable: &usize| solution.get_literal_value(variables[*variable]);
            let read =
                flows.iter().zip(&placings).map(|(flow, one)| one.read(flow, ledger.period(), is));
            Answer::Placed(read.collect())
        }
        SatisfactionResult::Unsatisfiable(..) => Answer::Impossible,
        SatisfactionResult::Unknown(..) => Answer::Unknown,
    }
}

/// Stops the solver after this number of steps.
struct Steps<'a>(&'a mut u64);

impl TerminationCondition for Steps<'_> {
    fn should_stop(&mut self) -> bool {
        let stop = *self.0 == 0;
        *self.0 = self.0.saturating_sub(1);
        stop
    }
}

/// The variables for one flow, by number.
struct Placing {
    /// Whether the flow is placed.
    placed: usize,
    /// By hop and frame of the repeated pattern: whether the first packet of a period is sent
    /// there.
    first: Vec<Vec<usize>>,
}

impl Placing {
    fn read(&self, flow: &Flow, period: u32, is: impl Fn(&usize) -> bool) -> Option<Reservation> {
        if !is(&self.placed) {
            return None;
        }
        let frame = |first: &Vec<usize>| first.iter().position(&is).map(|frame| frame as u32);
        let frames: Vec<u32> = self.first.iter().filter_map(frame).collect();
        let reservation = flow.reservation_in(period, &frames);
        debug_assert!(reservation.is_ok(), "a hop waits longer than it may");
        reservation.ok()
    }
}

struct Model<'a> {
    ledger: &'a Ledger,
    flows: &'a [Flow],
    solver: Solver,
    variables: Vec<Literal>,
    placings: Vec<Placing>,
}

impl<'a> Model<'a> {
    fn new(ledger: &'a Ledger, flows: &'a [Flow]) -> Self {
        let (solver, variables, placings) = (Solver::default(), Vec::new(), Vec::new());
        Model { ledger, flows, solver, variables, placings }
    }

    /// States the question; `None` if a number is too large for the solver.
    fn state(&mut self, wanted: usize) -> Option<()> {
        self.placings = self.flows.iter().map(|flow| self.placing(flow)).collect();
        self.break_symmetry();
        for output in self.ledger.outputs() {
            self.keep_within(output)?;
        }
        // Implied, but the solver would take long to find it.
        for budget in bound::budgets(self.ledger, self.flows) {
            let uses = budget.uses.iter();
            let uses = uses.map(|&(flow, uses)| (self.placings[flow].placed, uses)).collect();
            let _ = self.at_most(uses, budget.room);
        }
        let left_out: Vec<Literal> =
            self.placings.iter().map(|one| !self.variables[one.placed]).collect();
        let most = self.flows.len() - wanted;
        self.sum_at_most(vec![1; left_out.len()], left_out, i32::try_from(most).ok()?);
        Some(())
    }

    fn placing(&mut self, flow: &Flow) -> Placing {
        let repeat = flow.repeat(self.ledger.period());
        let placed = self.variable();
        let starts = self.one_of(repeat);
        self.implies(placed, starts.iter().copied());
        starts.iter().for_each(|&start| self.implies(start, [placed]));
        let mut first = vec![starts];
        for hop in &flow.path[1..] {
            let before = &first[first.len() - 1];
            let spare = hop.spare.min(repeat - 1).min(u32::MAX - hop.delay);
            let next = if spare == 0 {
                let mut next = before.clone();
                next.rotate_right(immediate(0, hop, repeat) as usize);
                next
            } else {
                self.forwarded(before, hop, spare)
            };
            first.push(next);
        }
        Placing { placed, first }
    }

    /// The frames of a hop with spare delay, related to those of the hop before.
    fn forwarded(&mut self, before: &[usize], hop: &Hop, spare: u32) -> Vec<usize> {
        let repeat = before.len() as u32;
        let next = self.one_of(repeat);
        let mut from = vec![Vec::new(); before.len()];
        for (frame, &sent) in (0..).zip(before) {
            let least = immediate(frame, hop, repeat);
            let reached = (0..=spare).map(|extra| ((least + extra) % repeat) as usize);
            reached.clone().for_each(|frame| from[frame].push(sent));
            self.implies(sent, reached.map(|frame| next[frame]));
        }
        for (&sent, from) in next.iter().zip(from) {
            self.implies(sent, from);
        }
        next
    }

    fn break_symmetry(&mut self) {
        let mut fixed: Option<usize> = None;
        for (at, flow) in self.flows.iter().enumerate() {
            let starts = self.placings[at].first[0].clone();
            if let Some(before) = self.flows[..at].iter().rposition(|other| other == flow) {
                let earlier = &self.placings[before];
                let (placed, earlier_starts) = (earlier.placed, earlier.first[0].clone());
                self.implies(self.placings[at].placed, [placed]);
                for (frame, &start) in starts.iter().enumerate() {
                    self.implies(start, earlier_starts[..=frame].iter().copied());
                }
            } else if fixed.is_none_or(|one| self.placings[one].first[0].len() < starts.len()) {
                fixed = Some(at);
            }
        }
        if let Some(fixed) = fixed.filter(|_| self.ledger.is_empty()) {
            let others = self.placings[fixed].first[0][1..].to_vec();
            others.into_iter().for_each(|start| self.implies(start, []));
        }
    }

    /// No frame of an output takes more than its capacity.
    fn keep_within(&mut self, output: OutputId) -> Option<()> {
        let period = self.ledger.period();
        let mut frames = vec![BTreeMap::<usize, u128>::new(); period as usize];
        for (flow, placing) in self.flows.iter().zip(&self.placings) {
            let hops = flow.path.iter().zip(&placing.first);
            for (_, first) in hops.filter(|(hop, _)| hop.output == output) {
                for (offset, packets) in pattern(flow, period) {
                    for (frame, &sent) in (offset..).zip(first.iter()) {
                        let frame = &mut frames[frame % period as usize];
                        *frame.entry(sent).or_default() += u128::from(flow.packet.0) * packets;
                    }
                }
            }
        }
        let rooms = (0..period).map(|frame| self.ledger.room(output, frame).0);
        // Frames repeat after a common multiple of all patterns.
        for (uses, room) in BTreeSet::from_iter(frames.into_iter().zip(rooms)) {
            self.at_most(uses.into_iter().collect(), room.into())?;
        }
        Some(())
    }

    fn variable(&mut self) -> usize {
        self.variables.push(self.solver.new_literal());
        self.variables.len() - 1
    }

    /// Variables, at most one of them true.
    fn one_of(&mut self, count: u32) -> Vec<usize> {
        let variables: Vec<usize> = (0..count).map(|_| self.variable()).collect();
        let literals = variables.iter().map(|&variable| self.variables[variable]).collect();
        self.sum_at_most(vec![1; variables.len()], literals, 1);
        variables
    }

    fn implies(&mut self, condition: usize, one_of: impl IntoIterator<Item = usize>) {
        let one_of = one_of.into_iter().map(|one| self.variables[one].get_true_predicate());
        let not = self.variables[condition].get_false_predicate();
        let clause: Vec<_> = one_of.chain([not]).collect();
        let tag = self.solver.new_constraint_tag();
        self.solver.add_clause(clause, tag);
    }

    /// The weights of true variables sum to at most `room`; `None` if a number is too large.
    fn at_most(&mut self, weights: Vec<(usize, u128)>, room: u128) -> Option<()> {
        let (weights, heavy): (Vec<_>, Vec<_>) =
            weights.into_iter().partition(|(_, weight)| *weight <= room);
        heavy.into_iter().for_each(|(variable, _)| self.implies(variable, []));
        if weights.iter().map(|(_, weight)| weight).sum::<u128>() <= room {
            return Some(());
        }
        let divisor = weights.iter().fold(0, |divisor, (_, weight)| gcd(divisor, *weight));
        let room = i32::try_from(room / divisor).ok()?;
        let literals = weights.iter().map(|(variable, _)| self.variables[*variable]).collect();
        let weights = weights.iter().map(|(_, weight)| (weight / divisor) as i32).collect();
        self.sum_at_most(weights, literals, room);
        Some(())
    }

    fn sum_at_most(&mut self, weights: Vec<i32>, literals: Vec<Literal>, room: i32) {
        let tag = self.solver.new_constraint_tag();
        let sum = boolean_less_than_or_equals(weights, literals, room, tag);
        self.solver.add_constraint(sum).post();
    }
}

/// The earliest frame in which an output can send a packet that the one before sent in `frame`,
/// modulo the pattern's repetition.
fn immediate(frame: u32, hop: &Hop, repeat: u32) -> u32 {
    let frame = u64::from(frame) + u64::from(hop.delay) + u64::from(hop.propagation);
    (frame % u64::from(repeat)) as u32
}

/// Numbers of packets that a flow sends in each frame after the first of a period: packet i is sent
/// `floor(i n / k)` frames after it.
fn pattern(flow: &Flow, period: u32) -> impl Iterator<Item = (usize, u128)> {
    let (packets, period) = (u64::from(flow.packets), u64::from(period));
    let before = move |frame: u64| (frame * packets).div_ceil(period);
    let count = move |frame| (frame as usize, u128::from(before(frame + 1) - before(frame)));
    (0..period).map(count).filter(|(_, packets)| *packets > 0)
}
