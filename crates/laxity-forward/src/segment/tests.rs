use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use proptest::prelude::*;

use super::*;

/// What a frame is made of.
#[derive(Clone, Debug)]
struct Made {
    is_v6: bool,
    is_tcp: bool,
    vlans: usize,
    sequence: u32,
    /// FIN, PSH, CWR.
    flags: [bool; 3],
    identification: u16,
    options: usize,
    payload: Vec<u8>,
}

fn made() -> impl Strategy<Value = Made> {
    let payload = prop::collection::vec(any::<u8>(), 0..9_000);
    (any::<[bool; 5]>(), 0..3usize, any::<u32>(), any::<u16>(), 0..4usize, payload).prop_map(
        |([is_v6, is_tcp, a, b, c], vlans, sequence, identification, options, payload)| Made {
            is_v6,
            is_tcp,
            vlans,
            sequence,
            flags: [a, b, c],
            identification,
            options,
            payload,
        },
    )
}

impl Made {
    fn frame(&self) -> Vec<u8> {
        let mut ip = Vec::new();
        let v4 = etherparse::Ipv4Header {
            identification: self.identification,
            ..etherparse::Ipv4Header::new(
                0,
                7,
                etherparse::IpNumber(0),
                [10, 0, 0, 1],
                [10, 0, 0, 2],
            )
            .unwrap()
        };
        let builder = if self.is_v6 {
            PacketBuilder::ipv6([7; 16], [9; 16], 7)
        } else {
            PacketBuilder::ip(etherparse::IpHeaders::Ipv4(v4, Default::default()))
        };
        if self.is_tcp {
            let nops = vec![etherparse::TcpOptionElement::Noop; 4 * self.options];
            let mut builder = builder.tcp(1000, 2000, self.sequence, 4000).ack(5);
            builder = if self.flags[0] { builder.fin() } else { builder };
            builder = if self.flags[1] { builder.psh() } else { builder };
            builder = if self.flags[2] { builder.cwr() } else { builder };
            builder.options(&nops).unwrap().write(&mut ip, &self.payload).unwrap();
        } else {
            builder.udp(1000, 2000).write(&mut ip, &self.payload).unwrap();
        }
        let ether_type: [u8; 2] = if self.is_v6 { [0x86, 0xdd] } else { [8, 0] };
        let mut frame = vec![1; 12];
        (0..self.vlans)
            .for_each(|vlan| frame.extend([[0x88, 0xa8], [0x81, 0]][vlan].iter().chain(&[0, 5])));
        frame.extend(ether_type);
        frame.extend(ip);
        frame
    }

    fn offload(&self, size: u16) -> Offload {
        let gso_type = match (self.is_tcp, self.is_v6) {
            (true, false) => TCP_OVER_IPV4,
            (true, true) => TCP_OVER_IPV6,
            (false, _) => UDP,
        };
        Offload { checksum: None, gso_type, gso_size: size }
    }
}

/// Whether etherparse finds all lengths and checksums right; gives the payload.
fn verified(segment: &[u8]) -> Vec<u8> {
    let sliced = SlicedPacket::from_ethernet(segment).unwrap();
    let (source, destination, is_v6) = match sliced.net.as_ref().unwrap() {
        NetSlice::Ipv4(ip) => {
            let header = ip.header().to_header();
            assert_eq!(header.header_checksum, header.calc_header_checksum());
            let from_ip = segment.len() - 14 - 4 * sliced.link_exts.len();
            assert_eq!(usize::from(header.total_len), from_ip);
            (header.source.to_vec(), header.destination.to_vec(), false)
        }
        NetSlice::Ipv6(ip) => {
            let header = ip.header().to_header();
            let from_ip = segment.len() - 14 - 4 * sliced.link_exts.len();
            assert_eq!(usize::from(header.payload_length), from_ip - 40);
            (header.source.to_vec(), header.destination.to_vec(), true)
        }
        NetSlice::Arp(_) => panic!("it was IP"),
    };
    match sliced.transport.as_ref().unwrap() {
        TransportSlice::Tcp(tcp) => {
            let (header, payload) = (tcp.to_header(), tcp.payload());
            let sum = if is_v6 {
                header.calc_checksum_ipv6_raw(
                    source.try_into().unwrap(),
                    destination.try_into().unwrap(),
                    payload,
                )
            } else {
                header.calc_checksum_ipv4_raw(
                    source.try_into().unwrap(),
                    destination.try_into().unwrap(),
                    payload,
                )
            };
            // Zero has two forms in ones' complement.
            let (found, right) = (header.checksum, sum.unwrap());
            assert!(found == right || (found, right) == (0xffff, 0), "{found:x} {right:x}");
            payload.to_vec()
        }
        TransportSlice::Udp(udp) => {
            let (header, payload) = (udp.to_header(), udp.payload());
            assert_eq!(usize::from(header.length), 8 + payload.len());
            let sum = if is_v6 {
                header.calc_checksum_ipv6_raw(
                    source.try_into().unwrap(),
                    destination.try_into().unwrap(),
                    payload,
                )
            } else {
                header.calc_checksum_ipv4_raw(
                    source.try_into().unwrap(),
                    destination.try_into().unwrap(),
                    payload,
                )
            };
            assert_eq!(header.checksum, sum.unwrap());
            payload.to_vec()
        }
        _ => panic!("it was TCP or UDP"),
    }
}

proptest! {
    /// Every segment is a packet that etherparse finds right; in their order they carry what was
    /// cut, and say where it belongs.
    #[test]
    fn segments_are_whole_packets_with_the_payload_of_the_frame(made in made(), size in 1u16..2_000) {
        let frame = made.frame();
        let segments = Segments::new(&frame, &made.offload(size.max(9))).unwrap();
        let mut out = vec![0xaa; segments.longest()];
        let mut payload = Vec::new();
        for number in 0..segments.count() {
            let is_last = number + 1 == segments.count();
            let segment = segments.write(number, &mut out).unwrap();
            let sliced = SlicedPacket::from_ethernet(segment).unwrap();
            if let Some(NetSlice::Ipv4(ip)) = &sliced.net {
                let expected = made.identification.wrapping_add(number as u16);
                prop_assert_eq!(ip.header().identification(), expected);
            }
            if let Some(TransportSlice::Tcp(tcp)) = &sliced.transport {
                let expected = made.sequence.wrapping_add(payload.len() as u32);
                prop_assert_eq!(tcp.sequence_number(), expected);
                prop_assert_eq!(tcp.fin(), made.flags[0] && is_last);
                prop_assert_eq!(tcp.psh(), made.flags[1] && is_last);
                prop_assert_eq!(tcp.cwr(), made.flags[2] && number == 0);
                prop_assert!(tcp.ack() && tcp.acknowledgment_number() == 5);
            }
            let part = verified(segment);
            prop_assert_eq!(part.len() == usize::from(size.max(9)) || is_last, true);
            payload.extend(part);
        }
        prop_assert_eq!(payload, made.payload);
        prop_assert!(segments.write(segments.count(), &mut out).is_none());
        let longest = segments.longest();
        prop_assert!(segments.write(0, &mut out[..longest - 1]).is_none());
    }

    /// A checksum of the pseudo header alone is completed to the one of the whole packet.
    #[test]
    fn a_partial_checksum_is_completed(made in made()) {
        let mut frame = made.frame();
        let whole = frame.clone();
        let layers = Layers::new(&frame);
        let offset = if made.is_tcp { 16 } else { 6 };
        let length = frame.len() - layers.transport_at;
        let protocol = layers.protocol.unwrap();
        let pseudo = Sum::default().and(&frame[layers.addresses()]).and_number(protocol.into());
        let pseudo = !pseudo.and_number(length as u32).fold();
        put(&mut frame[layers.transport_at..], offset, pseudo);
        prop_assert!(complete(&mut frame, layers.transport_at as u16, offset as u16));
        verified(&frame);
        let sum = get(&frame[layers.transport_at..], offset);
        put(&mut frame[layers.transport_at..], offset, get(&whole[layers.transport_at..], offset));
        prop_assert_eq!(&frame, &whole);
        prop_assert!(sum != 0);
    }

    /// Whatever bytes there are, and whatever is said of them.
    #[test]
    fn any_bytes_are_cut_or_refused(
        mut made in made(), cut: prop::sample::Index, noise in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 0..6),
        gso_type: u8, gso_size: u16, start: u16, offset: u16, wild: bool,
    ) {
        made.payload.truncate(300);
        let mut frame = made.frame();
        for (place, byte) in noise {
            let place = place.index(60.min(frame.len()));
            frame[place] = byte;
        }
        frame.truncate(cut.index(frame.len() + 1));
        let offload = if wild { Offload { checksum: None, gso_type, gso_size } } else { made.offload(gso_size) };
        if let Ok(segments) = Segments::new(&frame, &offload) {
            let mut out = vec![0; segments.longest()];
            prop_assert!(segments.longest() <= frame.len());
            for number in 0..segments.count() {
                prop_assert!(segments.write(number, &mut out).is_some());
            }
        }
        let fits = usize::from(start) + usize::from(offset) + 2 <= frame.len();
        prop_assert_eq!(complete(&mut frame, start, offset), fits);
    }
}

#[test]
fn a_header_is_read_as_the_kernel_writes_it() {
    let mut header = [1, 0x81, 0, 0, 0, 0, 0, 0, 0, 0];
    for (at, number) in [(2, 66u16), (4, 1448), (6, 34), (8, 16)] {
        header[at..at + 2].copy_from_slice(&number.to_ne_bytes());
    }
    let offload = Offload::from_header(&header);
    assert_eq!(offload, Offload { checksum: Some((34, 16)), gso_type: 0x81, gso_size: 1448 });
    assert!(offload.cuts() && !Offload::default().cuts());
    assert_eq!(Offload::from_header(&[0; 10]), Offload::default());
}

#[test]
fn what_is_not_as_it_is_said_is_refused() {
    let made = Made {
        is_v6: false,
        is_tcp: true,
        vlans: 0,
        sequence: 0,
        flags: [false; 3],
        identification: 0,
        options: 0,
        payload: vec![1; 3000],
    };
    let frame = made.frame();
    let refused = |gso_type, gso_size| {
        let offload = Offload { checksum: None, gso_type, gso_size };
        Segments::new(&frame, &offload).map(|_| ()).unwrap_err()
    };
    assert_eq!(refused(3, 1000), SegmentError::Kind(3));
    assert_eq!(refused(TCP_OVER_IPV4, 0), SegmentError::NoSize);
    assert_eq!(refused(TCP_OVER_IPV6, 1000), SegmentError::Headers);
    assert_eq!(refused(UDP, 1000), SegmentError::Headers);
    let mut fragment = frame.clone();
    fragment[20] |= 0x20;
    let offload = made.offload(1000);
    assert_eq!(Segments::new(&fragment, &offload).map(|_| ()), Err(SegmentError::Headers));
}
