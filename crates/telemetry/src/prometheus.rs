//! `/metrics`: the counters, histograms and bounds in Prometheus' text format.
