//! What the bounds fear, made to happen.
