//! Who causes the calls to a host: the clients and tokens with most calls, in a table of a fixed size.

use crate::hash::same;

/// The most rows. If there are more clients, the rows with most calls are right, and the others are estimates.
const ROWS_MAX: usize = 32;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    /// The address of the client.
    pub(crate) client: Box<str>,
    /// The name of its token; empty: it has none.
    pub(crate) token: Box<str>,
    /// The calls that its requests waited for.
    pub(crate) calls: u64,
}

/// The clients and tokens that cause most calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Causes {
    rows: Vec<Cause>,
    /// All calls that requests waited for.
    pub(crate) calls: u64,
}

impl Causes {
    /// Counts calls. The row with fewest calls makes room for a new one, which inherits its calls (Metwally, Agrawal, El Abbadi: Efficient
    /// Computation of Frequent and Top-k Elements in Data Streams, 2005).
    pub(crate) fn see(&mut self, client: &str, token: &str, calls: u64) {
        if calls == 0 {
            return;
        }
        self.calls += calls;
        let known = |row: &&mut Cause| same(&row.client, client) && same(&row.token, token);
        if let Some(row) = self.rows.iter_mut().find(known) {
            row.calls += calls;
            return;
        }
        let (client, token) = (client.into(), token.into());
        if self.rows.len() < ROWS_MAX {
            return self.rows.push(Cause { client, token, calls });
        }
        if let Some(row) = self.rows.iter_mut().min_by_key(|row| row.calls) {
            *row = Cause { client, token, calls: row.calls + calls };
        }
    }

    /// The rows, the one with most calls first.
    pub(crate) fn top(&self) -> Vec<&Cause> {
        let mut rows: Vec<&Cause> = self.rows.iter().collect();
        rows.sort_by(|one, other| other.calls.cmp(&one.calls).then(one.client.cmp(&other.client)));
        rows
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let all = self.calls + other.calls;
        other.rows.iter().for_each(|row| self.see(&row.client, &row.token, row.calls));
        self.calls = all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_with_most_calls_stay_however_many_others_come() {
        let mut causes = Causes::default();
        for n in 0..1000 {
            causes.see(&format!("10.0.0.{n}"), "", 1);
            causes.see("10.9.9.9", "ci", 1);
        }
        let mut twice = causes.clone();
        twice.add(&causes);
        let top = twice.top();
        assert_eq!((&*top[0].client, &*top[0].token, top[0].calls, twice.calls), ("10.9.9.9", "ci", 2000, 4000));
        assert_eq!(top.len(), ROWS_MAX);
    }
}
