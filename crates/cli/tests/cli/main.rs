//! Runs the real command.

#![cfg(test)]

mod chat;
mod doctor;
mod help;
mod home;
mod kill;
mod openclaw_store;
mod plugins;
mod provider;
mod sessions;
mod store_faults;
mod streams;
mod tools;
