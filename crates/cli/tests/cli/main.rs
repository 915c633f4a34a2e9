//! Runs the real command.

#![cfg(test)]

mod chat;
mod doctor;
mod home;
mod kill;
mod plugins;
mod provider;
mod sessions;
mod streams;
mod tools;
