//! Runs the real command.

#![cfg(test)]

mod home;
mod kill;
mod plugins;
mod provider;
