//! Pages in the format HC1: the writers of docs/hc1.md under real application servers, with a real memcached or Redis, and fronts that
//! send what they wrote.

mod counters;
mod redis;
mod same;
mod served;
mod stale;
mod unwritten;
mod variants;
mod writers;
