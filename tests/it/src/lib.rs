//! Tests that need several crates or a loaded library. One binary: linking is the slow part.

#![cfg(test)]

mod failures;
mod loading;
mod panics;
mod tidy;
mod turns;
