use proptest::prelude::*;

use super::*;

fn address() -> impl Strategy<Value = Ipv4Addr> {
    any::<u32>().prop_map(Ipv4Addr::from)
}

fn tspec() -> impl Strategy<Value = Tspec> {
    let floats = [any::<f32>(); 3].map(|float| float.prop_filter("comparable", |it| !it.is_nan()));
    (floats, any::<(u32, u32)>()).prop_map(|([rate, bucket, peak], (least, most))| Tspec {
        rate,
        bucket,
        peak,
        least,
        most,
    })
}

fn words() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<[u8; 4]>(), 0..4).prop_map(|words| words.concat())
}

fn flowspec() -> impl Strategy<Value = Flowspec> {
    let rspec = (0.0f32..1e12, any::<u32>()).prop_map(|(rate, slack)| Rspec { rate, slack });
    prop_oneof![
        (tspec(), rspec).prop_map(|(tspec, rspec)| Flowspec::Guaranteed { tspec, rspec }),
        (3u8.., words()).prop_map(|(service, body)| Flowspec::Other { service, body }),
    ]
}

fn terms() -> impl Strategy<Value = ServiceTerms> {
    let others = proptest::collection::vec((1u8..100, any::<u8>(), words()), 0..3);
    prop_oneof![
        (any::<bool>(), any::<[u32; 4]>(), others).prop_map(
            |(is_broken, [c_total, d_total, c_sum, d_sum], others)| {
                let terms = GuaranteedTerms { is_broken, c_total, d_total, c_sum, d_sum, others };
                ServiceTerms::Guaranteed(terms)
            }
        ),
        (3u8.., words()).prop_map(|(service, body)| ServiceTerms::Other { service, body }),
    ]
}

fn adspec() -> impl Strategy<Value = Adspec> {
    let general = (any::<bool>(), any::<[u32; 3]>(), 0.0f32..1e12);
    (general, proptest::collection::vec(terms(), 0..3)).prop_map(
        |((is_broken, [hops, latency, mtu], bandwidth), services)| {
            let general = General { is_broken, hops, bandwidth, latency, mtu };
            Adspec { general, services }
        },
    )
}

fn object() -> impl Strategy<Value = Object> {
    let filter = || (address(), any::<u16>()).prop_map(|(source, port)| Filter { source, port });
    let session = (address(), any::<u8>(), any::<u16>());
    let error = (address(), any::<(u8, u8, u16)>());
    prop_oneof![
        session.prop_map(|(destination, protocol, port)| {
            Object::Session(Session { destination, protocol, port })
        }),
        (address(), any::<u32>())
            .prop_map(|(address, handle)| Object::Hop(Hop { address, handle })),
        any::<u32>().prop_map(Object::RefreshTime),
        error.prop_map(|(node, (flags, code, value))| {
            Object::Error(ErrorSpec { node, flags, code, value })
        }),
        Just(Object::Style(Style::Fixed)),
        (11u32..1 << 24).prop_map(|bits| Object::Style(Style::Other(bits))),
        flowspec().prop_map(Object::Flowspec),
        filter().prop_map(Object::Filter),
        filter().prop_map(Object::Sender),
        tspec().prop_map(Object::SenderTspec),
        adspec().prop_map(Object::Adspec),
        address().prop_map(Object::Confirm),
        (192u8.., any::<u8>(), words())
            .prop_map(|(class, kind, body)| { Object::Opaque(Opaque { class, kind, body }) }),
        (16u8..128, any::<u8>()).prop_map(|(class, kind)| Object::Unknown { class, kind }),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let kind = (0..Kind::ALL.len()).prop_map(|place| Kind::ALL[place]);
    (kind, any::<u8>(), proptest::collection::vec(object(), 0..12))
        .prop_map(|(kind, send_ttl, objects)| Message { kind, send_ttl, objects })
}

proptest! {
    #[test]
    fn what_is_written_is_read(message in message()) {
        let bytes = message.bytes().unwrap();
        prop_assert_eq!(Message::parse(&bytes), Ok(message));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Message::parse(&bytes);
    }

    /// With the checksum left out, so that what is changed gets read.
    #[test]
    fn damaged_messages_are_read_or_refused(
        message in message(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = message.bytes().unwrap();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes[2..4].fill(0);
        if let Ok(message) = Message::parse(&bytes) {
            let again = message.bytes().map(|bytes| Message::parse(&bytes).unwrap().bytes());
            prop_assert_eq!(message.bytes(), again.flatten());
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed(message in message(), place in any::<prop::sample::Index>()) {
        let mut bytes = message.bytes().unwrap();
        let bit = place.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        // Not where it says that there is no checksum.
        if bytes[2..4] != [0, 0] {
            prop_assert!(Message::parse(&bytes).is_err());
        }
    }
}

/// A reservation, word by word.
#[test]
fn a_reservation_is_written_as_the_rfcs_draw_it() {
    let tspec = Tspec { rate: 1e6, bucket: 2.0, peak: f32::INFINITY, least: 64, most: 1500 };
    let rspec = Rspec { rate: 2e6, slack: 7 };
    let objects = vec![
        Object::Session(Session { destination: [10, 0, 1, 2].into(), protocol: 17, port: 5000 }),
        Object::Hop(Hop { address: [10, 0, 1, 1].into(), handle: 3 }),
        Object::RefreshTime(30_000),
        Object::Style(Style::Fixed),
        Object::Flowspec(Flowspec::Guaranteed { tspec, rspec }),
        Object::Filter(Filter { source: [10, 0, 0, 1].into(), port: 4000 }),
    ];
    let bytes = Message { kind: Kind::Resv, send_ttl: 63, objects }.bytes().unwrap();
    let words: Vec<u32> =
        bytes.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
    let drawn = [
        0x1002_0000 | words[0] & 0xffff,
        0x3f00_0000 | bytes.len() as u32,
        0x000c_0101,
        0x0a00_0102,
        0x1100_1388,
        0x000c_0301,
        0x0a00_0101,
        3,
        0x0008_0501,
        30_000,
        0x0008_0801,
        0b01010,
        0x0030_0902,
        0x0000_000a, // ten words follow
        0x0200_0009, // guaranteed service: nine
        0x7f00_0005, // TSpec: five
        0x4974_2400,
        0x4000_0000,
        0x7f80_0000,
        64,
        1500,
        0x8200_0002, // RSpec: two
        0x49f4_2400,
        7,
        0x000c_0a01,
        0x0a00_0001,
        4000,
    ];
    assert_eq!(words, drawn);
}

/// RFC 2205, 3.10: what becomes of an object whose class nobody knows is in its high bits.
#[test]
fn unknown_classes_are_refused_ignored_or_passed_on() {
    let read = |class: u8, kind: u8| {
        let mut bytes = vec![0x10, 1, 0, 0, 64, 0, 0, 16];
        bytes.extend([0, 8, class, kind, 1, 2, 3, 4]);
        Message::parse(&bytes).unwrap().objects
    };
    for class in 0..=255u8 {
        let objects = read(class, 99);
        let opaque = Object::Opaque(Opaque { class, kind: 99, body: vec![1, 2, 3, 4] });
        let expected = match class {
            0 | 4 | 7 | 128..192 => vec![],
            14 | 192.. => vec![opaque],
            1..128 => vec![Object::Unknown { class, kind: 99 }],
        };
        assert_eq!(objects, expected, "{class}");
    }
    assert_eq!(read(15, 1), [Object::Confirm([1, 2, 3, 4].into())]);
}
