//! The codings of a body that a client accepts (RFC 9110, 12.5.3).

use crate::cache::rules::fields::Fields;
use format::page::coding::Coding;

/// The codings that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepts {
    gzip: bool,
    brotli: bool,
    identity: bool,
}

impl Accepts {
    /// Reads `Accept-Encoding`. Without it a client gets no coding: many that send none cannot decode any.
    pub(crate) fn of(fields: &dyn Fields) -> Self {
        let (mut gzip, mut brotli, mut identity, mut others) = (None, None, None, None);
        fields.each("accept-encoding", &mut |line| {
            for element in line.split(|byte| *byte == b',') {
                let mut parts = element.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
                let name = parts.next().unwrap_or_default();
                let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
                let place = match name {
                    b"*" => &mut others,
                    _ if is("gzip") || is("x-gzip") => &mut gzip,
                    _ if is("br") => &mut brotli,
                    _ if is("identity") => &mut identity,
                    _ => continue,
                };
                let taken = !parts.any(is_refusal);
                // One that is named twice must not be refused once.
                *place = Some(place.unwrap_or(true) && taken);
            }
        });
        let named = |coding: Option<bool>| coding.or(others).unwrap_or(false);
        Self { gzip: named(gzip), brotli: named(brotli), identity: identity.or(others).unwrap_or(true) }
    }

    /// Whether it accepts a body with this coding.
    pub(crate) fn takes(self, coding: Coding) -> bool {
        match coding {
            Coding::Identity => self.identity,
            Coding::Gzip => self.gzip,
            Coding::Brotli => self.brotli,
        }
    }

    /// Whether it accepts none of them.
    pub(crate) fn is_none(self) -> bool {
        !self.gzip && !self.brotli && !self.identity
    }
}

/// Whether a parameter is a weight of 0, or one that cannot be read.
fn is_refusal(parameter: &[u8]) -> bool {
    let Some(at) = parameter.iter().position(|byte| *byte == b'=') else { return false };
    let (name, value) = (parameter[..at].trim_ascii(), parameter[at + 1..].trim_ascii());
    name.eq_ignore_ascii_case(b"q") && !value.iter().any(|byte| matches!(byte, b'1'..=b'9'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderMap, HeaderValue, header};

    fn accepts(lines: &[&'static str]) -> Accepts {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::ACCEPT_ENCODING, HeaderValue::from_static(line));
        }
        Accepts::of(&headers)
    }

    #[test]
    fn a_coding_is_accepted_unless_its_weight_is_0_and_identity_unless_it_is_refused() {
        for (lines, gzip, brotli, identity) in [
            (&[][..], false, false, true),
            (&[""], false, false, true),
            (&["gzip, deflate, br"], true, true, true),
            (&["gzip", "br;q=0.001"], true, true, true),
            (&["br;q=0, GZIP ; Q=0.5"], true, false, true),
            (&["x-gzip"], true, false, true),
            (&["*"], true, true, true),
            (&["*;q=0"], false, false, false),
            (&["gzip, *;q=0"], true, false, false),
            (&["*;q=0, identity;q=0.1"], false, false, true),
            (&["identity;q=0"], false, false, false),
            (&["br, identity;q=0.000"], false, true, false),
            (&["gzip;q=0, gzip"], false, false, true),
            (&["gzip;q="], false, false, true),
            (&["gzip;q=1.000;x=0"], true, false, true),
            (&["gzipped, brotli"], false, false, true),
        ] {
            assert_eq!(accepts(lines), Accepts { gzip, brotli, identity }, "{lines:?}");
        }
        assert!(accepts(&["identity;q=0"]).is_none() && !accepts(&["br, identity;q=0"]).is_none());
        let all = [Coding::Identity, Coding::Gzip, Coding::Brotli];
        assert_eq!(all.map(|coding| accepts(&["br"]).takes(coding)), [true, false, true]);
    }
}
