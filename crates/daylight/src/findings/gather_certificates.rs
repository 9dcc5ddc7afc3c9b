//! What findings are told about certificates: the server's own with what its authority says, and the ones of repositories for upstreams.

use crate::app::App;
use insight::{CertificateFact, ProgramFacts};
use repository::RepositoryTable;

/// Adds the certificates in use.
pub(super) fn add(app: &App, table: &RepositoryTable, facts: &mut ProgramFacts) {
    let own = app.certificates.get().into_iter().flatten();
    facts.certificates.extend(own.filter_map(|certificate| certificate.fact()));
    let shown = table.by_name.values().filter_map(|one| {
        let (name, ends) = (one.record.name.clone(), one.certificate_expires()?);
        Some(CertificateFact { name, is_of_upstream: true, begins: None, ends, is_refused: false })
    });
    facts.certificates.extend(shown);
    facts.renewal = app.acme.get().and_then(|acme| acme.renewal_fact());
}
