//! Scripts that try to change something outside.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::{Command, Stdio};

use laxity_linux::jail::Jail;

use crate::{Folder, Test, ended, lines, run};

pub const TESTS: &[Test] = &[
    ("nothing_outside_is_written", nothing_outside_is_written),
    ("the_script_s_own_folder_is_not_written", the_script_s_own_folder_is_not_written),
    ("pipes_and_devices_outside_are_not_written", pipes_and_devices_outside_are_not_written),
    ("the_kernel_is_not_set", the_kernel_is_not_set),
    ("processes_outside_are_not_seen", processes_outside_are_not_seen),
    ("nobody_outside_is_reached", nobody_outside_is_reached),
    ("walls_are_not_taken_down", walls_are_not_taken_down),
    ("nothing_is_left_of_its_own_folders", nothing_is_left_of_its_own_folders),
    ("an_ordinary_user_has_the_same_walls", an_ordinary_user_has_the_same_walls),
];

/// Each line fails; those that do not are told by the commands that they issue.
fn all_fail(lines_of_script: &[&str]) -> String {
    let tried = lines_of_script.iter().enumerate();
    let tried = tried.map(|(at, line)| format!("( {line}\n) 2> /dev/null && tc done {at}\n"));
    tried.collect::<String>() + "tc end\n"
}

/// Says whether tries by python are made; those of the shell are in any case.
fn has_python() {
    let able = run("python3 -c 'import ctypes, socket' && tc able").records.len() == 1;
    if !able {
        println!("skipped in part: this machine has no python3");
    }
}

#[track_caller]
fn nothing_is_done(text: &str) {
    let ran = run(text);
    ended(&ran, 0);
    assert_eq!(lines(&ran), ["tc end"], "{text}");
}

fn nothing_outside_is_written() {
    let home = std::env::var("HOME").unwrap_or_else(|_| "/root".into());
    let home = format!("echo > {home}/laxity-was-here");
    let tries = [
        "echo > /laxity-was-here",
        "echo > /etc/laxity-was-here",
        "echo > /home/laxity-was-here",
        "echo > /var/lib/laxity-was-here",
        "echo > \"$HOME/laxity-was-here\"",
        &home,
        "touch /etc/passwd",
        "chmod 600 /etc/passwd",
        "ln /etc/passwd /tmp/linked",
        "mkdir /opt/laxity-was-here",
        "rm -f /etc/hostname /etc/passwd",
        "mv /etc/passwd /etc/other",
        "chown 1 /etc/passwd",
        "truncate -s 0 /etc/passwd",
        "cat /dev/null > /proc/1/root/etc/laxity-was-here",
        "echo > /proc/self/root/etc/laxity-was-here",
        "echo > /proc/self/cwd/laxity-was-here",
    ];
    nothing_is_done(&all_fail(&tries));
    for folder in ["/", "/etc", "/home", "/var/lib", "/root"] {
        assert!(!Path::new(folder).join("laxity-was-here").exists(), "{folder}");
    }
}

fn the_script_s_own_folder_is_not_written() {
    let folder = Folder::new("own");
    folder.write("beside", "as it was");
    let text = all_fail(&[
        "echo > \"${0%/*}/new\"",
        "echo > \"${0%/*}/beside\"",
        "echo >> \"$0\"",
        "rm \"$0\"",
        "echo > ./new",
    ]);
    let ran = Jail::new(folder.script(&text)).run().expect("it runs");
    ended(&ran, 0);
    assert_eq!(lines(&ran), ["tc end"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("beside")).unwrap(), "as it was");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

fn pipes_and_devices_outside_are_not_written() {
    // Where the jail has a folder of its own, and where it has the machine's.
    let folder = Folder::new("pipe");
    let outside = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let _ = std::fs::create_dir_all(outside);
    let mut pipes = vec![folder.path().join("pipe")];
    if std::fs::write(outside.join("able"), "").is_ok() {
        pipes.push(outside.join(format!("pipe-{}", std::process::id())));
    }
    let mut opened = Vec::new();
    for pipe in &pipes {
        let made = Command::new("mkfifo").args(["-m", "666"]).arg(pipe).status().expect("mkfifo");
        assert!(made.success());
        let mut options = std::fs::OpenOptions::new();
        opened.push(
            options
                .read(true)
                .write(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(pipe)
                .expect("a pipe"),
        );
    }
    let mut text = String::new();
    for pipe in &pipes {
        let pipe = pipe.display();
        text += &format!("echo x 1<> {pipe}\ntimeout 0.3 sh -c 'echo x > {pipe}'\n");
    }
    text += &all_fail(&[
        "[ -b /dev/vda ] || [ -b /dev/sda ] || [ -e /dev/kmsg ] || [ -e /dev/mem ] || [ -e /dev/tty ]",
        "mknod /tmp/disk b 254 0",
        "mknod /tmp/null c 1 3",
        "for d in /sys/class/block/*; do [ -w $d/uevent ] && echo change > $d/uevent && exit; done; exit 1",
    ]);
    let ran = Jail::new(folder.script(&text)).run().expect("it runs");
    ended(&ran, 0);
    assert_eq!(lines(&ran), ["tc end"]);
    for mut pipe in opened {
        let read = std::io::Read::read(&mut pipe, &mut [0]);
        assert_eq!(read.unwrap_err().kind(), ErrorKind::WouldBlock);
    }
    pipes.iter().skip(1).for_each(|pipe| std::fs::remove_file(pipe).unwrap());
}

fn the_kernel_is_not_set() {
    let before = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    nothing_is_done(&all_fail(&[
        "echo x > /proc/sys/kernel/hostname",
        "echo 1 > /proc/sys/kernel/panic",
        "echo h > /proc/sysrq-trigger",
        "echo 1 > /proc/sys/net/ipv4/ip_forward",
        "echo 0 > /proc/self/oom_score_adj",
        "echo 1 > /sys/kernel/mm/ksm/run",
        "hostname other",
        "date -s 2000-01-01",
        "echo > /sys/fs/cgroup/cgroup.procs",
    ]));
    assert_eq!(std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap(), before);
}

fn processes_outside_are_not_seen() {
    let mut victim = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().expect("sleep");
    let (victim_id, own) = (victim.id(), std::process::id());
    let ran = run(&all_fail(&[
        &format!("kill -0 {own}"),
        &format!("kill {victim_id}"),
        &format!("[ -e /proc/{own}/status ] && grep -q laxity /proc/{own}/comm"),
        "grep -l '^Name:.jail-' /proc/[0-9]*/status | grep -v -x -e /proc/1/status",
        "echo x > /proc/1/fd/1",
    ]));
    ended(&ran, 0);
    assert_eq!(lines(&ran), ["tc end"]);
    // Even all that it can see.
    run("trap '' TERM; kill -TERM -1; kill -KILL -1");
    assert_eq!(victim.try_wait().unwrap(), None);
    victim.kill().unwrap();
    victim.wait().unwrap();
}

fn nobody_outside_is_reached() {
    has_python();
    let folder = Folder::new("sockets");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let streams = UnixListener::bind(folder.path().join("stream")).expect("a listener");
    streams.set_nonblocking(true).unwrap();
    let datagrams = UnixDatagram::bind(folder.path().join("datagram")).expect("a socket");
    datagrams.set_nonblocking(true).unwrap();
    let all = std::fs::Permissions::from_mode(0o777);
    for name in ["stream", "datagram"] {
        std::fs::set_permissions(folder.path().join(name), all.clone()).unwrap();
    }
    let path = folder.path().display();
    let python = |text: &str| format!("python3 -c 'import socket,os\n{text}'");
    let tries = [
        format!("exec 3<> /dev/tcp/127.0.0.1/{port}"),
        format!("echo x > /dev/udp/127.0.0.1/{port}"),
        python(&format!("s=socket.socket(); s.connect((\"127.0.0.1\",{port}))")),
        python(&format!("s=socket.socket(socket.AF_UNIX); s.connect(\"{path}/stream\")")),
        python(&format!(
            "s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.sendto(b\"x\",\"{path}/datagram\")"
        )),
        python(&format!(
            "a,b=socket.socketpair(socket.AF_UNIX,socket.SOCK_DGRAM); a.sendto(b\"x\",\"{path}/datagram\")"
        )),
        python(&format!("a,b=socket.socketpair(); a.sendto(b\"x\",\"{path}/datagram\")")),
        python("socket.socket(40, socket.SOCK_STREAM)"),
    ];
    let tries: Vec<&str> = tries.iter().map(String::as_str).collect();
    let ran = Jail::new(folder.script(&all_fail(&tries))).run().expect("it runs");
    ended(&ran, 0);
    assert_eq!(lines(&ran), ["tc end"]);
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(streams.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(datagrams.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

fn walls_are_not_taken_down() {
    has_python();
    let call = |name: &str, number: i64, arguments: &str| {
        format!(
            "python3 -c 'import ctypes,sys\nsys.exit(ctypes.CDLL(None).syscall({number},{arguments}) < 0)' # {name}"
        )
    };
    let tries = [
        "mount -o remount,rw /".to_string(),
        "mount -t tmpfs none /etc".into(),
        "umount /tmp".into(),
        "umount -l /proc".into(),
        "unshare -Ur true".into(),
        "unshare -m true".into(),
        "nsenter -t 1 -m true".into(),
        "chroot / true".into(),
        "mount --bind /tmp /mnt".into(),
        call("ptrace attach", libc::SYS_ptrace, "16, 1, 0, 0"),
        call("ptrace traceme", libc::SYS_ptrace, "0, 0, 0, 0"),
        call("clone user", libc::SYS_clone, "0x10000011, 0, 0, 0, 0"),
        call("setns", libc::SYS_setns, "0, 0"),
        call("fsopen", libc::SYS_fsopen, "b\"tmpfs\", 0"),
        call("open_tree", libc::SYS_open_tree, "-100, b\"/\", 1"),
        call("keyctl", libc::SYS_keyctl, "0, -3, 1"),
        call("bpf", libc::SYS_bpf, "0, 0, 0"),
        call("io_uring_setup", libc::SYS_io_uring_setup, "1, 0"),
        call("userfaultfd", libc::SYS_userfaultfd, "1"),
        call("perf_event_open", libc::SYS_perf_event_open, "0, 0, -1, -1, 0"),
        call("shmget", libc::SYS_shmget, "0, 4096, 0o1600"),
        call("memfd_create", libc::SYS_memfd_create, "b\"x\", 0"),
        call("process_vm_readv", libc::SYS_process_vm_readv, "1, 0, 0, 0, 0, 0"),
        call("reboot", libc::SYS_reboot, "0xfee1dead, 672274793, 0, 0"),
        call("syslog", libc::SYS_syslog, "5, 0, 0"),
        call("socketpair", libc::SYS_socketpair, "1, 1, 0, ctypes.create_string_buffer(8)"),
        call("socketpair of another family", libc::SYS_socketpair, "30, 1, 0, 0"),
        "ulimit -c 0".into(),
        call("setrlimit", libc::SYS_setrlimit, "4, ctypes.create_string_buffer(16)"),
        "prlimit --pid 1 --nofile=3:3".into(),
        "renice -n 5 -p 1".into(),
        "taskset -p 1 1".into(),
        "chrt -i -p 0 1".into(),
        "ionice -c 3 -p 1".into(),
        "find /usr/bin -perm -4000 -name su -exec {} root -c true \\; 2>&1 | grep -q .".into(),
    ];
    let tries: Vec<&str> = tries.iter().map(String::as_str).collect();
    nothing_is_done(&all_fail(&tries));
    // What a program does with itself is its own affair.
    let own =
        run("nice -n 5 tc nice; taskset 1 tc taskset; ulimit -n 100; tc $(ulimit -c) $(ulimit -n)");
    assert!(lines(&own).contains(&"tc nice".into()), "{:?}", lines(&own));
    assert_eq!(lines(&own).last().map(String::as_str), Some("tc 0 100"), "{:?}", lines(&own));
    // What stays is the right to read, for root's scripts, and nothing more.
    let ran = run(
        "while read -r name value; do case $name in Cap*|NoNewPrivs:|Seccomp:) tc $name $value;; esac; \
                   done < /proc/self/status",
    );
    let most = |line: &str| {
        let (_, set) = line.rsplit_once(' ').unwrap();
        u64::from_str_radix(set, 16).unwrap()
    };
    for line in lines(&ran) {
        match line.split(' ').nth(1).unwrap() {
            "NoNewPrivs:" => assert!(line.ends_with('1'), "{line}"),
            "Seccomp:" => assert!(line.ends_with('2'), "{line}"),
            _ => assert_eq!(most(&line) & !4, 0, "{line}"),
        }
    }
}

fn nothing_is_left_of_its_own_folders() {
    let ran = run(
        "echo x > /tmp/laxity-left && echo x > /run/laxity-left && echo x > /var/tmp/laxity-left && tc 1",
    );
    assert_eq!(lines(&ran), ["tc 1"]);
    for folder in ["/tmp", "/run", "/var/tmp"] {
        assert!(!Path::new(folder).join("laxity-left").exists(), "{folder}");
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(".laxity"), "{mounts}");
}

/// The program runs itself again as somebody else, where root runs it.
fn an_ordinary_user_has_the_same_walls() {
    const AGAIN: &str = "LAXITY_JAIL_AGAIN";
    let is_root = Path::new("/root").metadata().is_ok() && std::fs::read_dir("/root").is_ok();
    if std::env::var_os(AGAIN).is_some() || !is_root {
        return;
    }
    use std::os::unix::process::CommandExt;
    let folder = Folder::new("user");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("jail");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut command = Command::new(&program);
    command.uid(12345).gid(12345).env(AGAIN, "1").env("HOME", "/root").current_dir("/");
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    if text.starts_with("skipped") {
        println!("as an ordinary user {text}");
    }
}
