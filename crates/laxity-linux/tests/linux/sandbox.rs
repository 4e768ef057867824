//! What a sandboxed process may still do, tried in a process of its own: this test's program, run
//! again with the name of what to try.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::interface::{Change, Changes};
use laxity_linux::packet::{Mmsg, Options, Ring};
use laxity_linux::sandbox::{Landlock, Sandbox};
use laxity_linux::xdp;

use crate::laboratory::{Tap, bridged, ends, eventually, taps, xdp};

const TRY: &str = "LAXITY_SANDBOX_TRY";

fn run(what: &str) -> Output {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program);
    child.args(["--exact", "sandbox::tried_by_a_child", "--nocapture"]).env(TRY, what);
    child.env("RUST_BACKTRACE", "0").output().expect("it runs")
}

#[test]
fn whatever_is_not_allowed_kills() {
    for what in ["execute", "fork", "socket", "executable memory", "other options", "trace"] {
        let output = run(what);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(libc::SIGSYS), "{what}: {text}");
        assert!(text.contains("inside"), "{what}: {text}");
    }
}

#[test]
fn what_is_needed_goes_on() {
    for what in [
        "nothing",
        "open",
        "thread",
        "give back memory",
        "status",
        "elsewhere",
        "connect",
        "forward mmsg",
        "forward ring",
        "forward xdp",
    ] {
        let output = run(what);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{what}: {:?} {text}", output.status);
        print!("{text}");
    }
}

#[test]
fn a_path_that_is_not_there_is_named() {
    let error = Sandbox::new().read("/no/such/path");
    let inside = std::thread::spawn(|| error.enter().expect_err("there is none").to_string());
    let text = inside.join().expect("asserted");
    assert!(text.contains("/no/such/path"), "{text}");
}

#[test]
fn tried_by_a_child() {
    let Ok(what) = std::env::var(TRY) else { return };
    match what.as_str() {
        "forward mmsg" => {
            forward(|ends, options| Mmsg::open(ends, options).expect("opened"));
        }
        "forward ring" => {
            forward(|ends, options| Ring::open(ends, options).expect("opened"));
        }
        "forward xdp" => forward_by_xdp(),
        "status" => {
            let status = || std::fs::read_to_string("/proc/thread-self/status").expect("readable");
            let none = |status: &str, set| status.contains(&format!("{set}:\t0000000000000000\n"));
            let privileged = !none(&status(), "CapEff");
            enter(Sandbox::new().read("/proc"));
            let status = status();
            for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
                assert!(none(&status, set), "{status}");
            }
            // Without privilege this cannot be emptied, and with no new privileges means nothing.
            assert!(none(&status, "CapBnd") || !privileged, "{status}");
            assert!(status.contains("NoNewPrivs:\t1\n") && status.contains("Seccomp:\t2\n"));
        }
        "elsewhere" => {
            let full = enter(Sandbox::new().read("/proc"));
            let denied = std::fs::read("/etc/passwd").map_err(|error| error.kind());
            let written = std::fs::write("/proc/self/comm", "x").map_err(|error| error.kind());
            if full == Landlock::None {
                return eprintln!("SKIPPED: the kernel has no Landlock");
            }
            assert_eq!(denied, Err(std::io::ErrorKind::PermissionDenied));
            assert_eq!(written, Err(std::io::ErrorKind::PermissionDenied));
        }
        "connect" => {
            let more = [libc::SYS_socket, libc::SYS_connect];
            let landlock = enter(more.into_iter().fold(Sandbox::new(), Sandbox::call));
            let refused = std::net::TcpStream::connect("127.0.0.1:9").map_err(|error| error.kind());
            if landlock != Landlock::Full {
                return eprintln!("SKIPPED: the kernel's Landlock knows no ports");
            }
            assert_eq!(refused.err(), Some(std::io::ErrorKind::PermissionDenied));
        }
        _ => {
            enter(Sandbox::new());
            attempt(&what);
        }
    }
}

fn enter(sandbox: Sandbox) -> Landlock {
    let landlock = sandbox.enter().expect("the sandbox closes");
    eprintln!("inside");
    landlock
}

fn attempt(what: &str) {
    let none = std::ptr::null_mut();
    match what {
        "nothing" => {
            Clock::Monotonic.sleep_until(Clock::Monotonic.now() + Nanos(1_000_000));
        }
        "thread" => {
            let grown =
                std::thread::Builder::new().name("inside".into()).spawn(|| vec![7; 1 << 20]);
            assert_eq!(grown.expect("started").join().expect("ran").len(), 1 << 20);
        }
        "open" => {
            let refused = std::fs::read("/etc/passwd").map_err(|error| error.kind());
            assert_eq!(refused, Err(std::io::ErrorKind::PermissionDenied));
        }
        "give back memory" => {
            let much = || (0..2_000).map(|_| vec![7; 60_000]).collect::<Vec<Vec<u8>>>();
            std::thread::spawn(move || drop(much())).join().expect("given back");
        }
        "execute" => drop(Command::new("/bin/true").status()),
        // SAFETY: the child, if there ever was one, would end at once.
        "fork" => unsafe {
            if libc::fork() == 0 {
                libc::_exit(0);
            }
        },
        "socket" => drop(std::net::UdpSocket::bind("127.0.0.1:0")),
        "executable memory" => {
            let (access, kind) = (libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: the kernel chooses a place where nothing else is.
            unsafe { libc::mmap(none, 4096, access, kind, -1, 0) };
        }
        "other options" => {
            let (level, name) = (libc::SOL_SOCKET, libc::SO_RCVBUF);
            // SAFETY: no descriptor and no value are given.
            unsafe { libc::setsockopt(-1, level, name, none, 0) };
        }
        "trace" => {
            // SAFETY: this asks for nothing but to be traced.
            unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, none, none) };
        }
        _ => panic!("nothing is called {what}"),
    }
}

fn forward_by_xdp() {
    let Some((here, [a, b])) = taps(1500) else { return };
    let [first, second] = ends(&here);
    let opened = here.run(|| xdp([&first, &second], &xdp::Options::default()));
    let Some(mut backend) = opened.expect("entered") else { return };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            enter(Sandbox::new());
            bridged(&mut backend, || {
                let frame = [[2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 8], [0x88, 0xb5, 1, 2, 3, 4]];
                a.write(frame.as_flattened());
                assert_eq!(b.read().as_deref(), Some(frame.as_flattened()));
            });
            backend.statistics(Side::A).expect("counted");
        });
    });
}

/// Opens with privilege; without it forwards, hears of an interface that comes back, and goes on
/// with it.
fn forward<B: Backend + Send + 'static>(
    open: impl FnOnce([&laxity_linux::interface::Interface; 2], &Options) -> B + Send,
) {
    let Some((here, [a, b])) = taps(1500) else { return };
    let [first, second] = ends(&here);
    let options = Options { frames: 512, ..Options::default() };
    let opened = here.run(|| (open([&first, &second], &options), Changes::new().expect("heard")));
    let (mut backend, mut changes) = opened.expect("entered");

    let (begin, began) = std::sync::mpsc::channel();
    let inside = std::thread::spawn(move || {
        enter(Sandbox::new());
        let _told = begin.send(());
        let mut back = None;
        eventually("it has come back", || {
            while let Some(change) = changes.hear().expect("heard") {
                if let Change::Appeared(now) = change {
                    back = Some(now);
                }
            }
            back.is_some()
        });
        backend.reattach(Side::B, &back.expect("it appeared")).expect("reattached");
        eventually("frames pass", || {
            let mut frames = Vec::new();
            backend.receive(Side::A, &mut frames).expect("received");
            frames.into_iter().for_each(|frame| backend.send(Side::B, frame));
            backend.flush(Side::B).expect("sent");
            backend.statistics(Side::B).expect("counted").sent >= 3
        });
        bridged(&mut backend, || std::thread::sleep(std::time::Duration::from_millis(50)));
    });
    began.recv().expect("it is inside");
    drop(b);
    let b = Tap::new(&here, "b", 1500);
    for number in 0..3 {
        a.write(&[[2, 0, 0, 0, 0, 9].as_slice(), &[2, 0, 0, 0, 0, 8, 0x88, 0xb5, number]].concat());
    }
    for number in 0..3 {
        assert_eq!(b.read().expect("it passes").last(), Some(&number));
    }
    inside.join().expect("it goes on to the end");
}
