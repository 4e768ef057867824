//! What `laxity bench` measures, by its name.

use laxity_plan::discipline::Kind;
use laxity_plan::model::{
    BestEffort as Way, BestEffortOrder as Order, EdfSpec, Late, SchedulerSpec,
};

use crate::failure::Failure;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// A discipline of plans.
    Of(Kind),
    /// FIFO behind one managed queue without a limit: what the books cost.
    DropTail,
    /// FIFO with random early detection, half-way between its thresholds.
    Red,
    /// FIFO with CHOKe, which compares each packet with another.
    Choke,
    /// EDF with a binary heap, the reference.
    HeapEdf,
    /// EDF whose every other class is best effort, with exact deadlines from a residual capacity of
    /// this many pieces.
    EdfExact(u32),
    /// About as many groups as there are leaves in each.
    HfscInGroups,
    /// Streams that are due twice as often as the link can send.
    DwcsLate,
    /// Time-driven priority at the edge, where a router looks up the reservation of each flow.
    TdpEdge,
    /// The deadline of a best-effort packet alone, on the plan of Chakraborty, Gries and Thiele
    /// (2002).
    BestEffortDeadline(Way),
}

/// The names of all cases, with remarks.
pub(super) fn accepted() -> String {
    let names = Case::all().map(|case| match case.about() {
        "" => case.name(),
        about => format!("{} ({about})", case.name()),
    });
    names.collect::<Vec<_>>().join(", ")
}

impl Case {
    /// All of them: each discipline that a plan can have, and behind it its variants.
    fn all() -> impl Iterator<Item = Case> {
        Kind::ALL.iter().flat_map(|kind| [&[Case::Of(*kind)], Case::beside(*kind)].concat())
    }

    /// What is measured besides a discipline as it is.
    fn beside(kind: Kind) -> &'static [Case] {
        match kind {
            Kind::Fifo => &[Case::DropTail, Case::Red, Case::Choke],
            Kind::Hfsc => &[Case::HfscInGroups],
            Kind::Edf => &[
                Case::HeapEdf,
                Case::EdfExact(4),
                Case::EdfExact(18),
                Case::EdfExact(34),
                Case::BestEffortDeadline(Way::ShiftedLine),
                Case::BestEffortDeadline(Way::TwoLine),
                Case::BestEffortDeadline(Way::Exact),
            ],
            Kind::Dwcs => &[Case::DwcsLate],
            Kind::Tdp => &[Case::TdpEdge],
            Kind::Wfq
            | Kind::Wf2q
            | Kind::Drr
            | Kind::Qfq
            | Kind::Priority
            | Kind::FqCodel
            | Kind::DualPi2
            | Kind::Cake => &[],
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Case::Of(kind) => kind.word().into(),
            Case::DropTail => "fifo/droptail".into(),
            Case::Red => "fifo/red".into(),
            Case::Choke => "fifo/choke".into(),
            Case::HeapEdf => "heap-edf".into(),
            Case::EdfExact(pieces) => format!("edf/exact-{pieces}"),
            Case::HfscInGroups => "hfsc/groups".into(),
            Case::DwcsLate => "dwcs/late".into(),
            Case::TdpEdge => "tdp/edge".into(),
            Case::BestEffortDeadline(way) => {
                let edf = EdfSpec { best_effort: way, order: Order::Fifo, late: Late::Send };
                SchedulerSpec::Edf(edf).name().replace(Kind::Edf.word(), "deadline")
            }
        }
    }

    /// A remark beside the name; often empty.
    fn about(self) -> &'static str {
        match self {
            Case::Of(Kind::Priority) => "eight levels",
            Case::Of(Kind::FqCodel | Kind::Cake) => "a flow a class",
            Case::Of(Kind::DualPi2) => "all in one of its queues",
            Case::Of(Kind::Hfsc) => "every leaf at the top",
            Case::Of(Kind::Dwcs) => "streams whose deadlines can all be kept",
            Case::Of(Kind::Tdp) => "time-driven priority within a network",
            Case::Of(Kind::Fifo | Kind::Wfq | Kind::Wf2q | Kind::Drr | Kind::Qfq | Kind::Edf)
            | Case::DropTail
            | Case::Red
            | Case::Choke => "",
            Case::HeapEdf => "the reference",
            Case::EdfExact(_) => {
                "half of the classes best effort, a residual capacity of as many pieces"
            }
            Case::HfscInGroups => "as many groups as leaves in each",
            Case::DwcsLate => "every stream late",
            Case::TdpEdge => "at its edge",
            Case::BestEffortDeadline(_) => "a best-effort deadline alone",
        }
    }

    /// The case of a name, or all.
    ///
    /// # Errors
    /// If no case has this name.
    pub(crate) fn chosen(only: Option<&str>) -> Result<Vec<Case>, Failure> {
        let Some(only) = only else { return Ok(Case::all().collect()) };
        match Case::all().find(|case| case.name() == only) {
            Some(case) => Ok(vec![case]),
            None => {
                let names: Vec<_> = Case::all().map(Case::name).collect();
                Err(Failure::input(format!(
                    "`{only}` is not a discipline that is measured: accepted are {}",
                    names.join(", ")
                )))
            }
        }
    }
}
