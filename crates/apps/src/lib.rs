//! The front of applications that run already: requests are passed on, responses are cached as HTTP allows, and all of it is recorded.
//!
//! [`Apps`] are the applications of one listening address. Each request goes to the application of its host: its cache answers, or a
//! backend does. A backend is busy only while it works: uploads and responses are spooled here, however slow the client is.

mod answer;
mod app;
mod apps;
mod backends;
mod cache;
mod contradictions;
mod lanes;
mod options;
mod pages;
mod pass;
mod sendfile;
mod spool;
mod streams;
mod tunnel;
mod view;

pub use apps::Apps;
pub use options::{AppOptions, BadApp, LaneOptions, PageFormat, PagesOptions, Preset};
pub use view::{AppView, BackendView, CacheView, LaneView, PageServerView, PagesView};
