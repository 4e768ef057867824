# Short flows under ns-2: transfers of 20 segments come at random to a dumbbell of four nodes, each over a
# connection of its own.
#
#   ns flows.tcl KEY=VALUE ...
#
# It prints what `mesh.tcl` prints, with one `connection` for all together, and
#
#   transfer SECONDS                     from the first segment's sending to the last one's arrival, with measure=1

array set option { seed 1 seconds 200 window 300 measure 1 }
source [file join [file dirname [info script]] common.tcl]

set segments 20
# Between two transfers, in s: 70 % of the bottleneck's rate.
set mean [expr {$segments * 8000 / 7e6}]

set ns [new Simulator]
set sender [$ns node]
set r1 [$ns node]
set r2 [$ns node]
set receiver [$ns node]
set directions {}
foreach {one other rate} [list $sender $r1 100Mb $r1 $r2 10Mb $r2 $receiver 100Mb] {
    $ns duplex-link $one $other $rate 1ms DropTail
    foreach {from to} [list $one $other $other $one] {
        # DropTail of ns-2 holds one packet less than its limit.
        $ns queue-limit $from $to 51
        lappend directions $from $to
    }
}

set connections {}
proc transfer {} {
    global ns sender receiver connections segments start mean began
    set source [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $sender $source
    $ns attach-agent $receiver $sink
    $ns connect $source $sink
    set flow [llength $connections]
    $source set fid_ $flow
    set began($flow) [$ns now]
    lappend connections $source
    $source advanceby $segments
    $ns after [$start exponential $mean] transfer
}
$ns at [$start exponential $mean] transfer

# Segments that come to the receiver, each counted once.
proc arrive {line} {
    global seen arrived began segments took
    set flow [lindex $line 7]
    set segment $flow,[lindex $line 10]
    if {[info exists seen($segment)]} return
    set seen($segment) 1
    if {[incr arrived($flow)] == $segments} { lappend took [expr {[lindex $line 1] - $began($flow)}] }
}

set took {}
set queues {}
if {$option(measure)} {
    set trace [$ns create-trace Recv {} $r2 $receiver]
    $trace set callback_ 1
    $trace proc handle line { arrive $line }
    set end [[$ns link $r2 $receiver] set ttl_]
    $trace target [$end target]
    $end target $trace
    # All flows are one to it.
    set monitor [new QueueMonitor/ED]
    $monitor set-delay-samples [new Samples]
    [$ns link $r1 $r2] attach-monitors [new SnoopQueue/In] [new SnoopQueue/Out] [new SnoopQueue/Drop] $monitor
    foreach {from to} $directions {
        if {[list $from $to] eq [list $r1 $r2]} continue
        lappend queues [$ns monitor-queue $from $to stdout]
    }
}

proc finish {} {
    global option connections queues monitor length begin took arrived
    set ran [expr {[clock microseconds] - $begin}]
    if {$option(measure)} {
        foreach seconds $took { puts "transfer $seconds" }
        set bytes 0
        foreach flow [array names arrived] { incr bytes [expr {$arrived($flow) * $length}] }
        set told {}
        foreach name {nrexmitpack_ nrexmit_ necnresponses_} {
            set sum 0
            foreach source $connections { incr sum [$source set $name] }
            lappend told $sum
        }
        puts "connection $bytes $told"
        set delays [$monitor get-delay-samples]
        set told {}
        foreach name {parrivals_ pdepartures_ pdrops_} { lappend told [$monitor set $name] }
        puts "bottleneck 1 $told [$delays mean] [$delays variance]"
        set hops [$monitor set pdepartures_]
        foreach queue $queues { incr hops [$queue set pdepartures_] }
        puts "hops $hops"
    }
    puts "took $ran"
    exit 0
}
simulate
