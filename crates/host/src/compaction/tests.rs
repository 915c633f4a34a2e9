//! Whole compactions.
