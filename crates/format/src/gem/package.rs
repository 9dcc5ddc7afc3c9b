//! Reads the file that `gem build` writes: a tar archive of the gemspec, the content and their checksums.
//!
//! The content (`data.tar.gz`) is only hashed; [`super::content`] unpacks it for people. All other members are small.

use super::archive::Archive;
use super::invalid::quoted;
use super::limits::Limits;
use super::standard::Standard;
use super::yaml::{self, Node, Value};
use super::{Invalid, Package, Version, gemspec};
use flate2::bufread::GzDecoder;
use sha2::{Digest as _, Sha256, Sha512};
use std::fmt::Write as _;
use std::io::Read;

const METADATA: &str = "metadata.gz";
/// The gemspec of RubyGems before 1.0, uncompressed.
const PLAIN_METADATA: &str = "metadata";
pub(super) const DATA: &str = "data.tar.gz";
const CHECKSUMS: &str = "checksums.yaml.gz";
const SIGNATURES: [&str; 3] = ["metadata.gz.sig", "data.tar.gz.sig", "checksums.yaml.gz.sig"];

/// Reads a package that is pushed to its last byte, and returns its facts.
pub fn read(reader: impl Read, limits: &Limits) -> Result<Package, Invalid> {
    read_by(reader, limits, Standard::Push)
}

/// Reads a package that was published elsewhere: one that installs, even if it could not be pushed. Its name may break
/// the rules for new names. Bytes after its end are not read.
pub fn read_installable(reader: impl Read, limits: &Limits) -> Result<Package, Invalid> {
    read_by(reader, limits, Standard::Install)
}

/// Reads only the gemspec of a package whose bytes are proven, up to its end. The content is not read if it comes later, as
/// RubyGems writes it.
pub fn read_gemspec(reader: impl Read, limits: &Limits) -> Result<Package, Invalid> {
    let mut archive = Archive::new(reader, Standard::Install);
    while let Some((name, size)) = archive.next()? {
        let Some(name) = [METADATA, PLAIN_METADATA].into_iter().find(|known| *known == name) else { continue };
        if size > limits.member_bytes {
            return Err(Invalid::MemberTooLarge { member: name, limit_bytes: limits.member_bytes });
        }
        let metadata = member(&mut archive, name, true)?.yaml(limits, Standard::Install)?;
        return gemspec::read(&metadata, limits, Standard::Install).map(|(package, _)| package);
    }
    Err(Invalid::MissingMember(METADATA))
}

fn read_by(reader: impl Read, limits: &Limits, standard: Standard) -> Result<Package, Invalid> {
    let mut archive = Archive::new(reader, standard);
    let mut seen: Vec<Member> = Vec::new();
    while let Some((name, size)) = archive.next()? {
        let all = [METADATA, DATA, CHECKSUMS, PLAIN_METADATA].into_iter().chain(SIGNATURES);
        let known = all.into_iter().find(|known| *known == name);
        let name = match (known, standard) {
            (Some(PLAIN_METADATA), Standard::Push) => return Err(Invalid::OldLayout),
            (Some(name), _) => name,
            (None, Standard::Push) => return Err(Invalid::UnknownMember(name)),
            (None, Standard::Install) => continue,
        };
        if seen.iter().any(|member| member.name == name) {
            return Err(Invalid::DuplicateMember(name));
        }
        let keep = [METADATA, PLAIN_METADATA, CHECKSUMS].contains(&name);
        if name != DATA && size > limits.member_bytes {
            return Err(Invalid::MemberTooLarge { member: name, limit_bytes: limits.member_bytes });
        }
        seen.push(member(&mut archive, name, keep)?);
    }
    let find = |name| seen.iter().find(|member| member.name == name);
    let metadata = match (find(METADATA), find(PLAIN_METADATA)) {
        (Some(_), Some(_)) => return Err(Invalid::DuplicateMember(METADATA)),
        (packed, plain) => packed.or(plain).ok_or(Invalid::MissingMember(METADATA))?,
    };
    let data = find(DATA).ok_or(Invalid::MissingMember(DATA))?;
    let checksums = find(CHECKSUMS);
    if let Some(checksums) = checksums {
        let given = checksums.yaml(limits, standard)?;
        of_members(&given)?;
        metadata.verify(&given, standard)?;
        data.verify(&given, standard)?;
    }
    let (mut package, certified) = gemspec::read(&metadata.yaml(limits, standard)?, limits, standard)?;
    let signatures = SIGNATURES.into_iter().filter(|name| find(name).is_some()).count();
    if standard == Standard::Push {
        if checksums.is_none() && !may_lack_checksums(&package) {
            return Err(Invalid::MissingMember(CHECKSUMS));
        }
        // Gems of RubyGems before 2.0 have no checksums, so they have one signature less.
        let complete = if checksums.is_some() { SIGNATURES.len() } else { SIGNATURES.len() - 1 };
        match (certified, signatures) {
            (false, 0) => {}
            (true, 0) => return Err(Invalid::Unsigned),
            (true, count) if count == complete => {}
            _ => return Err(Invalid::SignedInPart),
        }
    }
    package.signed = certified && signatures > 0;
    match serde_json::to_vec(&package) {
        Ok(facts) if facts.len() <= limits.facts_bytes => Ok(package),
        _ => Err(Invalid::FactsTooLarge { limit_bytes: limits.facts_bytes }),
    }
}

/// RubyGems writes checksums since 2.0.
fn may_lack_checksums(package: &Package) -> bool {
    let built_by = package.rubygems_version.as_deref().and_then(|text| Version::parse(text).ok());
    built_by.zip(Version::parse("2.0.0.a").ok()).is_some_and(|(built_by, since)| built_by < since)
}

/// Only the gemspec and the content may have checksums, because RubyGems looks for every member that has one.
fn of_members(given: &Node) -> Result<(), Invalid> {
    let Value::Map(algorithms) = &given.value else { return Err(Invalid::BadChecksums) };
    for (_, sums) in algorithms {
        let Value::Map(sums) = &sums.value else { return Err(Invalid::BadChecksums) };
        if let Some((name, _)) =
            sums.iter().find(|(name, _)| ![METADATA, PLAIN_METADATA, DATA].contains(&name.as_str()))
        {
            return Err(Invalid::UnknownChecksum(quoted(name)));
        }
    }
    Ok(())
}

/// A member that has been read completely.
struct Member {
    name: &'static str,
    /// Its bytes, if they are needed later.
    bytes: Vec<u8>,
    sha256: String,
    sha512: String,
}

fn member(archive: &mut Archive<impl Read>, name: &'static str, keep: bool) -> Result<Member, Invalid> {
    let (mut sha256, mut sha512) = (Sha256::new(), Sha512::new());
    // Grows with the bytes that arrive, and not with the size that the header claims.
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = archive.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        sha256.update(&buffer[..read]);
        sha512.update(&buffer[..read]);
        if keep {
            bytes.extend_from_slice(&buffer[..read]);
        }
    }
    Ok(Member { name, bytes, sha256: hex(&sha256.finalize()), sha512: hex(&sha512.finalize()) })
}

impl Member {
    /// Checks the member against each of its checksums; a pushed gem must have one. RubyGems 2.0 wrote SHA1, which
    /// proves nothing, and SHA512.
    fn verify(&self, given: &Node, standard: Standard) -> Result<(), Invalid> {
        let mut verified = standard.is_install();
        for (algorithm, computed) in [("SHA256", &self.sha256), ("SHA512", &self.sha512)] {
            let Some(sums) = given.get(algorithm) else { continue };
            match sums.get(self.name).map(|sum| &sum.value) {
                None if matches!(sums.value, Value::Map(_)) => {}
                Some(Value::Text(sum)) if sum == computed => verified = true,
                Some(Value::Text(_)) => return Err(Invalid::WrongChecksum { member: self.name, algorithm }),
                _ => return Err(Invalid::BadChecksums),
            }
        }
        if verified { Ok(()) } else { Err(Invalid::MissingChecksum(self.name)) }
    }

    fn yaml(&self, limits: &Limits, standard: Standard) -> Result<Node, Invalid> {
        let mut unpacked = Vec::new();
        if self.name == PLAIN_METADATA {
            return yaml::read(self.name, &String::from_utf8_lossy(&self.bytes), limits, standard);
        }
        let mut gzip = GzDecoder::new(self.bytes.as_slice());
        let unpacking = (&mut gzip).take(limits.member_bytes + 1).read_to_end(&mut unpacked);
        if unpacked.len() as u64 > limits.member_bytes {
            return Err(Invalid::MemberTooLarge { member: self.name, limit_bytes: limits.member_bytes });
        }
        // Some readers would read bytes after the first gzip stream; Ruby's ignores them.
        if unpacking.is_err() || !gzip.into_inner().is_empty() && standard == Standard::Push {
            return Err(Invalid::BadGzip(self.name));
        }
        let text = match String::from_utf8(unpacked) {
            Ok(text) => text,
            Err(error) if standard.is_install() => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            Err(_) => return Err(Invalid::NotUtf8(self.name)),
        };
        yaml::read(self.name, &text, limits, standard)
    }
}

/// Hexadecimal digits in lower case.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
