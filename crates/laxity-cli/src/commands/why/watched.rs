//! `laxity why` of two captures, before a shaper and behind it.

use std::path::Path;

use laxity::units::Nanos;
use laxity_api::why::why_measured;
use laxity_live::watch::causes::{Causes, with_other_traffic};
use laxity_live::watch::measuring::{TapFrame, TapPlace};
use laxity_live::watch::{Behind, Settings};
use laxity_sim::source::CaptureReader;

use super::{answer, packets};
use crate::args::Why;
use crate::failure::Failure;
use crate::{Promises, input};

/// Frames may be recorded out of order by this much.
const SETTLES: Nanos = Nanos(100_000_000);

/// Carries the command out.
pub(super) fn run(arguments: &Why, files: [&Path; 2]) -> Result<Promises, Failure> {
    let plan = input::plan(&arguments.plan, None)?;
    if plan.network.is_some() {
        return Err(Failure::input(
            "two captures show one link, and the plan is a network: give the plan of the link",
        ));
    }
    let plan = with_other_traffic(&plan);
    let behind = if arguments.mirror { Behind::Arriving } else { Behind::Sent };
    let mut causes = Causes::new(&plan, behind, Settings::default());
    let result = why_measured(&plan, &packets(arguments), |each| {
        let places = [TapPlace::Before, TapPlace::Behind];
        let [before, behind] = files;
        let mut sides = [Side::open(before)?, Side::open(behind)?];
        let begin = sides.iter().filter_map(|side| side.next).min().unwrap_or_default();
        loop {
            let next = |side: &Side| side.next.map(|time| nanos(time - begin));
            let times = [next(&sides[0]), next(&sides[1])];
            let at = match times {
                [None, None] => break,
                [Some(before), Some(behind)] => usize::from(behind < before),
                [before, _] => usize::from(before.is_none()),
            };
            let Some(time) = times[at] else { break };
            let frame = &sides[at].frame;
            causes.see(TapFrame { tapped: places[at], at: time, frame, segments: None });
            sides[at].read()?;
            causes.settle(time.saturating_sub(SETTLES), each);
        }
        causes.settle(Nanos::MAX, each);
        Ok::<_, Failure>(())
    })?;
    answer(arguments, result)
}

/// A time since the first frame; one that is stamped before it is of the same time.
fn nanos(time: i128) -> Nanos {
    Nanos(u64::try_from(time.max(0)).unwrap_or(u64::MAX)).min(Nanos::LIMIT)
}

/// One of the captures.
struct Side<'a> {
    path: &'a Path,
    reader: CaptureReader,
    /// When its next frame passed, unless there is none.
    next: Option<i128>,
    frame: Vec<u8>,
    /// Frames that were read.
    count: u64,
}

impl<'a> Side<'a> {
    fn open(path: &'a Path) -> Result<Self, Failure> {
        let reader = CaptureReader::open(path)?;
        let mut side = Side { path, reader, next: None, frame: Vec::new(), count: 0 };
        side.read()?;
        Ok(side)
    }

    /// Reads the next frame.
    fn read(&mut self) -> Result<(), Failure> {
        self.next = None;
        let Some(frame) = self.reader.next_frame()? else { return Ok(()) };
        self.count += 1;
        let place = format!("{}: frame {}", self.path.display(), self.count);
        if !frame.is_ethernet {
            return Err(Failure::input(format!(
                "{place}: packets are told apart by their Ethernet frames: record at an Ethernet \
                 interface"
            )));
        }
        if (frame.data.len() as u64) < u64::from(frame.length) {
            return Err(Failure::input(format!(
                "{place}: it holds {} of {} bytes, and packets are told apart by all of them: \
                 record whole frames, for example with `tcpdump -s 0`",
                frame.data.len(),
                frame.length
            )));
        }
        self.frame.clear();
        self.frame.extend(frame.data);
        self.next = Some(frame.time);
        Ok(())
    }
}
