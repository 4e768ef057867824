//! Outputs that feed one another: what follows from itself.

use laxity::units::{Bytes, Nanos};

use super::analysis::{Analysis, Goal};
use super::{BoundError, OutputId};

impl Analysis<'_> {
    /// Analyses outputs that feed one another as if nothing were known of them.
    pub(super) fn fixed_point_anew(&mut self, cyclic: &[OutputId]) {
        self.begin_anew(cyclic);
        self.fixed_point(cyclic);
    }

    /// Analyses outputs that feed one another, again and again, beginning with nothing that ever
    /// waits, until nothing changes any more. What is found then follows from itself: with these
    /// arrival curves at every output, these delays, and with these delays, these arrival curves
    /// (total flow analysis with a fixed point: Thomas, Le Boudec, Mifdaoui 2019, "On cyclic
    /// dependencies and regulators in time-sensitive networks"). All of it is in whole numbers that
    /// are rounded up, so that equal means equal.
    ///
    /// Such curves hold. The network is empty in the beginning, and a packet takes some time at
    /// every output. Suppose that they hold up to some moment. What the schedulers have done by
    /// then is what they would have done if nothing had come later, so that what is proved of them
    /// with these curves is true of all packets that have left by then, and of those that leave
    /// before the shortest transmission from then on: they had come already. With these delays and
    /// what left under them, the curves hold at the next outputs for so much longer, and so for
    /// ever (Cruz 1991, part II, stops time in this way; Bouillard, Boyer, Le Corronc 2018, chapter
    /// 12).
    ///
    /// Where bounds need not count on others and find no end if they do, they do not.
    pub(super) fn fixed_point(&mut self, cyclic: &[OutputId]) {
        let settles = match self.goal {
            Goal::Shortest => self.settles(cyclic) || self.settles_alone(cyclic),
            // What does not count on others takes a fraction of the time.
            Goal::Any => self.settles_alone(cyclic) || self.settles_anew(cyclic),
        };
        if settles {
            return;
        }
        for &output in cyclic {
            for (at, passing) in self.paths.outputs[output.index()].classes.iter_mut().enumerate() {
                passing.bound = Err(BoundError::CyclicDependency);
                passing.arrival = None;
                self.passages[output.index()][at] = None;
            }
            for &(route, place) in &self.passing[output.index()] {
                if !self.paths.routes[route.index()].is_regulated(place + 1) {
                    self.so_far[route.index()][place + 1].1 = Err(BoundError::UnboundedUpstream);
                }
            }
        }
    }

    /// Whether a fixed point is found with bounds that hold for any traffic of other classes; false
    /// if no output here has a discipline with such bounds.
    fn settles_alone(&mut self, cyclic: &[OutputId]) -> bool {
        if !self.counts_on_others(cyclic) {
            return false;
        }
        self.alone = true;
        let settles = self.settles_anew(cyclic);
        self.alone = false;
        settles
    }

    fn settles_anew(&mut self, cyclic: &[OutputId]) -> bool {
        self.begin_anew(cyclic);
        self.settles(cyclic)
    }

    /// Whether bounds of any of these outputs count on what others send.
    fn counts_on_others(&self, outputs: &[OutputId]) -> bool {
        outputs.iter().any(|output| self.proof_at(*output).counts_on_others)
    }

    /// Forgets what was found of some outputs: nothing ever waits there.
    fn begin_anew(&mut self, outputs: &[OutputId]) {
        for &output in outputs {
            self.paths.outputs[output.index()]
                .classes
                .iter_mut()
                .for_each(|passing| passing.arrival = None);
            self.passages[output.index()].fill(None);
            for &(route, place) in &self.passing[output.index()] {
                let (least, longest) = &mut self.so_far[route.index()][place + 1];
                *longest = Ok(*least);
            }
        }
    }

    /// Looks at outputs again and again; whether there is an end to it.
    fn settles(&mut self, cyclic: &[OutputId]) -> bool {
        let mut growth = Growth::up_to(match self.goal {
            Goal::Any if self.counts_on_others(cyclic) => Growth::ENOUGH,
            Goal::Any | Goal::Shortest => Growth::MOST,
        });
        while growth.may_end() {
            let changes = cyclic.iter().filter(|output| self.output(**output)).count();
            if changes == 0 {
                return cyclic.iter().all(|output| self.is_finite(*output));
            }
            let delays = cyclic.iter().flat_map(|output| self.delays_behind(*output));
            growth.goes_on(delays.map(|delay| u128::from(delay.0)).sum());
        }
        false
    }

    /// How long the routes that pass an output have taken behind it, where that is known.
    fn delays_behind(&self, output: OutputId) -> impl Iterator<Item = Nanos> {
        let passing = self.passing[output.index()].iter();
        passing.filter_map(|&(route, place)| self.so_far[route.index()][place + 1].1.ok())
    }

    /// Whether no curve and no delay of an output has stopped growing only because there is no
    /// larger number.
    fn is_finite(&self, output: OutputId) -> bool {
        let classes = &self.paths.outputs[output.index()].classes;
        let mut lines = classes.iter().flat_map(|of| of.arrival.iter().flatten());
        lines.all(|line| line.bucket < Bytes(u64::MAX))
            && self.delays_behind(output).all(|delay| delay < Nanos::MAX)
    }
}

/// A heuristic that ends the search for a fixed point early.
///
/// It adds up all delays after each look at a cycle and compares sums 32 looks apart, since a
/// change at one output may take several looks to come round. If the sum grew by no less than in
/// the 32 looks before, the delays are taken to grow without end. Otherwise the search goes on, up
/// to a limit of looks. Ending too early loses a bound that exists; no bound is wrong by it.
#[derive(Default)]
struct Growth {
    /// The limit of looks.
    most: usize,
    looks: usize,
    /// The sum of all delays at the last comparison, in nanoseconds.
    sum: u128,
    /// By how much the sum had grown at the last comparison.
    grown: Option<u128>,
    is_endless: bool,
}

impl Growth {
    /// Looks between two comparisons.
    const TOGETHER: usize = 32;
    /// The limit where bounds are to be as short as possible.
    const MOST: usize = 2_048;
    /// The limit where only the existence of bounds counts and each look takes long. Close to the
    /// load at which bounds are lost, a few percent more load take ten times as many looks.
    const ENOUGH: usize = 128;

    fn up_to(most: usize) -> Self {
        Growth { most, ..Growth::default() }
    }

    fn may_end(&self) -> bool {
        self.looks < self.most && !self.is_endless
    }

    fn goes_on(&mut self, sum: u128) {
        self.looks += 1;
        if !self.looks.is_multiple_of(Growth::TOGETHER) {
            return;
        }
        let grown = sum.saturating_sub(self.sum);
        self.is_endless = self.grown.is_some_and(|before| grown >= before && grown > 0);
        (self.sum, self.grown) = (sum, Some(grown));
    }
}
