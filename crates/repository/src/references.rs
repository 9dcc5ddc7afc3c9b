//! Secrets and certificates that settings refer to and do not contain. Only the process that may read the environment
//! and the files can read them.

use crate::bad_setting::BadSetting;
use client::Secret;
use std::fmt;

/// Reads the secrets and certificates that settings refer to. It may read files, so call it where waiting blocks
/// nobody.
pub trait References: fmt::Debug + Send + Sync {
    /// The secret behind `env:NAME` or `file:PATH`, without the end of its line.
    fn secret(&self, reference: &str) -> Result<Secret, BadSetting>;

    /// The PEM file at this path, whole.
    fn pem(&self, path: &str) -> Result<Vec<u8>, BadSetting>;
}
