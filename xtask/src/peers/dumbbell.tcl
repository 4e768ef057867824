# A dumbbell under ns-2:
#
#   ns dumbbell.tcl KEY=VALUE ...
#
# Every flow has an access link to r1 and an exit link from r2 of its own. Each TCP connection begins at
# a random time within the first second. It prints
#
#   connection BYTES RETRANSMITTED TIMEOUTS ECHOES           for each TCP connection, with measure=1
#   stream BYTES                                             for the UDP stream
#   bottleneck CLASS ARRIVED SENT DROPPED MEAN VARIANCE      with measure=1; 1 is TCP, 2 is UDP
#   took MICROSECONDS
#
# with bytes that arrived, each counted once, windows cut for echoes of congestion, packets, the time in
# the bottleneck's queue in s and s^2, and how long the simulation ran, the network being built and routes
# found.

array set option {
    seed 1 seconds 200 tcp 32 udp 0 access 10Mb bottleneck 1Mb queue droptail limit 300 measure 1
    variant newreno ecn 0 window 300
}
source [file join [file dirname [info script]] common.tcl]

# What a link delays a packet by, in one direction.
set delay 1ms

Agent/TCP set ecn_ $option(ecn)

# Packets are counted, not bytes.
Queue/RED set thresh_ 100
Queue/RED set maxthresh_ 200
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ 10
Queue/RED set gentle_ false
Queue/RED set wait_ true
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ $length
# Every packet that is capable of ECN is marked where chance would drop it.
Queue/RED set setbit_ $option(ecn)
Queue/RED set use_mark_p_ false

set ns [new Simulator]
set r1 [$ns node]
set r2 [$ns node]
switch $option(queue) {
    droptail { set queue DropTail }
    red { set queue RED }
}
$ns simplex-link $r1 $r2 $option(bottleneck) $delay $queue
$ns simplex-link $r2 $r1 $option(bottleneck) $delay DropTail
set bottleneck [$ns link $r1 $r2]
# DropTail of ns-2 holds one packet less than its limit, RED as many.
set limit $option(limit)
[$bottleneck queue] set limit_ [expr {$queue eq "DropTail" ? $limit + 1 : $limit}]
$ns queue-limit $r2 $r1 1000000

# A sender and a receiver, each on a link of its own whose queue never fills.
proc hosts {} {
    global ns r1 r2 option delay
    set sender [$ns node]
    set receiver [$ns node]
    foreach {host router} [list $sender $r1 $receiver $r2] {
        $ns duplex-link $host $router $option(access) $delay DropTail
        $ns queue-limit $host $router 1000000
        $ns queue-limit $router $host 1000000
    }
    return [list $sender $receiver]
}

proc connect {sender source receiver sink class} {
    global ns
    $ns attach-agent $sender $source
    $ns attach-agent $receiver $sink
    $ns connect $source $sink
    $source set fid_ $class
}

# Counts the segments of a flow that come to its receiver, each once, also behind a gap.
proc watch {receiver flow} {
    global ns r2 arrived
    set arrived($flow) 0
    set trace [$ns create-trace Recv {} $r2 $receiver]
    $trace set callback_ 1
    $trace proc handle line "arrive $flow \$line"
    set end [[$ns link $r2 $receiver] set ttl_]
    $trace target [$end target]
    $end target $trace
}

# One line of a trace.
proc arrive {flow line} {
    global seen arrived
    set segment $flow,[lindex $line 10]
    if {![info exists seen($segment)]} {
        set seen($segment) 1
        incr arrived($flow)
    }
}

switch $option(variant) {
    newreno { set tcp {Agent/TCP/Newreno Agent/TCPSink} }
    sack { set tcp {Agent/TCP/Sack1 Agent/TCPSink/Sack1} }
}
set connections {}
for {set flow 0} {$flow < $option(tcp)} {incr flow} {
    foreach {sender receiver} [hosts] {}
    set source [new [lindex $tcp 0]]
    connect $sender $source $receiver [new [lindex $tcp 1]] 1
    if {$option(measure)} { watch $receiver $flow }
    set ftp [new Application/FTP]
    $ftp attach-agent $source
    $ns at [$start uniform 0 1] "$ftp start"
    lappend connections $source
}

set receivers {}
if {$option(udp) ne "0"} {
    foreach {sender receiver} [hosts] {}
    set source [new Agent/UDP]
    $source set packetSize_ $length
    set sink [new Agent/LossMonitor]
    connect $sender $source $receiver $sink 2
    set constant [new Application/Traffic/CBR]
    $constant set packetSize_ $length
    $constant set rate_ $option(udp)
    $constant attach-agent $source
    $ns at 0 "$constant start"
    lappend receivers $sink
}

if {$option(measure)} {
    set monitor [$ns makeflowmon Fid]
    $ns attach-fmon $bottleneck $monitor 0
}

proc finish {} {
    global option connections receivers monitor arrived length begin
    set took [expr {[clock microseconds] - $begin}]
    if {$option(measure)} {
        foreach source $connections flow [lsort -integer [array names arrived]] {
            set told {}
            foreach name {nrexmitpack_ nrexmit_ necnresponses_} { lappend told [$source set $name] }
            puts "connection [expr {$arrived($flow) * $length}] $told"
        }
    }
    foreach sink $receivers { puts "stream [$sink set bytes_]" }
    if {$option(measure)} {
        foreach class [$monitor flows] {
            set delays [$class get-delay-samples]
            set told {}
            foreach name {parrivals_ pdepartures_ pdrops_} { lappend told [$class set $name] }
            puts "bottleneck [$class set flowid_] $told [$delays mean] [$delays variance]"
        }
    }
    puts "took $took"
    exit 0
}
simulate
