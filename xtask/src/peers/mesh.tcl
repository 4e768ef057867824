# A mesh under ns-2: the links of `mesh.csv`, and connections from node to node as `mesh.toml` has them.
#
#   ns mesh.tcl KEY=VALUE ...
#
# Each TCP connection begins at a random time within the first second and takes the path of the least
# propagation. It prints what `dumbbell.tcl` prints, with the queue from r1 to r2 for the bottleneck's, and
#
#   hops COUNT                                               packets that left any link's queue, with measure=1

array set option { seed 1 seconds 20 window 20 measure 1 }
source [file join [file dirname [info script]] common.tcl]
set folder [file dirname [info script]]

# What a file says, line by line.
proc lines {name} {
    global folder
    set file [open [file join $folder $name]]
    set lines [split [string trim [read $file]] \n]
    close $file
    return $lines
}

set ns [new Simulator]
proc node {name} {
    global ns nodes
    if {![info exists nodes($name)]} { set nodes($name) [$ns node] }
    return $nodes($name)
}

set directions {}
foreach line [lrange [lines mesh.csv] 1 end] {
    foreach {from to delay} [split $line ,] {}
    set ends [list [node $from] [node $to]]
    $ns duplex-link [lindex $ends 0] [lindex $ends 1] 100Mb $delay DropTail
    foreach {one other} [concat $ends [lreverse $ends]] {
        # DropTail of ns-2 holds one packet less than its limit.
        $ns queue-limit $one $other 1001
        $ns cost $one $other [string trimright $delay us]
        lappend directions $one $other
    }
}

set connections {}
foreach line [lines mesh.toml] {
    if {[regexp {^from = "(.*)"$} $line all from]} continue
    if {![regexp {^to = "(.*)"$} $line all to]} continue
    set source [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent [node $from] $source
    $ns attach-agent [node $to] $sink
    $ns connect $source $sink
    $source set fid_ 1
    set ftp [new Application/FTP]
    $ftp attach-agent $source
    $ns at [$start uniform 0 1] "$ftp start"
    lappend connections $source
}

set queues {}
if {$option(measure)} {
    set monitor [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link [node r1] [node r2]] $monitor 0
    foreach {from to} $directions {
        if {[list $from $to] eq [list [node r1] [node r2]]} continue
        lappend queues [$ns monitor-queue $from $to stdout]
    }
}

proc finish {} {
    global option connections queues monitor length begin
    set took [expr {[clock microseconds] - $begin}]
    if {$option(measure)} {
        foreach source $connections {
            set told {}
            foreach name {nrexmitpack_ nrexmit_ necnresponses_} { lappend told [$source set $name] }
            puts "connection [expr {([$source set ack_] + 1) * $length}] $told"
        }
        set hops 0
        foreach class [$monitor flows] {
            set delays [$class get-delay-samples]
            set told {}
            foreach name {parrivals_ pdepartures_ pdrops_} { lappend told [$class set $name] }
            puts "bottleneck [$class set flowid_] $told [$delays mean] [$delays variance]"
            incr hops [$class set pdepartures_]
        }
        foreach queue $queues { incr hops [$queue set pdepartures_] }
        puts "hops $hops"
    }
    puts "took $took"
    exit 0
}
simulate
