//! Pages that an application has written into memcached or Redis, served without it: a real application of Rails on unicorn with writers of ours
//! (`writer.rb`), real servers, and Ruby as the judge (`judge.rb`).

mod bypass;
mod conditional;
mod hc1;
mod outage;
mod purge;
mod recorded;
mod rubies;
mod secured;
mod seen;
mod several;
mod shop;
mod stopped;
mod unusable;
mod versions;
