//! The rules and the dashboard for Prometheus and Grafana: made from what the code declares, valid, and with data in real servers.

mod dashboard;
mod rules;
mod scraped;
mod shape;
mod written;
