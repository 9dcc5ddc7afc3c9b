//! Access control: who makes a request, and whether they may.

mod caller;
mod change;
mod check;
mod credentials;
mod error;
mod hint;
pub(crate) mod name;
mod otp;
pub(crate) mod session;
mod suggested_token;
mod table;
mod tokens;

pub use caller::Caller;
pub use change::{CreatedToken, NewToken};
pub(crate) use check::{is_cross_site, refuse_browsers, refuse_cross_site, refuse_unless_from_here};
pub use credentials::{Credentials, new_secret};
pub use error::Error;
pub use otp::OtpError;
pub use table::{Token, TokenTable};
pub use tokens::Access;
