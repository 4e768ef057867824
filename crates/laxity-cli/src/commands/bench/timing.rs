//! How time is taken, and orders without pattern.

use laxity::units::Nanos;

/// How often each figure is measured; the median counts.
pub(super) const RUNS: usize = 7;

/// How busy the classes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Every class has two packets queued; one that sends or drops one gets a new one.
    Backlogged,
    /// Classes wake in random order, each with four packets, and sleep when they are sent; up to 64
    /// are awake at a time.
    OnOff,
    /// One packet at a time, of one class after another.
    Single,
    /// All classes wake at one instant, each with one packet, and sleep when all are sent.
    Together,
    /// Five packets are offered for every four that are sent, so that a managed queue drops one in
    /// five. Other schedulers are backlogged.
    Overload,
    /// Fifty packets are offered for every four that are sent, so that a managed queue drops 92 %.
    /// Other schedulers are backlogged.
    Flood,
}

impl Mode {
    /// Those of schedulers.
    pub(super) const ALL: [Mode; 4] = [Mode::Backlogged, Mode::OnOff, Mode::Single, Mode::Together];
    /// Those of managed queues that are offered more than is sent.
    pub(super) const OFFERED: [Mode; 2] = [Mode::Overload, Mode::Flood];

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::Backlogged => "backlogged",
            Mode::OnOff => "on-off",
            Mode::Single => "single",
            Mode::Together => "together",
            Mode::Overload => "overload",
            Mode::Flood => "flood",
        }
    }
}

/// The median time of a packet over several runs, after one run to warm up. `run` returns the
/// number of its packets.
pub(super) fn median(mut run: impl FnMut() -> u64) -> f64 {
    run();
    let mut times: Vec<_> = (0..RUNS)
        .map(|_| {
            let start = processor_time();
            let packets = run();
            (processor_time().0 - start.0) as f64 / packets as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

/// How long this thread has been running.
fn processor_time() -> Nanos {
    #[cfg(target_os = "linux")]
    return laxity_linux::clock::processor_time();
    #[cfg(not(target_os = "linux"))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        let start = START.get_or_init(std::time::Instant::now);
        Nanos(start.elapsed().as_nanos() as u64)
    }
}

/// The numbers below `count` in an order without pattern, the same every time.
pub(super) fn shuffled(count: u32) -> Vec<u32> {
    let mut numbers: Vec<_> = (0..count).collect();
    numbers.sort_by_key(|&number| mixed(number.into()));
    numbers
}

/// A number at random (xorshift: Marsaglia 2003), quick beside what is measured.
#[inline(always)]
pub(super) fn draw(drawn: &mut u64) -> u64 {
    if *drawn == 0 {
        *drawn = 0x9E37_79B9_7F4A_7C15;
    }
    *drawn ^= *drawn << 13;
    *drawn ^= *drawn >> 7;
    *drawn ^= *drawn << 17;
    *drawn
}

/// A number whose bits look drawn (Steele, Lea, Flood 2014).
pub(super) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
