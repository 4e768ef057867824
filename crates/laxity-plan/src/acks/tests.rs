use etherparse::{PacketBuilder, TcpOptionElement};
use proptest::prelude::*;

use super::*;

/// A packet of IP from one end to the other.
fn packet(
    (next, flags, payload): (u32, u8, &[u8]),
    is_v4: bool,
    options: &[TcpOptionElement],
) -> Vec<u8> {
    let mut header = etherparse::TcpHeader::new(80, 5_000, 7, 1_000);
    header.acknowledgment_number = next;
    [header.fin, header.syn, header.rst] = [1, 2, 4].map(|bit| flags & bit != 0);
    [header.psh, header.ack, header.urg] = [8, 16, 32].map(|bit| flags & bit != 0);
    [header.ece, header.cwr] = [64, 128].map(|bit| flags & bit != 0);
    header.set_options(options).unwrap();
    let mut bytes = Vec::new();
    let builder = if is_v4 {
        PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9)
    } else {
        PacketBuilder::ipv6([1; 16], [2; 16], 9)
    };
    builder.tcp_header(header).write(&mut bytes, payload).unwrap();
    bytes
}

fn ack(next: u32, blocks: &[(u32, u32)]) -> Acknowledgement {
    let mut all = [(0, 0); 4];
    all[..blocks.len()].copy_from_slice(blocks);
    Acknowledgement { next, blocks: all, is_pure: true, ..Acknowledgement::default() }
}

#[test]
fn what_a_packet_says_is_read() {
    let options = [
        TcpOptionElement::Noop,
        TcpOptionElement::Timestamp(5, 6),
        TcpOptionElement::SelectiveAcknowledgement((10, 20), [Some((30, 40)), None, None]),
    ];
    for is_v4 in [true, false] {
        let read =
            |said: (u32, u8, &[u8]), options| Acknowledgement::read(&packet(said, is_v4, options));
        let all = read((9, 0x50, &[]), &options[..]).unwrap();
        let expected = ack(9, &[(10, 20), (30, 40)]);
        assert_eq!(all, Acknowledgement { stamps: Some((5, 6)), congestion: 0x40, ..expected });
        // Data, and flags that its receiver has to see.
        assert!(!read((9, 0x10, b"x"), &[]).unwrap().is_pure);
        for flag in [0x01, 0x04, 0x08, 0x20] {
            assert!(!read((9, 0x10 | flag, &[]), &[]).unwrap().is_pure);
        }
        assert!(!read((9, 0x10, &[]), &[TcpOptionElement::WindowScale(3)]).unwrap().is_pure);
        assert_eq!(read((9, 0x12, &[]), &[]), None);
        assert_eq!(read((9, 0x00, &[]), &[]), None);
    }
}

#[test]
fn superfluous_is_what_says_nothing_more() {
    let is = |later: &Acknowledgement, earlier: &Acknowledgement| later.makes_superfluous(earlier);
    assert!(is(&ack(20, &[]), &ack(10, &[])));
    assert!(!is(&ack(10, &[]), &ack(10, &[])), "a duplicate says that something is missing");
    assert!(!is(&ack(10, &[]), &ack(20, &[])));
    assert!(is(&ack(5, &[]), &ack(u32::MAX - 5, &[])), "sequence numbers begin anew");
    assert!(is(&ack(10, &[(20, 40)]), &ack(10, &[(20, 30)])));
    assert!(is(&ack(10, &[(20, 30)]), &ack(10, &[])));
    assert!(!is(&ack(10, &[(20, 30)]), &ack(10, &[(20, 30)])));
    assert!(!is(&ack(15, &[(40, 50)]), &ack(10, &[(20, 30)])), "a block is missing");
    assert!(!is(&ack(30, &[]), &ack(10, &[(20, 30)])), "as Linux has it");
    assert!(!is(&ack(30, &[]), &ack(10, &[(5, 8)])), "a duplicate segment is reported once");
    let stamped = |next, stamps| Acknowledgement { stamps: Some(stamps), ..ack(next, &[]) };
    assert!(is(&stamped(20, (2, 1)), &stamped(10, (1, 1))));
    assert!(!is(&stamped(20, (1, 2)), &stamped(10, (2, 2))), "a time stamp goes back");
    assert!(!is(&ack(20, &[]), &stamped(10, (1, 1))));
    let echo = Acknowledgement { congestion: 0x40, ..ack(20, &[]) };
    assert!(!is(&echo, &ack(10, &[])), "congestion begins or ends");
}

#[test]
fn tags_reach_back_to_what_is_not_superfluous() {
    let mut history = AckHistory::default();
    let tags: Vec<AckTag> = [ack(10, &[]), ack(20, &[]), ack(20, &[]), ack(30, &[])]
        .iter()
        .map(|ack| history.tag(ack))
        .collect();
    let superfluous = |tag: &AckTag| tag.superfluous().collect::<Vec<_>>();
    assert_eq!(tags.iter().map(|tag| tag.number()).collect::<Vec<_>>(), [1, 2, 3, 4].map(Some));
    assert_eq!(
        tags.iter().map(superfluous).collect::<Vec<_>>(),
        [vec![], vec![1], vec![], vec![3, 2, 1]]
    );
    let data = Acknowledgement { is_pure: false, ..ack(40, &[]) };
    let tag = history.tag(&data);
    assert_eq!((tag.number(), superfluous(&tag)), (None, vec![4, 3, 2, 1]));
}

proptest! {
    /// A filter may drop any that is superfluous: the rest says as much.
    #[test]
    fn whoever_sees_the_later_one_knows_as_much(
        one in (0..30u32, prop::collection::vec((0..40u32, 1..9u32), 0..4)),
        other in (0..30u32, prop::collection::vec((0..40u32, 1..9u32), 0..4)),
    ) {
        let [earlier, later] = [one, other].map(|(next, blocks)| {
            let blocks: Vec<_> = blocks.iter().map(|(start, length)| (*start, start + length)).collect();
            ack(next, &blocks)
        });
        let knows = |ack: &Acknowledgement, byte: u32| {
            byte < ack.next || ack.selected().any(|(start, end)| (start..end).contains(&byte))
        };
        if later.makes_superfluous(&earlier) {
            prop_assert!((0..60).all(|byte| knows(&later, byte) || !knows(&earlier, byte)));
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..90), version: bool) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = if version { 0x45 } else { 0x60 };
        }
        if let Some(protocol) = bytes.get_mut(if version { 9 } else { 6 }) {
            *protocol = TCP;
        }
        Acknowledgement::read(&bytes);
    }
}
