//! Tests that need several crates or a loaded library. One binary: linking is the slow part.

#![cfg(test)]

mod c_door;
mod compaction;
mod conformance;
mod crowd;
mod failures;
mod faults_cited;
mod kill;
mod loading;
mod panics;
mod probes;
mod reload;
mod shown;
mod tidy;
mod transport;
mod turns;
