#!/bin/sh
# The first process of the kernel under test: runs $laxity_dir/command, leaves what it printed and how it
# ended beside that, and switches the machine off. $laxity_modules is where the kernel's modules are.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mkdir -p /run/netns /run/modules/lib/modules
ln -s "$laxity_modules" "/run/modules/lib/modules/$(uname -r)"
cat >/run/modprobe <<'END'
#!/bin/sh
exec modprobe -d /run/modules "$@"
END
chmod +x /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe
/run/modprobe veth
ip link set lo up
cd "$laxity_dir" || echo o >/proc/sysrq-trigger
sh ./command >output 2>&1 </dev/null
echo $? >code
sync
echo o >/proc/sysrq-trigger
sleep 60
