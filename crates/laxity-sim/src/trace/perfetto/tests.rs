//! Traces read back.
