//! Other languages, by the header alone.
