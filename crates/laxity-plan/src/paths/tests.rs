//! Paths whose bounds are worked out by hand.
