//! The forms of captures: orders of bytes, resolutions, versions, and files that were cut off.

use laxity::units::Nanos;

use super::recordings::{all, arrival, av_plan, open, read, refusal};
use crate::source::Remarks;
use crate::source::tests::testing::{pcap, pcapng, udp};

#[test]
fn all_byte_orders_and_resolutions_of_pcap_are_read() {
    let (voice, plan) = (udp(1, 4000), av_plan());
    for (magic, step) in [(0xa1b2_c3d4u32, 1_000), (0xa1b2_3c4d, 1)] {
        let words = [magic, 2 << 16 | 4, 0, 0, 65535, 1, 5, 10, 42, 100];
        let words = words.into_iter();
        let later = [5, 12, 42, 100];
        let big = words.clone().flat_map(u32::to_be_bytes);
        let big = big.chain(voice.clone()).chain(later.into_iter().flat_map(u32::to_be_bytes));
        let little = words.flat_map(u32::to_le_bytes);
        let little =
            little.chain(voice.clone()).chain(later.into_iter().flat_map(u32::to_le_bytes));
        for file in [big.chain(voice.clone()).collect(), little.chain(voice.clone()).collect()] {
            let file: Vec<u8> = file;
            let expected = [arrival(0, 1, 0, 100), arrival(2 * step, 1, 0, 100)];
            assert_eq!(read(&file, &plan).unwrap(), expected);
        }
    }
}

/// Versions before 2.4 are read as that is, whichever of a frame's two lengths comes first, and so
/// are sections of pcapng whose version is not 1.0.
#[test]
fn all_versions_are_read() {
    let (voice, plan) = (udp(1, 4000), av_plan());
    let expected = [arrival(0, 1, 0, 100), arrival(1, 1, 0, 100)];
    let file = pcap(1, &[(0, 100, &voice), (1, 100, &voice)]);
    for (major, minor) in [(1, 0), (1, 9), (2, 0), (2, 1), (2, 2), (2, 3), (2, 4)] {
        let mut file = file.clone();
        file[4..8].copy_from_slice(&[major, 0, minor, 0]);
        assert_eq!(read(&file, &plan).unwrap(), expected, "{major}.{minor}");
        for header in [24, 24 + 16 + voice.len()] {
            let lengths = &mut file[header + 8..header + 16];
            lengths.rotate_left(4);
        }
        match (major, minor) {
            (2, 4) => {
                assert!(refusal(&file, &plan).contains("more bytes than its original length"))
            }
            _ => assert_eq!(read(&file, &plan).unwrap(), expected, "{major}.{minor}"),
        }
    }
    let file = pcapng(9, &[(0, 100, &voice), (1, 100, &voice)]);
    for version in [[0, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 1], [0, 1, 0, 2], [0, 2, 0, 0]] {
        let mut file = file.clone();
        file[12..16].copy_from_slice(&version);
        assert_eq!(read(&file, &plan).unwrap(), expected, "{version:?}");
    }
}

#[test]
fn frames_with_their_interface_are_read() {
    let (voice, plan) = (udp(1, 4000), av_plan());
    let mut file: Vec<u8> = [0xa1b2_cd34u32, 4 << 16 | 2, 0, 0, 65535, 1]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    for stamp in [3u32, 4] {
        let header = [1, stamp, voice.len() as u32, 100, 7, 8];
        file.extend(header.into_iter().flat_map(u32::to_le_bytes));
        file.extend(&voice);
    }
    let expected = [arrival(0, 1, 0, 100), arrival(1000, 1, 0, 100)];
    assert_eq!(read(&file, &plan).unwrap(), expected);
}

/// A recording that is cut off anywhere is read up to there, with a remark that something is left
/// out.
#[test]
fn what_is_whole_of_a_recording_that_was_cut_off_is_read() {
    let (voice, plan) = (udp(1, 4000), av_plan());
    let frames: [(u64, u32, &[u8]); 3] = [(0, 100, &voice), (1, 100, &voice), (2, 100, &voice)];
    for whole in [pcap(1, &frames), pcapng(9, &frames)] {
        let ends: Vec<usize> = match whole[0] {
            0x0a => vec![whole.len() - 2 * 76, whole.len() - 76, whole.len()],
            _ => vec![whole.len() - 2 * 58, whole.len() - 58, whole.len()],
        };
        for end in ends[0]..=whole.len() {
            let mut recording = open(&whole[..end], &plan).unwrap();
            let count = ends.iter().filter(|begin| **begin <= end).count();
            assert_eq!(all(&mut *recording).unwrap().len(), count, "{end}");
            let cut = u64::from(!ends.contains(&end));
            assert_eq!(recording.remarks(), Remarks { cut, ..Remarks::default() }, "{end}");
        }
    }
}

#[test]
fn pcapng_stamps_count_in_the_units_of_their_interface() {
    let (voice, plan) = (udp(1, 4000), av_plan());
    let cases = [(6, 3_000), (0, 3_000_000_000), (3, 3_000_000), (12, 0), (0x80 | 10, 2_929_687)];
    for (resolution, expected) in cases {
        let file = pcapng(resolution, &[(0, 100, &voice), (3, 100, &voice)]);
        let last = *read(&file, &plan).unwrap().last().unwrap();
        assert_eq!(last.time, Nanos(expected), "resolution {resolution}");
    }
}
