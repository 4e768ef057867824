#!/bin/sh
# The first process in namespaces of its own: makes a root file system on a tmpfs at $1/root, of this machine's
# programs, what the package brings in $1/usr, and the command $2, and becomes systemd there. Nothing outside is
# written to.
set -e
root=$1/root
mount -t tmpfs root "$root"
cd "$root"
mkdir dev etc opt proc root run sys tmp usr var work
mkdir -p etc/laxity etc/systemd/system

cp -a "$1/usr" package
mkdir package/bin unused
touch package/bin/laxity
mount -t overlay -o "lowerdir=/usr,upperdir=package,workdir=unused" overlay usr
mount --bind "$2" usr/bin/laxity
for name in bin lib lib64 sbin; do
    ln -s "usr/$name" "$name"
done
for name in alternatives group ld.so.cache nsswitch.conf passwd; do
    cp -a "/etc/$name" etc
done
touch etc/fstab etc/machine-id
# What is about the hardware and the kernel is the machine's, and nobody logs in.
for unit in dbus kmod-static-nodes systemd-binfmt systemd-hwdb-update systemd-logind systemd-modules-load \
    systemd-networkd systemd-random-seed systemd-sysctl systemd-udev-trigger systemd-update-utmp; do
    ln -s /dev/null "etc/systemd/system/$unit.service"
done
ln -s /lib/systemd/system/multi-user.target etc/systemd/system/default.target
mkdir etc/systemd/system/multi-user.target.wants
ln -s /lib/systemd/system/systemd-udevd.service etc/systemd/system/multi-user.target.wants

mount -t proc proc proc
for part in fs kernel vm; do
    mount --bind "proc/sys/$part" "proc/sys/$part"
    mount -o remount,bind,ro "proc/sys/$part"
done
mount -t sysfs sys sys
mount -t cgroup2 cgroup sys/fs/cgroup
mount -t tmpfs dev dev
mkdir dev/net dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
for node in "full 1 7" "net/tun 10 200" "null 1 3" "random 1 8" "tty 5 0" "urandom 1 9" "zero 1 5"; do
    set -- $node
    mknod -m 666 "dev/$1" c "$2" "$3"
done

pivot_root . work
umount -l /work
mount -t tmpfs run /run
# Without it, and with a /dev that is no devtmpfs, systemd believes that there will be no udev.
mkdir /run/udev
touch /run/udev/control
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin container=laxity
exec /lib/systemd/systemd --show-status=no
