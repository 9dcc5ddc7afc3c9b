//! What settings name and do not hold: secrets and certificates. Whoever may read the environment and files reads them.

use crate::bad_setting::BadSetting;
use client::Secret;
use std::fmt;

/// Reads what settings refer to. It may read files, so it is asked where waiting keeps nobody.
pub trait References: fmt::Debug + Send + Sync {
    /// The secret behind `env:NAME` or `file:PATH`, without the end of its line.
    fn secret(&self, reference: &str) -> Result<Secret, BadSetting>;

    /// The PEM file at this path, whole.
    fn pem(&self, path: &str) -> Result<Vec<u8>, BadSetting>;
}
