//! The package's units and hooks under Debian's systemd.

use crate::packaging::machine::Machine;

/// A plan that the kernel has disciplines for without any module.
const FIFO: &str = "version = 1\nlink.rate = '5mbit'\nscheduler.kind = 'fifo'\n[class.all]\n";

const LINK: &str = "ip link add eth0 up type veth peer name far && ip link set far up";
const DEV: &str = "laxity-dev@eth0";
const APPLY: &str = "laxity-apply@eth0";

/// The first run, and then what happens to an interface and to the service over the years.
#[test]
fn a_service_comes_and_goes_with_its_interface() {
    let Some(machine) = Machine::start() else { return };
    machine.says(
        "laxity new --link docsis --up 5mbit --down 20mbit --for calls --hosts 4 --out /etc/laxity/eth0",
    );
    machine.says(&format!("systemctl enable {DEV}"));
    assert_eq!(machine.property(DEV, "ActiveState"), "inactive");
    machine.says(LINK);
    machine.comes_to(&format!("systemctl is-active {DEV}"), "active");
    machine.says("laxity status --control /run/laxity-eth0/control");

    let killed = machine.property(DEV, "MainPID");
    machine.says(&format!("kill -KILL {killed}"));
    machine.comes_to(&format!("systemctl show --value -p NRestarts {DEV}"), "1");
    machine.comes_to(&format!("systemctl is-active {DEV}"), "active");
    assert_ne!(machine.property(DEV, "MainPID"), killed);

    machine.says("ip link delete eth0");
    machine.comes_to(&format!("systemctl is-active {DEV}"), "inactive");
    machine.says(LINK);
    machine.comes_to(&format!("systemctl is-active {DEV}"), "active");

    machine.says(&format!("systemctl disable --now {DEV}"));
    machine.says("ip link delete eth0");
    machine.says(LINK);
    machine.says("udevadm settle");
    assert_eq!(machine.property(DEV, "ActiveState"), "inactive");
}

/// A reload follows plans that are admitted, and others change nothing.
#[test]
fn a_service_follows_changed_plans_and_leaves_the_interface_as_it_was() {
    let Some(machine) = Machine::start() else { return };
    machine.says(LINK);
    machine.says("mkdir /etc/laxity/eth0");
    machine.says("echo INGRESS= > /etc/laxity/eth0/options");
    write(&machine, FIFO);
    let before = machine.shown();
    machine.says(&format!("systemctl start {DEV}"));
    assert!(machine.shown().contains("laxity0"));
    let rate = "laxity status --json --control /run/laxity-eth0/control | grep -o 'rate_bps.*'";
    assert_eq!(machine.says(rate), "rate_bps\": 5000000,\n");
    write(&machine, &FIFO.replace("5mbit", "6mbit"));
    machine.says(&format!("systemctl reload {DEV}"));
    assert_eq!(machine.says(rate), "rate_bps\": 6000000,\n");
    write(&machine, "version = 2\n");
    assert!(!machine.runs(&format!("systemctl reload {DEV}")));
    assert_eq!(machine.property(DEV, "ActiveState"), "active");
    assert_eq!(machine.says(rate), "rate_bps\": 6000000,\n");
    machine.says(&format!("systemctl stop {DEV}"));
    assert_eq!(machine.property(DEV, "Result"), "success");
    assert_eq!(machine.shown(), before);
}

/// The kernel's disciplines come with the interface, follow the plan, and go.
#[test]
fn a_plan_is_applied_and_taken_back() {
    let Some(machine) = Machine::start() else { return };
    machine.says("mkdir /etc/laxity/eth0");
    machine.says("echo INGRESS= > /etc/laxity/eth0/options");
    write(&machine, FIFO);
    machine.says(LINK);
    let before = machine.shown();
    machine.says("ip link delete eth0");
    machine.says(&format!("systemctl enable {APPLY}"));
    machine.says(LINK);
    let shaped = "tc qdisc show dev eth0 | grep -o 'rate [^ ]*'";
    machine.comes_to(shaped, "rate 5Mbit");
    machine.comes_to(&format!("systemctl is-active {APPLY}"), "active");
    write(&machine, &FIFO.replace("5mbit", "6mbit"));
    machine.says(&format!("systemctl reload {APPLY}"));
    assert_eq!(machine.says(shaped), "rate 6Mbit\n");

    machine.says(&format!("systemctl start {DEV}"));
    assert_eq!(machine.property(APPLY, "ActiveState"), "inactive", "one excludes the other");
    assert!(!machine.runs(shaped));
    machine.says(&format!("systemctl start {APPLY}"));
    assert_eq!(machine.property(DEV, "ActiveState"), "inactive");
    assert_eq!(machine.says(shaped), "rate 6Mbit\n");
    machine.says(&format!("systemctl stop {APPLY}"));
    assert_eq!(machine.shown(), before, "also after a reload");
}

/// A bridge between two interfaces, and what hooks of the network start.
#[test]
fn a_link_and_hooks_are_started() {
    let Some(machine) = Machine::start() else { return };
    machine.says(LINK);
    machine.says("ip link add eth1 type veth peer name there");
    machine
        .says("echo IN=eth1 > /etc/laxity/uplink.conf; echo OUT=eth0 >> /etc/laxity/uplink.conf");
    machine.says(&format!("cat > /etc/laxity/uplink.toml <<'END'\n{FIFO}END"));
    machine.says("systemctl start laxity@uplink");
    machine.says("laxity status --control /run/laxity-uplink/control");
    machine.says("systemctl kill --signal KILL laxity@uplink");
    machine.comes_to("systemctl show --value -p NRestarts laxity@uplink", "1");
    machine.comes_to("systemctl is-active laxity@uplink", "active");
    machine.says("systemctl stop laxity@uplink");
    let bypass = "ip -o link show type bridge | grep -o 'laxity-by[0-9]*'";
    machine.comes_to(&format!("{bypass} | wc -l"), "1");
    machine.says(&format!("ip link delete $({bypass})"));

    machine.says("mkdir /etc/laxity/eth0; echo INGRESS= > /etc/laxity/eth0/options");
    write(&machine, FIFO);
    let hook = "IFACE=eth0 /usr/lib/networkd-dispatcher/routable.d/50-laxity";
    machine.says(hook);
    assert_eq!(machine.property(DEV, "ActiveState"), "inactive", "it is not enabled");
    machine.says(&format!("systemctl enable {DEV}"));
    machine.says(hook);
    machine.comes_to(&format!("systemctl is-active {DEV}"), "active");
}

fn write(machine: &Machine, plan: &str) {
    machine.says(&format!("cat > /etc/laxity/eth0/up.toml <<'END'\n{plan}END"));
}
