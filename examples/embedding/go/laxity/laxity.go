// Package laxity schedules packets by a plan, through liblaxity.
package laxity

// #cgo pkg-config: laxity
// #include <stdlib.h>
// #include "laxity.h"
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Error says why a call failed.
type Error struct {
	Status  int
	Message string
	// Line and Column are those of a plan, from 1; 0 where there is none.
	Line, Column int
}

func (e *Error) Error() string { return e.Message }

func failed(status C.lx_status, raw *C.lx_error) error {
	if status >= 0 {
		return nil
	}
	defer C.lx_error_free(raw)
	return &Error{
		Status:  int(status),
		Message: C.GoString(C.lx_error_message(raw)),
		Line:    int(C.lx_error_line(raw)),
		Column:  int(C.lx_error_column(raw)),
	}
}

// Plan is a plan, whole and right. Any number of goroutines may use one.
type Plan struct{ raw *C.lx_plan }

// Parse reads a plan from its text; name stands before the line in messages.
func Parse(text, name string) (*Plan, error) {
	toml, called := C.CString(text), C.CString(name)
	defer C.free(unsafe.Pointer(toml))
	defer C.free(unsafe.Pointer(called))
	plan := new(Plan)
	var raw *C.lx_error
	if err := failed(C.lx_plan_parse(toml, called, nil, &plan.raw, &raw), raw); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(plan, (*Plan).Close)
	return plan, nil
}

// Close frees the plan.
func (p *Plan) Close() {
	C.lx_plan_free(p.raw)
	p.raw = nil
}

// Admitted says whether everything that the plan promises is proved to hold, and gives the whole
// proof in JSON.
func (p *Plan) Admitted() (bool, string, error) {
	var proof *C.lx_proof
	var raw *C.lx_error
	if err := failed(C.lx_plan_check(p.raw, &proof, &raw), raw); err != nil {
		return false, "", err
	}
	defer C.lx_proof_free(proof)
	var admission C.lx_admission
	var json *C.char
	C.lx_proof_admission(proof, &admission, nil)
	C.lx_proof_json(proof, &json, nil)
	runtime.KeepAlive(p)
	return admission == C.LX_ADMITTED, C.GoString(json), nil
}

// Class is the number of a class.
func (p *Plan) Class(name string) (uint32, error) {
	called := C.CString(name)
	defer C.free(unsafe.Pointer(called))
	var number C.uint32_t
	var raw *C.lx_error
	status := C.lx_plan_class(p.raw, called, &number, &raw)
	if status == C.LX_NONE {
		return 0, fmt.Errorf("the plan has no class %s", name)
	}
	return uint32(number), failed(status, raw)
}

// Packet is a packet. Times are in nanoseconds.
type Packet struct {
	Class, Flow, Length uint32
	Arrival, Handle     uint64
}

func (p Packet) c() C.lx_packet {
	return C.lx_packet{
		size: C.sizeof_lx_packet, class_id: C.uint32_t(p.Class), flow: C.uint32_t(p.Flow),
		length: C.uint32_t(p.Length), arrival: C.uint64_t(p.Arrival), handle: C.uint64_t(p.Handle),
	}
}

func packet(c *C.lx_packet) Packet {
	return Packet{
		uint32(c.class_id), uint32(c.flow), uint32(c.length), uint64(c.arrival), uint64(c.handle),
	}
}

// Scheduler is that of a plan of one link. One goroutine uses it at a time.
type Scheduler struct{ raw *C.lx_scheduler }

// NewScheduler builds the scheduler of a plan, whose random draws are made from seed.
func NewScheduler(plan *Plan, seed uint64) (*Scheduler, error) {
	scheduler := new(Scheduler)
	var raw *C.lx_error
	status := C.lx_scheduler_new(plan.raw, C.uint64_t(seed), &scheduler.raw, &raw)
	runtime.KeepAlive(plan)
	if err := failed(status, raw); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(scheduler, (*Scheduler).Close)
	return scheduler, nil
}

// Close frees the scheduler.
func (s *Scheduler) Close() {
	C.lx_scheduler_free(s.raw)
	s.raw = nil
}

// Push takes in a packet.
func (s *Scheduler) Push(now uint64, p Packet) error {
	c := p.c()
	var raw *C.lx_error
	return failed(C.lx_push(s.raw, C.uint64_t(now), &c, nil, &raw), raw)
}

// Pop chooses the packet that is sent now; false if none may be.
func (s *Scheduler) Pop(now uint64) (Packet, bool, error) {
	c := C.lx_packet{size: C.sizeof_lx_packet}
	var raw *C.lx_error
	status := C.lx_pop(s.raw, C.uint64_t(now), &c, nil, &raw)
	return packet(&c), status == C.LX_OK, failed(status, raw)
}

// NextDrop takes the oldest drop and its reason; false if there is none.
func (s *Scheduler) NextDrop() (Packet, string, bool, error) {
	c := C.lx_packet{size: C.sizeof_lx_packet}
	var reason C.uint32_t
	var raw *C.lx_error
	status := C.lx_next_drop(s.raw, &c, &reason, &raw)
	return packet(&c), C.GoString(C.lx_drop_reason_name(reason)), status == C.LX_OK, failed(status, raw)
}
