//! Which class a packet of IP belongs to, by the `match` of classes.

use laxity::packet::ClassId;
use laxity_plan::classify::Classifier;
use laxity_plan::matching::Headers;

use crate::entry::{Handle, enter_shared, free, held, make, shared};
use crate::error::{Failure, lx_error};
use crate::plan::lx_plan;
use crate::pointer::Out;
use crate::status::lx_status::{self, *};

/// The `match` of the classes of a plan. It never changes: any number of threads may use one at a
/// time.
pub struct lx_classifier(Handle<Classifier>);
held!(lx_classifier(Classifier), b"clsf", "classifier");

/// Makes the classifier of a plan, which may be freed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_classifier_new(
    plan: *const lx_plan,
    classifier: *mut *mut lx_classifier,
    error: *mut *mut lx_error,
) -> lx_status {
    make(classifier, error, || {
        // SAFETY: the caller gives NULL or a plan that is not freed.
        Ok(Classifier::new(&unsafe { shared(plan) }?.plan))
    })
}

/// Frees a classifier; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_classifier_free(classifier: *mut lx_classifier) {
    // SAFETY: the caller gives NULL or a classifier that is not freed, and that no call uses.
    unsafe { free(classifier) };
}

/// The number of the first class whose `match` holds for a packet of IP. `LX_NONE` if there is
/// none.
///
/// The `length` bytes at `packet` begin with the header of IPv4 or IPv6, and may be cut short after
/// the ports. With any other bytes, or none, the packet is not one of IP.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_classify(
    classifier: *const lx_classifier,
    packet: *const u8,
    length: usize,
    class_id: *mut u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |classifier: &Classifier| {
        // SAFETY: the caller gives NULL or a place that can be written.
        let out = unsafe { Out::new(class_id) }?;
        if length > isize::MAX as usize {
            return Err(Failure::new(
                LX_ERR_ARGUMENT,
                format_args!("no packet has {length} bytes"),
            ));
        }
        let packet = match (packet.is_null(), length) {
            (_, 0) => &[][..],
            (true, _) => return Err(Failure::new(LX_ERR_NULL, "the packet is NULL")),
            // SAFETY: the caller gives bytes that can be read.
            (false, _) => unsafe { std::slice::from_raw_parts(packet, length) },
        };
        let Some(ClassId(number)) = classifier.class(&Headers::from_ip(packet)) else {
            return Ok(LX_NONE);
        };
        out.write(number);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a classifier that is not freed.
    unsafe { enter_shared(classifier, error, body) }
}
