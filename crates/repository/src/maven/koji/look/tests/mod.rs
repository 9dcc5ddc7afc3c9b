//! Looks at hubs in memory.

mod followed_hub;
mod hostile;
mod hub_model;
mod properties;
