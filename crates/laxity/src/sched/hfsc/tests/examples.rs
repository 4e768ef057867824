//! Small cases computed by hand, and the paper's examples, on the scheduler and on its definition.

use std::vec;
use std::vec::Vec;

use super::cases::{Case, Step, What};
use super::reference::Reference;
use super::{Event, play, play_on};
use crate::packet::ClassId;
use crate::sched::hfsc::{ClassSpec, Curves};
use crate::scheduler::Criterion::{self, LinkSharing, RealTime};
use crate::service::ServiceCurve;
use crate::units::{Bytes, Nanos, Rate};

/// One byte in a µs.
const BYTE_A_MICRO: u64 = 8_000_000;

/// A packet on its way: class, start, departure, deadline in µs, and why.
type SentPacket = (u32, u64, u64, Option<u64>, Criterion);

fn micros(micros: u64) -> Nanos {
    Nanos(micros * 1_000)
}

fn two_piece(m1: u64, d: Nanos, m2: u64) -> ServiceCurve {
    ServiceCurve::two_piece(m1, d, Rate(m2)).unwrap()
}

fn linear(rate: u64) -> ServiceCurve {
    ServiceCurve::linear(Rate(rate))
}

fn guaranteed(curve: ServiceCurve) -> Curves {
    Curves { real_time: Some(curve), ..Curves::default() }
}

fn sharing(curve: ServiceCurve) -> Curves {
    Curves { link_share: Some(curve), ..Curves::default() }
}

fn both(curve: ServiceCurve) -> Curves {
    Curves { link_share: Some(curve), ..guaranteed(curve) }
}

/// Classes at the top on a link, with packets given as class, time in µs and length.
fn case(rate: u64, curves: &[Curves], packets: &[(u32, u64, u32)]) -> Case {
    let class = |&curves: &Curves| ClassSpec { parent: None, curves };
    let step = |&(class, at, length): &(u32, u64, u32)| {
        let what = What::Arrive { class: ClassId(class), length };
        Step { at: micros(at), after_choice: false, what }
    };
    Case {
        rate: Rate(rate),
        classes: curves.iter().map(class).collect(),
        steps: packets.iter().map(step).collect(),
    }
}

/// What the scheduler sends, which is what its definition sends.
fn sent(case: &Case) -> Vec<SentPacket> {
    let events = play(case);
    let mut expected = Vec::new();
    play_on(&mut Reference::new(&case.classes), case, |_, event| expected.push(event));
    assert_eq!(events, expected);
    let sent = events.into_iter().filter_map(|event| match event {
        Event::Arrival(_) => None,
        Event::Sent { dispatch, start, departure } => Some((
            dispatch.packet.class.0,
            start.0 / 1_000,
            departure.0 / 1_000,
            dispatch.deadline.map(|deadline| deadline.0 / 1_000),
            dispatch.criterion,
        )),
    });
    sent.collect()
}

/// Each packet is sent when it becomes eligible: link-sharing would not send it.
#[test]
fn a_concave_curve_is_its_own_eligible_curve() {
    let curve = two_piece(BYTE_A_MICRO, micros(1_000), BYTE_A_MICRO / 2);
    let burst = [(0, 0, 500); 4];
    // The first piece is 1000 bytes, the second a byte in 2 µs. A packet at 2.5 ms meets a D that
    // is behind what was sent; packets at 5 ms one that is 500 bytes ahead, so that the new copy
    // counts for 500 bytes; after 6 ms both are one line.
    let late =
        [(0, 2_500, 500), (0, 5_000, 250), (0, 5_000, 250), (0, 5_000, 500), (0, 5_000, 500)];
    let packets: Vec<_> = burst.into_iter().chain(late).collect();
    let expected = [
        (0, 500),
        (500, 1_000),
        (1_000, 2_000),
        (2_000, 3_000),
        (3_000, 4_000),
        (5_000, 5_250),
        (5_250, 5_500),
        (5_500, 6_000),
        (6_000, 7_000),
    ];
    let sent = sent(&case(10 * BYTE_A_MICRO, &[guaranteed(curve)], &packets));
    let times: Vec<_> = sent.iter().map(|&(_, start, _, due, _)| (start, due.unwrap())).collect();
    let expected: Vec<_> = expected.to_vec();
    assert_eq!(times, expected);
}

/// It could have to make up for the flat piece at any time.
#[test]
fn a_convex_curve_is_eligible_along_its_second_piece() {
    let curve = two_piece(0, micros(1_000), BYTE_A_MICRO);
    let sent = sent(&case(10 * BYTE_A_MICRO, &[guaranteed(curve)], &[(0, 0, 500); 3]));
    let times: Vec<_> = sent.iter().map(|&(_, start, _, due, _)| (start, due.unwrap())).collect();
    assert_eq!(times, [(0, 1_500), (500, 2_000), (1_000, 2_500)]);
}

/// Class 0 is served twice as fast as the others: 250 bytes are 1 ms of its virtual time, 2 ms of
/// theirs. Class 2 comes when they stand at 1 and 2 ms, and begins between, at 1.5 ms.
#[test]
fn a_class_begins_between_its_siblings() {
    let curves = [2_000_000, 1_000_000, 1_000_000].map(|rate| sharing(linear(rate)));
    let backlog = [(0, 0, 250), (1, 0, 250)].into_iter().cycle().take(20);
    let packets: Vec<_> = backlog.chain([(2, 400, 250); 3]).collect();
    let sent = sent(&case(BYTE_A_MICRO, &curves, &packets));
    let order: Vec<_> = sent[..10].iter().map(|&(class, ..)| class).collect();
    // Virtual times in ms before each: 0 0, 1 0, 1 2 1.5, 2 2 1.5, 2 2 3.5, 3 2 3.5, 3 4 3.5,
    // 4 4 3.5, 4 4 5.5, 5 4 5.5.
    assert_eq!(order, [0, 1, 0, 2, 0, 1, 0, 2, 0, 1]);
}

/// The last packet makes the class passive at 1 ms. Alone with itself, it goes on from there.
#[test]
fn who_comes_back_goes_on_where_he_was() {
    let curves = [2_000_000, 2_000_000].map(|rate| sharing(linear(rate)));
    // At 3 ms class 0 stands at 1 ms and class 1 has never been active: both begin at 1 ms.
    let packets = [(0, 0, 250), (0, 3_000, 250), (0, 3_000, 250), (1, 3_000, 250), (1, 3_000, 250)];
    let order: Vec<_> = sent(&case(BYTE_A_MICRO, &curves, &packets))
        .iter()
        .map(|&(class, start, ..)| (class, start))
        .collect();
    assert_eq!(order, [(0, 0), (0, 3_000), (1, 3_250), (0, 3_500), (1, 3_750)]);
}

#[test]
fn an_upper_limit_holds_packets_back() {
    let limited = Curves { upper_limit: Some(linear(BYTE_A_MICRO / 2)), ..sharing(linear(1)) };
    let sent = sent(&case(10 * BYTE_A_MICRO, &[limited], &[(0, 7, 500); 3]));
    let starts: Vec<_> = sent.iter().map(|&(_, start, ..)| start).collect();
    assert_eq!(starts, [7, 1_007, 2_007]);
}

/// The link sends the guaranteed packet first, though link-sharing would send the other one.
#[test]
fn guarantees_come_before_shares() {
    let curves = [sharing(linear(BYTE_A_MICRO)), both(linear(BYTE_A_MICRO / 2))];
    let packets = [(0, 0, 500), (0, 0, 500), (1, 0, 500), (1, 0, 500)];
    assert_eq!(
        sent(&case(BYTE_A_MICRO, &curves, &packets)),
        [
            (1, 0, 500, Some(1_000), RealTime),
            (0, 500, 1_000, None, LinkSharing),
            (1, 1_000, 1_500, Some(2_000), RealTime),
            (0, 1_500, 2_000, None, LinkSharing),
        ]
    );
}

/// Fig. 2: video sends 8 KB 30 times a second, FTP whenever it can, on a link of 10 Mbit/s. With
/// lines of 2 and 8 Mbit/s a video packet is due a whole frame time after it came; with 8 KB due
/// in 10 ms it is due then, and FTP, whose curve begins flat, has no less bandwidth.
#[test]
fn delay_and_bandwidth_are_decoupled() {
    const FRAME: u32 = 8_192;
    let frame = Bytes(FRAME.into());
    let longest = Rate(10_000_000).time_for(frame).0 / 1_000;
    let run = |video: ServiceCurve, ftp: ServiceCurve| {
        // FTP has more to send than the link can.
        let ftp_packets = (0..400).map(|_| (1, 0, FRAME));
        let video_packets = (0..30).map(|number| (0, number * 1_000_000 / 30, FRAME));
        let packets: Vec<_> = ftp_packets.chain(video_packets).collect();
        let sent = sent(&case(10_000_000, &[both(video), both(ftp)], &packets));
        let videos = sent.iter().filter(|&&(class, ..)| class == 0);
        let delays: Vec<_> = (0..30u64)
            .zip(videos)
            .map(|(number, &(_, _, departure, due, _))| {
                let arrival = number * 1_000_000 / 30;
                (departure - arrival, due.unwrap() - arrival)
            })
            .collect();
        let within =
            |&&(class, _, departure, ..): &&SentPacket| class == 1 && departure <= 1_000_000;
        (delays, sent.iter().filter(within).count())
    };
    let (coupled, ftp_coupled) = run(linear(2_000_000), linear(8_000_000));
    assert!(coupled.iter().all(|&(delay, due)| due >= 32_768 && delay <= due + longest));

    let video = ServiceCurve::for_burst(frame, micros(10_000), Rate(2_000_000));
    // What the link has left: 10 t - 8 KB + 2 (t - 10 ms) >= 8 (t - flat) for t >= 10 ms.
    let ftp = two_piece(0, Nanos(5_692_000), 8_000_000);
    let (decoupled, ftp_decoupled) = run(video, ftp);
    assert!(decoupled.iter().all(|&(delay, due)| due == 10_000 && delay <= due + longest));
    let worst = |delays: &[(u64, u64)]| delays.iter().map(|&(delay, _)| delay).max();
    assert!(worst(&coupled) > Some(26_000));

    let of_second = |bits: u64| bits / (u64::from(FRAME) * 8);
    assert!(ftp_coupled as u64 >= of_second(8_000_000) && ftp_decoupled >= ftp_coupled);
}

/// Fig. 3: session 1, convex, is alone up to t0 and gets all of the link, much more than its
/// guarantee. Then session 2, concave, begins. By deadlines that count all service (SCED) session 1
/// would now have to wait until session 2 has caught up. Here its past excess changes nothing: all
/// goes on as if others had used it.
#[test]
fn excess_service_is_not_punished() {
    const PACKET: u32 = 1_000;
    let (t0, end) = (100_000, 160_000);
    let first = two_piece(0, micros(10_000), BYTE_A_MICRO / 10 * 7);
    let second = two_piece(BYTE_A_MICRO / 10 * 7, micros(10_000), BYTE_A_MICRO / 10 * 3);
    let curves = [both(first), both(second), sharing(linear(10 * BYTE_A_MICRO))];
    let run = |others: usize| {
        let mut packets = vec![(0, 0, PACKET); 200];
        packets.extend(vec![(2, 0, PACKET); others]);
        packets.extend(vec![(1, t0, PACKET); 200]);
        let sent = sent(&case(BYTE_A_MICRO, &curves, &packets));
        sent.into_iter().partition::<Vec<_>, _>(|&(_, start, ..)| start < t0)
    };
    let (alone, after) = run(0);
    let excess = alone.iter().filter(|&&(.., criterion)| criterion == LinkSharing).count();
    assert!(excess >= 25);
    let (beside, after_no_excess) = run(excess);
    assert_eq!(beside.iter().filter(|&&(class, ..)| class == 2).count(), excess);
    let until_end = |sent: &[SentPacket]| {
        sent.iter().copied().filter(|&(_, start, ..)| start < end).collect::<Vec<_>>()
    };
    assert_eq!(until_end(&after), until_end(&after_no_excess));

    // When SCED would serve session 1 again: after the packets of session 2 that are due before its
    // next one.
    let due = |curve: ServiceCurve, packets: usize| {
        let bytes = crate::curve::exact(packets as u64 * u64::from(PACKET));
        crate::curve::ceil_nanos(&curve.curve().lower_pseudo_inverse(&bytes).unwrap()).unwrap()
    };
    let next = due(first, alone.len() + 1);
    let before = (1..).take_while(|&count| micros(t0) + due(second, count) < next).count();
    assert!(before >= 20);
    let after = until_end(&after);
    let runs = after.chunk_by(|(one, ..), (next, ..)| one == next);
    let longest_wait = runs.filter(|run| run[0].0 == 1).map(<[_]>::len).max();
    assert!(longest_wait <= Some(3), "{longest_wait:?}");
}
