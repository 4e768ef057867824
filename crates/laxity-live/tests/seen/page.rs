//! The page as a browser shows it: wide and on a phone, in light and in dark colours.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use laxity::histogram::Delays;
use laxity::units::Nanos;
use laxity_live::status::{
    DangerCause, DelayStatus, EndpointsStatus, FlowStatus, HostStatus, MomentStatus, PastClass,
    PastMoment, PastPoint, PastSpan, PastStatus, Status, TalkersStatus, WaitStatus,
};

use crate::sample::{self, Sample};

/// What reports are looked at with.
const MEASURE: &str = include_str!("../../../laxity-cli/tests/cli/pages/measure.js");
/// Looks once the pages have heard of the link some times, and says what a chart must show, too.
const WAIT: &str = "
const look = window.onload;
window.onload = null;
const pages = () => [...document.querySelectorAll('iframe')].map((frame) => frame.contentDocument);
const wait = setInterval(() => {
  const isWatched = (page) => page.querySelector('.gone')?.textContent === 'Lost';
  const isWhole = (page) => isWatched(page) || page.querySelector('.delayers:not([hidden])') && page.querySelector('.past:not([hidden])');
  if (!pages().every((page) => Number(page?.body?.dataset.seen) >= 4 && isWhole(page))) return;
  clearInterval(wait);
  for (const page of pages()) {
    const drawn = page.querySelectorAll('.delays path.series[d*=L], .rates path.series[d*=L]').length;
    if (drawn !== 2 * 7) problems.push(`${drawn} lines`);
    const bounds = page.querySelectorAll('.delays path.bound').length;
    if (bounds !== 1) problems.push(`${bounds} bounds`);
    if (page.querySelectorAll('.classes tbody tr').length !== 9) problems.push('no table');
    if (page.scripts.length !== 6) problems.push('scripts of others');
    const unit = page.querySelector('.unit').textContent;
    if (unit !== UNIT) problems.push(`times in ${unit}`);
    for (const cell of page.querySelectorAll('td')) if (/^0[.]0+$/.test(cell.textContent)) problems.push('time shown as zero');
    const style = (element) => element.ownerDocument.defaultView.getComputedStyle(element);
    const delayers = [...page.querySelectorAll('.delayers:not([hidden]) li')].map((row) => row.lastChild.textContent);
    if (delayers.length !== (isWatched(page) ? 0 : 3)) problems.push(`${delayers.length} classes that wait`);
    const shares = 'class-2 60 %, class-3 20 %, class-8 10 %, nothing sent 10 %';
    if (delayers.some((text) => text !== shares)) problems.push(delayers.join('; '));
    const bars = [...page.querySelectorAll('.part:not(.idle)')].map((part) => [...part.querySelectorAll('.series')].map((line) => style(line).strokeDasharray).join());
    if (bars.length && new Set(bars).size !== 3) problems.push(`bars of ${bars.join('; ')}`);
    const promised = [...page.querySelectorAll('.promised:not([hidden]) tbody th')].map((head) => head.textContent);
    if (promised.join() !== (isWatched(page) ? '' : 'media/call,concert')) problems.push(promised.join('; '));
    const talkers = [...page.querySelectorAll('.talkers:not([hidden]) tbody th')].map((head) => head.textContent);
    const expected = ['10.0.0.2', 'host-<b>3', 'udp 10.0.0.2:5000 → [2001:db8::1234]:53', 'not IP'];
    if (talkers.join() !== (isWatched(page) ? '' : expected.join())) problems.push(talkers.join('; '));
    const kept = page.querySelectorAll('.past:not([hidden]) path.series[d*=L]').length;
    if (kept !== (isWatched(page) ? 0 : 2)) problems.push(`${kept} lines of the past`);
    const moments = [...page.querySelectorAll('.danger:not([hidden]) li')].map((row) => row.lastChild.textContent);
    const danger = ', for 12 s: <i>call took longer than its bound, 120 % of 8 ms: class-2 was sent for 71 % of its waiting.';
    if (moments.join() !== (isWatched(page) ? '' : danger)) problems.push(moments.join());
    const strokes = [...page.querySelectorAll('.delays path.series')].map((path) => `${style(path).stroke}, ${style(path).strokeDasharray}`);
    if (new Set(strokes).size !== 7 || strokes.some((stroke) => stroke.startsWith('none'))) problems.push(strokes.join('; '));
    const swatches = [...page.querySelectorAll('.swatch path')].map((path) => `${style(path).stroke}, ${style(path).strokeDasharray}`);
    if (swatches.join() !== strokes.join()) problems.push(swatches.join('; '));
    const dashes = new Set([...page.querySelectorAll('.swatch path')].map((path) => style(path).strokeDasharray));
    if (dashes.size !== 7) problems.push([...dashes].join('; '));
    const heads = [...page.querySelectorAll('.classes thead th')];
    for (const head of heads.filter((head) => /^(Missed|p99 |Max|Bound)/.test(head.textContent))) {
      const { right } = head.getBoundingClientRect();
      if (right > page.documentElement.clientWidth) problems.push(`${head.textContent} ends at ${right}`);
    }
  }
  look();
}, 200);
";

/// A link at work: more of everything each time it is asked.
fn busy(asked: u64) -> Status {
    at_work(sample::status(9), asked, SHORT)
}

/// The same, of a link that is a thousand times as fast.
fn fast(asked: u64) -> Status {
    let mut status = at_work(sample::status(9), asked, SHORT / 1000);
    for class in &mut status.ways[0].classes {
        class.bound_ns = class.bound_ns.map(|bound| bound / 1000);
    }
    status
}

/// The same, watched from outside.
fn watched(asked: u64) -> Status {
    at_work(sample::watched(9), asked, SHORT)
}

/// A third of the shortest delay of a link, in ns.
const SHORT: u64 = 70_000;

fn at_work(mut status: Status, asked: u64, short: u64) -> Status {
    // Lines break where nothing was heard for five seconds, and a busy machine lets a page wait for
    // many answers to others.
    status.uptime_ns = asked * 100_000_000;
    for (number, class) in (1..).zip(&mut status.ways[0].classes) {
        let mut delays = Delays::default();
        (0..asked * 100 * number)
            .for_each(|at| delays.record(Nanos(number * (at % 97 + 3) * short)));
        class.delay_ns = DelayStatus::new(&delays);
        (class.sent, class.bytes_sent) = (delays.count(), 200 * delays.count());
        if class.watched.is_none() && number <= 3 {
            let sent = [("class-2", 6), ("class-3", 2), ("class-8", 1)];
            let sent = sent.map(|(name, share)| (name.to_string(), asked * number * share));
            class.waits = Some(WaitStatus { sent_ns: sent.into(), idle_ns: asked * number });
        }
    }
    status.ways[0].talkers = status.real_time.map(|_| talkers());
    status.ways[0].classes[1].name = "<script>alert(1)</script> a class with a long name".into();
    status
}

/// An hour in which a class was recorded with a gap, and was in danger once.
fn past() -> PastStatus {
    const UNTIL: u64 = 1_795_000_000;
    let point = |at_s| PastPoint {
        at_s,
        rate_bps: 5e6,
        packets: 9,
        dropped: 0,
        p99_ns: 1_000_000,
        max_ns: 2_000_000 + at_s % 7 * 100_000,
        bound_ns: 8_000_000,
    };
    let times = (1..400).filter(|at| !(100..150).contains(at)).map(|at| UNTIL - 3_600 + at * 8);
    let cause = DangerCause::Class { class: "class-2".into(), percent: 71 };
    let moment = MomentStatus {
        class: "<i>call".into(),
        from_s: UNTIL - 1_000,
        until_s: UNTIL - 988,
        max_ns: 9_600_000,
        bound_ns: 8_000_000,
        cause,
    };
    PastStatus {
        span: PastSpan::Hour,
        until_s: UNTIL,
        width_s: 8,
        classes: vec![PastClass {
            way: "out".into(),
            name: "class-3".into(),
            points: times.map(point).collect(),
        }],
        moments: vec![PastMoment { way: "out".into(), moment }],
    }
}

/// A host, another one with a name, a flow, and frames without IP.
fn talkers() -> TalkersStatus {
    let [first, second] = [2, 3].map(|last| IpAddr::from([10, 0, 0, last]));
    let class = String::from("class-2");
    let host = |address, bytes| {
        let class = class.clone();
        HostStatus { address, class, flows: 3, packets: bytes / 1_000, bytes }
    };
    let ends = EndpointsStatus {
        protocol: "udp".into(),
        source: first,
        source_port: Some(5_000),
        destination: IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x1234]),
        destination_port: Some(53),
    };
    let flow =
        |ends, bytes| FlowStatus { ends, class: class.clone(), packets: bytes / 1_000, bytes };
    TalkersStatus {
        over_ns: 1_000_000_000,
        bytes: 2_000_000,
        packets: 2_000,
        unknown_bytes: 1_000,
        hosts: vec![host(first, 1_500_000), host(second, 5_000)],
        flows: vec![flow(Some(ends), 1_000_000), flow(None, 60)],
        names: [(second, "host-<b>3".to_string())].into(),
        ..TalkersStatus::default()
    }
}

#[test]
fn the_page_can_be_read_on_any_screen() {
    let Some(browser) = browser() else {
        return eprintln!(
            "SKIPPED: the page is looked at in Chromium, and there is none on the path"
        );
    };
    for (of, unit) in [(busy as fn(u64) -> Status, "ms"), (fast, "µs"), (watched, "ms")] {
        look(browser, of, unit);
    }
}

fn look(browser: &str, of: fn(u64) -> Status, unit: &str) {
    let past = of(1).real_time.map(|_| past());
    let sample = Sample::with_past(of, Ok(()), past);
    for (scheme, number) in [("dark", 0), ("light", 1)] {
        let around = frames(scheme, unit, sample.address);
        let output = Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args(["--window-size=1500,2000", "--virtual-time-budget=30000"])
            .arg(format!("--blink-settings=preferredColorScheme={number}"))
            .arg(format!("--user-data-dir={}", sample.folder.path().join(scheme).display()))
            .arg(format!("http://{around}/around"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let page = String::from_utf8_lossy(&output.stdout);
        let problems = page.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>"));
        let Some((problems, _)) = problems else {
            panic!("nothing was looked at: {page}{}", String::from_utf8_lossy(&output.stderr));
        };
        assert_eq!(problems, "2 looked at\n", "in {scheme} colours");
    }
}

/// The first that is there.
fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        let mut version = Command::new(name);
        version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        version.status().is_ok_and(|status| status.success())
    })
}

/// A server that puts the page into frames, which only a page of the same origin may look into; all
/// but its own page it passes on.
fn frames(scheme: &str, unit: &str, to: SocketAddr) -> SocketAddr {
    let page = format!(
        "<!doctype html><meta charset=utf-8><body data-scheme={scheme}>\
         <iframe src='/' width=1400 height=1000></iframe><iframe src='/' width=390 height=1000></iframe>\
         <pre></pre><script>const UNIT = '{unit}';{MEASURE}{WAIT}</script>"
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let page = page.clone();
            // A browser that breaks off is no concern of ours.
            thread::spawn(move || pass_on(stream, &page, to));
        }
    });
    address
}

fn pass_on(mut browser: TcpStream, page: &str, to: SocketAddr) -> std::io::Result<()> {
    let mut request = vec![0; 10_000];
    let length = browser.read(&mut request)?;
    if request.starts_with(b"GET /around ") {
        let length = page.len();
        return write!(
            browser,
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}"
        );
    }
    let mut server = TcpStream::connect(to)?;
    server.write_all(&request[..length])?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    browser.write_all(&answer)
}
