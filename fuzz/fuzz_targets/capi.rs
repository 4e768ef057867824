//! The C interface, by calls with any arguments: it returns a status, and loses nothing that it
//! holds.
#![no_main]

#[path = "capi/datagrams.rs"]
mod datagrams;
#[path = "capi/udp.rs"]
mod udp;

use std::ffi::CString;
use std::ptr::null_mut;

use laxity_c::book::{lx_book_admit, lx_book_free, lx_book_json, lx_book_new, lx_request};
use laxity_c::packet::{lx_choice, lx_packet};
use laxity_c::plan::{lx_plan, lx_plan_free, lx_plan_parse, lx_plan_under};
use laxity_c::pointer::lx_text_free;
use laxity_c::scheduler::{
    lx_backlog, lx_clear, lx_has_room, lx_introduce, lx_next_drop, lx_next_time, lx_pop, lx_push,
    lx_reconfigure, lx_scheduler, lx_scheduler_free, lx_scheduler_new, lx_withdraw,
};
use laxity_c::status::lx_status::{self, *};

const PLANS: [&std::ffi::CStr; 3] = [
    c"version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'fifo'\n[class.a]\ndeadline = '5ms'\n\
      arrival = { bucket = '3kB', rate = '1mbit' }\n[class.b]\n[class.c]\n",
    c"version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'fifo'\n[class.b]\n\
      queue = { kind = 'codel', limit = 9 }\n[class.a]\n",
    c"version = 1\nlink = { rate = '1gbit', max-packet = '9000b' }\nscheduler.kind = 'fifo'\n\
      [class.c]\nqueue = { kind = 'choke', min = 3, max = 9, limit = 20 }\n[class.a]\n",
];

const SCHEDULERS: [&std::ffi::CStr; 12] = [
    c"edf",
    c"hfsc",
    c"dwcs",
    c"wf2q",
    c"wfq",
    c"drr",
    c"qfq",
    c"priority",
    c"fq-codel",
    c"dualpi2",
    c"cake",
    c"fifo",
];

/// Arguments, from the input.
struct Arguments<'a>(&'a [u8]);

impl Arguments<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number whose small values are as likely as its large ones.
    fn number(&mut self) -> Option<u64> {
        let bytes = usize::from(self.byte()? % 9);
        let (number, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

/// A plan of those above, under any discipline.
fn plan(arguments: &mut Arguments) -> Option<*mut lx_plan> {
    let text = PLANS[usize::from(arguments.byte()?) % PLANS.len()];
    let scheduler = SCHEDULERS[usize::from(arguments.byte()?) % SCHEDULERS.len()];
    let (mut read, mut plan) = (null_mut(), null_mut());
    // SAFETY: texts end, and places can be written.
    unsafe {
        let name = c"in".as_ptr();
        let parsed = lx_plan_parse(text.as_ptr(), name, null_mut(), &mut read, null_mut());
        assert_eq!(parsed, LX_OK);
        let under = lx_plan_under(read, scheduler.as_ptr(), &mut plan, null_mut());
        lx_plan_free(read);
        (under == LX_OK).then_some(plan)
    }
}

/// Calls of a scheduler until the arguments end; what came in comes out.
fn schedule(arguments: &mut Arguments) -> Option<()> {
    let first = plan(arguments)?;
    let mut scheduler: *mut lx_scheduler = null_mut();
    // SAFETY: the plan is there, and the place can be written.
    let made = unsafe { lx_scheduler_new(first, 1, &mut scheduler, null_mut()) };
    assert_eq!(made, LX_OK);
    let (mut now, mut held) = (0u64, 0i64);
    while let Some(call) = arguments.byte() {
        // SAFETY: the scheduler is there, and structs and places are of this function.
        let Some((status, left)) = (unsafe { step(scheduler, call, &mut now, arguments) }) else {
            break;
        };
        assert!(!matches!(status, LX_ERR_PANIC | LX_ERR_POISONED | LX_ERR_THREAD), "{call}");
        held += left;
    }
    // SAFETY: the scheduler and the plan are there, and are freed once.
    unsafe {
        assert_eq!(lx_clear(scheduler, first, 1, null_mut()), LX_OK);
        let mut packet = sized();
        while lx_next_drop(scheduler, &mut packet, null_mut(), null_mut()) == LX_OK {
            held -= 1;
        }
        let mut packets = 9;
        assert_eq!(lx_backlog(scheduler, &mut packets, null_mut(), null_mut()), LX_OK);
        assert_eq!((held, packets), (0, 0), "packets are lost or made up");
        lx_scheduler_free(scheduler);
        lx_plan_free(first);
    }
    Some(())
}

fn sized() -> lx_packet {
    lx_packet { size: size_of::<lx_packet>() as u32, ..lx_packet::default() }
}

/// One call, and how many packets the scheduler holds more.
///
/// # Safety
/// The scheduler is not freed.
unsafe fn step(
    scheduler: *mut lx_scheduler,
    call: u8,
    now: &mut u64,
    arguments: &mut Arguments,
) -> Option<(lx_status, i64)> {
    let mut packet = sized();
    let mut number = 0;
    let is_ok = |status: lx_status, left: i64| (status, if status == LX_OK { left } else { 0 });
    // SAFETY: the scheduler is there, and places are of this function.
    Some(unsafe {
        match call % 10 {
            0..=2 => {
                packet.class_id = u32::from(arguments.byte()? % 4);
                packet.flow = u32::from(arguments.byte()? % 8);
                packet.length = arguments.number()? as u32;
                packet.arrival = (*now).saturating_sub(arguments.number()?);
                packet.ecn = call >> 6;
                packet.ack = u16::from(call & 32) * 1025;
                is_ok(lx_push(scheduler, *now, &packet, &mut number, null_mut()), 1)
            }
            3 | 4 => {
                let mut choice = lx_choice { size: 16, ..lx_choice::default() };
                is_ok(lx_pop(scheduler, *now, &mut packet, &mut choice, null_mut()), -1)
            }
            5 => is_ok(lx_next_drop(scheduler, &mut packet, null_mut(), null_mut()), -1),
            6 => {
                *now = now.saturating_add(arguments.number()?);
                (lx_next_time(scheduler, *now, &mut number, null_mut()), 0)
            }
            7 => {
                let ticket = arguments.number()? << 32 | u64::from(arguments.byte()?);
                is_ok(lx_withdraw(scheduler, *now, ticket, &mut packet, null_mut()), -1)
            }
            8 => {
                let next = plan(arguments)?;
                let status = lx_reconfigure(scheduler, next, 1, *now, null_mut());
                lx_plan_free(next);
                (status, 0)
            }
            _ => {
                let (class, flow) = (u32::from(arguments.byte()?), u32::from(arguments.byte()?));
                lx_introduce(scheduler, class, flow, 1, 2, null_mut());
                packet.size = arguments.number()? as u32;
                (lx_has_room(scheduler, &packet, null_mut(), null_mut()), 0)
            }
        }
    })
}

/// A request with any text at any times.
fn reserve(arguments: &mut Arguments) -> Option<()> {
    let [now, from, until, commit_by] =
        [arguments.number()?, arguments.number()?, arguments.number()?, arguments.number()?];
    let keys = CString::new(arguments.0).ok()?;
    let text = c"version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'edf'\n[class.rest]\n";
    let (mut plan, mut book, mut json) = (null_mut(), null_mut(), null_mut());
    let name = c"in".as_ptr();
    let request = lx_request {
        size: size_of::<lx_request>() as u32,
        path_length: 0,
        name,
        keys: keys.as_ptr(),
        path: null_mut(),
        from,
        until,
        commit_by,
    };
    // SAFETY: texts end, places are of this function, and handles are freed once.
    unsafe {
        lx_plan_parse(text.as_ptr(), name, null_mut(), &mut plan, null_mut());
        assert_eq!(lx_book_new(plan, &mut book, null_mut()), LX_OK);
        for _ in 0..2 {
            let asked = lx_book_admit(book, now, &request, null_mut(), null_mut(), null_mut());
            assert!(!matches!(asked, LX_ERR_PANIC | LX_ERR_POISONED));
        }
        let listed = lx_book_json(book, now, &mut json, null_mut());
        assert!(matches!(listed, LX_OK | LX_ERR_TIME));
        lx_text_free(json);
        lx_book_free(book);
        lx_plan_free(plan);
    }
    Some(())
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut arguments = Arguments(bytes);
    match arguments.byte() {
        Some(kind) if kind % 4 == 3 => reserve(&mut arguments),
        Some(kind) if kind % 8 == 6 => udp::send(&mut arguments),
        Some(kind) if kind % 4 == 2 => datagrams::queue(&mut arguments),
        Some(_) => schedule(&mut arguments),
        None => None,
    };
});
