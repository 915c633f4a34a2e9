//! Tests that need several crates or a loaded library. One binary: linking is the slow part.

#![cfg(test)]

mod c_door;
mod failures;
mod loading;
mod panics;
mod probes;
mod tidy;
mod transport;
mod turns;
