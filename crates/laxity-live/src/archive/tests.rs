use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use super::recorder::Recorder;
use super::*;
use crate::status::{DangerCause, SecondStatus};

fn subject() -> Subject {
    Subject::new(["call", "rest"].map(|class| ("out".to_string(), class.to_string())))
}

/// A second in which the call had `packets` packets of 100 bytes, the largest delayed so long.
fn second(packets: u64, max_ns: u64) -> Vec<ClassSlot> {
    let call = SecondStatus {
        over_ns: 1_000_000_000,
        bytes: 100 * packets,
        packets,
        dropped: 1,
        p99_ns: max_ns / 2,
        max_ns,
        ..SecondStatus::default()
    };
    let rest = SecondStatus { over_ns: 1_000_000_000, ..SecondStatus::default() };
    vec![ClassSlot::new(&call, Some(5_000_000)), ClassSlot::new(&rest, None)]
}

fn moment(from_s: u64, until_s: u64, cause: DangerCause) -> MomentStatus {
    MomentStatus {
        class: "call".into(),
        from_s,
        until_s,
        max_ns: 6_000_000,
        bound_ns: 5_000_000,
        cause,
    }
}

fn begin(path: &Path, subject: &Subject) -> (Recorder, Opened) {
    let (file, opened) = ArchiveFile::begin(path, subject).unwrap();
    (Recorder::new(file, path.to_path_buf()).unwrap(), opened)
}

/// A minute's first second, in 2026.
const BEGIN: u64 = 1_795_000_020;

#[test]
fn every_span_has_the_same_sums_over_its_own_slots_and_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("uplink.history");
    let mut opened = Vec::new();
    for restart in 0..3 {
        let (mut recorder, how) = begin(&path, &subject());
        opened.push(how);
        for at in restart * 45..(restart + 1) * 45 {
            recorder.second(BEGIN + at, second(at, 1_000_000 + at)).unwrap();
        }
    }
    assert_eq!(opened, [Opened::New, Opened::Again, Opened::Again]);
    let file = ArchiveFile::open(&path).unwrap();
    for (span, slots) in [(PastSpan::Hour, 135), (PastSpan::Day, 14), (PastSpan::Week, 3)] {
        let past = file.past(span, BEGIN + 200, u64::MAX).unwrap();
        assert_eq!((past.width_s, past.classes.len()), (span.width_s(), 2));
        let call = &past.classes[0];
        assert_eq!(
            (call.way.as_str(), call.name.as_str(), call.points.len()),
            ("out", "call", slots)
        );
        assert_eq!(call.points.iter().map(|point| point.packets).sum::<u64>(), 134 * 135 / 2);
        assert_eq!(call.points.iter().map(|point| point.dropped).sum::<u64>(), 135);
        let last = call.points.last().unwrap();
        assert_eq!((last.max_ns, last.p99_ns, last.bound_ns), (1_000_134, 500_067, 5_000_000));
        assert_eq!(past.classes[1].points[0].max_ns, 0);
    }
    let whole = file.past(PastSpan::Week, BEGIN + 200, u64::MAX).unwrap().classes.remove(0);
    assert_eq!(whole.points[0].rate_bps, 800.0 * (0..60).sum::<u64>() as f64 / 60.0);
    let few = file.past(PastSpan::Hour, BEGIN + 200, 60).unwrap();
    assert!(few.width_s == 60 && few.classes[0].points.len() <= 4, "{few:?}");
    assert_eq!(file.past(PastSpan::Hour, BEGIN + 90_000, 60).unwrap().classes[0].points, []);
}

#[test]
fn the_file_keeps_its_size_and_the_oldest_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let (mut recorder, _) = begin(&path, &subject());
    let length = fs::metadata(&path).unwrap().len();
    assert_eq!(length, 65_536 + (3_600 + 8_640 + 10_080) * (12 + 2 * 56) + 1_024 * 76);
    (0..4_000).for_each(|at| recorder.second(BEGIN + at, second(1, 1)).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().len(), length);
    let past =
        ArchiveFile::open(&path).unwrap().past(PastSpan::Hour, BEGIN + 3_999, 3_600).unwrap();
    assert_eq!(past.classes[0].points.len(), 3_600);
    assert_eq!(past.classes[0].points[0].at_s, BEGIN + 400);
}

/// Power is lost at any byte of a write.
#[test]
fn half_a_slot_is_none_and_harms_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let subject = subject();
    let (mut recorder, _) = begin(&path, &subject);
    (0..10).for_each(|at| recorder.second(BEGIN + at, second(7, 1_000)).unwrap());
    drop(recorder);
    let place = subject.place_of(PastSpan::Hour, BEGIN + 5);
    let size = subject.slot();
    let raw = File::options().read(true).write(true).open(&path).unwrap();
    let mut whole = vec![0; size];
    raw.read_exact_at(&mut whole, place).unwrap();
    let mut next = whole.clone();
    next[8..].iter_mut().for_each(|byte| *byte = !*byte);
    for cut in 1..size - 1 {
        // The rest is what was there before, or nothing.
        for rest in [&whole[cut..], &vec![0; size - cut]] {
            raw.write_all_at(&[&next[..cut.max(9)], &rest[cut.max(9) - cut..]].concat(), place)
                .unwrap();
            let file = ArchiveFile::open(&path).unwrap();
            let points =
                file.past(PastSpan::Hour, BEGIN + 20, 3_600).unwrap().classes.remove(0).points;
            assert_eq!(points.len(), 9, "{cut}");
            assert!(points.iter().all(|point| point.at_s != BEGIN + 5 && point.packets == 7));
        }
    }
}

#[test]
fn moments_are_kept_in_order_and_one_that_lasts_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let class = |percent| DangerCause::Class { class: "rest".into(), percent };
    let causes = [
        DangerCause::Contract,
        DangerCause::Late { late_ns: 4_000_000 },
        DangerCause::Idle { percent: 51 },
        DangerCause::Unknown,
        class(71),
    ];
    let (mut recorder, _) = begin(&path, &subject());
    for number in 0..2_000 {
        let cause = causes[number as usize % causes.len()].clone();
        recorder.carry_out_moment(moment(BEGIN + number, BEGIN + number + 1, cause), false);
    }
    drop(recorder);
    let (mut recorder, _) = begin(&path, &subject());
    recorder.carry_out_moment(moment(BEGIN + 5_000, BEGIN + 5_001, class(10)), false);
    recorder.carry_out_moment(moment(BEGIN + 5_000, BEGIN + 5_009, class(20)), true);
    let past = ArchiveFile::open(&path).unwrap().past(PastSpan::Week, BEGIN + 6_000, 1).unwrap();
    assert_eq!(past.moments.len(), 1_024);
    assert_eq!(past.moments[0].moment, moment(BEGIN + 5_000, BEGIN + 5_009, class(20)));
    assert_eq!(past.moments[0].way, "out");
    for (at, past) in past.moments[1..].iter().enumerate() {
        let number = 1_999 - at as u64;
        let cause = causes[number as usize % causes.len()].clone();
        assert_eq!(past.moment, moment(BEGIN + number, BEGIN + number + 1, cause));
    }
}

impl Recorder {
    fn carry_out_moment(&mut self, moment: MomentStatus, is_same: bool) {
        let (say, _said) = mpsc::channel();
        self.carry_out(Task::Moment { place: 0, moment, is_same }, &say).unwrap();
    }
}

#[test]
fn what_is_of_others_or_in_use_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("uplink.history");
    let other = Subject::new([("out".to_string(), "film".to_string())]);
    let place = |subject: &Subject| {
        let (file, opened) = ArchiveFile::begin(&path, subject).unwrap();
        let name = file.path().file_name().unwrap().to_str().unwrap().to_string();
        (file, name, opened)
    };
    let (first, name, _) = place(&subject());
    assert_eq!(name, "uplink.history");
    let (second, name, opened) = place(&subject());
    assert_eq!((name.as_str(), opened), ("uplink-2.history", Opened::New), "it is in use");
    drop((first, second));
    assert_eq!(place(&other).1, "uplink-3.history");
    let (again, name, opened) = place(&other);
    assert_eq!((name.as_str(), opened), ("uplink-3.history", Opened::Again));
    drop(again);
    assert_eq!(place(&subject()).1, "uplink.history");

    let plan = folder.path().join("plan.toml");
    let text = "version = 1\n".repeat(10_000);
    fs::write(&plan, &text).unwrap();
    for refused in [ArchiveFile::open(&plan).map(drop), ArchiveFile::begin(&plan, &other).map(drop)]
    {
        assert!(matches!(refused, Err(ArchiveError::NoHistory(_))));
    }
    assert_eq!(fs::read_to_string(&plan).unwrap(), text);
    let cut = File::options().write(true).open(&path).unwrap();
    cut.set_len(70_000).unwrap();
    assert!(matches!(ArchiveFile::open(&path), Err(ArchiveError::NoHistory(_))), "it was cut off");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing unfinished is left");
}
