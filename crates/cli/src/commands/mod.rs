//! The commands, one file each.

pub(crate) mod agent;
pub(crate) mod chat;
pub(crate) mod completion;
pub(crate) mod doctor;
pub(crate) mod man;
pub(crate) mod plugins;
pub(crate) mod sessions;
