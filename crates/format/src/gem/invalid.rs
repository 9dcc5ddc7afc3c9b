//! The reasons for refusing a package. `gem push` prints the text, so it addresses the author of the gem.

/// The reason why an upload, or a name, version or requirement from a client, is invalid.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    /// Reading failed, which says nothing about the package.
    #[error("the package could not be read to its end")]
    Unreadable(#[source] std::io::Error),
    /// The first block is not a ustar header.
    #[error("this is not a gem: it does not begin with a ustar header")]
    NotAnArchive,
    /// A later header is invalid, or uses an extension of tar.
    #[error("the package has a damaged or unsupported tar header: {0}")]
    BadHeader(&'static str),
    /// The bytes end too early.
    #[error("the package is cut short: it ends within {0}")]
    Truncated(String),
    /// There are bytes after the end of the archive.
    #[error("the package has bytes after its end")]
    TrailingBytes,
    /// A member is a link, a folder or a device.
    #[error("`{0}` is not a regular file, but all members of a gem must be")]
    NotAFile(String),
    /// A member that no gem has.
    #[error("the package has an unknown member `{0}`")]
    UnknownMember(String),
    /// Two readers could see different gems.
    #[error("the package has the member `{0}` twice")]
    DuplicateMember(&'static str),
    /// A member that every gem has is missing.
    #[error("the package has no `{0}`")]
    MissingMember(&'static str),
    /// The gem was built before `metadata.gz` existed.
    #[error("the package has an uncompressed `metadata`, as RubyGems before 1.0 wrote it; this is not supported")]
    OldLayout,
    /// A member that is read into memory exceeds the limit, packed or unpacked.
    #[error("`{member}` is larger than {limit_bytes} bytes")]
    MemberTooLarge {
        /// The member.
        member: &'static str,
        /// The limit.
        limit_bytes: u64,
    },
    /// The member is not one gzip stream from its first to its last byte.
    #[error("`{0}` is not a valid gzip file")]
    BadGzip(&'static str),
    /// The member's text is not UTF-8.
    #[error("`{0}` is not UTF-8 text")]
    NotUtf8(&'static str),
    /// `checksums.yaml.gz` does not have the right form.
    #[error("`checksums.yaml.gz` does not map algorithms to checksums of members")]
    BadChecksums,
    /// There is no SHA-256 or SHA-512 for the member.
    #[error("`checksums.yaml.gz` has no SHA256 or SHA512 checksum for `{0}`")]
    MissingChecksum(&'static str),
    /// The content of the member does not match its checksum.
    #[error("the {algorithm} checksum of `{member}` does not match `checksums.yaml.gz`")]
    WrongChecksum {
        /// The member.
        member: &'static str,
        /// The algorithm.
        algorithm: &'static str,
    },
    /// A checksum of a member that does not exist: clients fail on it.
    #[error("`checksums.yaml.gz` has a checksum for {0}, which is not a checksummed member of the package")]
    UnknownChecksum(String),
    /// A signed gem has a certificate chain and a signature of each member.
    #[error("the package is signed only in part: a signed gem has a certificate chain and a signature of each member")]
    SignedInPart,
    /// There is a certificate chain, but no signature.
    #[error("the gemspec has a `cert_chain`, and the package has no signatures")]
    Unsigned,
    /// Not YAML.
    #[error("line {line} of `{member}` is not valid YAML: {why}")]
    BadYaml {
        /// The member.
        member: &'static str,
        /// Counted from 1.
        line: usize,
        /// The message of the parser.
        why: String,
    },
    /// An alias: a few bytes of aliases can expand to gigabytes.
    #[error("`{0}` has YAML aliases")]
    Aliases(&'static str),
    /// A directive that renames tags. Gems have none.
    #[error("`{0}` has a `%TAG` directive, which is not allowed in a gem")]
    TagDirective(&'static str),
    /// An object that no gemspec needs. This server never instantiates it, but clients might.
    #[error("the YAML tag {0} is not allowed in a gem")]
    ForbiddenTag(String),
    /// Nesting, number of values or length of a value exceeds the limit.
    #[error("`{member}` has {what}")]
    YamlTooLarge {
        /// The member.
        member: &'static str,
        /// The exceeded limit.
        what: &'static str,
    },
    /// Two readers could see different values.
    #[error("`{member}` has the key {key} twice")]
    DuplicateKey {
        /// The member.
        member: &'static str,
        /// The key, quoted.
        key: String,
    },
    /// The gemspec lacks a field.
    #[error("the gemspec has no `{0}`")]
    MissingField(&'static str),
    /// A field of the gemspec has a value of the wrong kind.
    #[error("`{field}` of the gemspec must be {expected}")]
    BadField {
        /// The field.
        field: &'static str,
        /// The expected value.
        expected: &'static str,
    },
    /// A text of the gemspec exceeds its limit.
    #[error("`{field}` of the gemspec is longer than {limit} characters")]
    TextTooLong {
        /// The field.
        field: &'static str,
        /// The limit, in characters.
        limit: usize,
    },
    /// A text of the gemspec contains characters that control a terminal.
    #[error("`{0}` of the gemspec has control characters")]
    ControlCharacters(&'static str),
    /// A list or a mapping of the gemspec exceeds its limit.
    #[error("the gemspec has more than {limit} `{field}`")]
    TooMany {
        /// The field.
        field: &'static str,
        /// The limit.
        limit: usize,
    },
    /// Each part is within its limit, but their sum is not.
    #[error("the gemspec without its lists of files is larger than {limit_bytes} bytes")]
    FactsTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// A gem's name breaks a rule.
    #[error("the gem name {name} {why}")]
    BadName {
        /// The name, quoted.
        name: String,
        /// The rule.
        why: &'static str,
    },
    /// The text is not a version.
    #[error("{0} is not a valid version")]
    BadVersion(String),
    /// The text is not a platform.
    #[error("{0} is not a valid platform")]
    BadPlatform(String),
    /// A platform that clients would mistake for another one.
    #[error("malformed platform attributes: {0}")]
    UnclearPlatform(&'static str),
    /// The text is not a requirement.
    #[error("{0} is not a valid requirement")]
    BadRequirement(String),
    /// A link in the metadata is not a URL.
    #[error("metadata `{0}` must be an http or https link")]
    BadLink(&'static str),
}

/// The kind of fault, which decides the status of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The file is not a gem, is damaged, or can be read in more than one way.
    Package,
    /// The gemspec has YAML aliases, which RubyGems wrote for years. The answer has its own text.
    Aliases,
    /// It is a gem, but its gemspec breaks a rule.
    Rule,
    /// It is a gem, but clients would disagree about its platform.
    Platform,
}

impl Invalid {
    /// The kind of fault.
    pub fn fault(&self) -> Fault {
        match self {
            Invalid::Aliases(_) => Fault::Aliases,
            Invalid::UnclearPlatform(_) => Fault::Platform,
            Invalid::Unsigned
            | Invalid::MissingField(_)
            | Invalid::TextTooLong { .. }
            | Invalid::ControlCharacters(_)
            | Invalid::TooMany { .. }
            | Invalid::FactsTooLarge { .. }
            | Invalid::BadName { .. }
            | Invalid::BadPlatform(_)
            | Invalid::BadRequirement(_)
            | Invalid::BadLink(_) => Fault::Rule,
            _ => Fault::Package,
        }
    }

    /// What the author can do about the fault.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Invalid::NotAnArchive => "push the file that `gem build` wrote, not the gemspec",
            Invalid::BadHeader(_) | Invalid::NotAFile(_) | Invalid::UnknownMember(_) | Invalid::DuplicateMember(_) => {
                "build the package with `gem build`"
            }
            Invalid::Truncated(_)
            | Invalid::BadGzip(_)
            | Invalid::WrongChecksum { .. }
            | Invalid::UnknownChecksum(_) => {
                "the file may have been damaged in transit: build it again, and try `gem install --local` with it"
            }
            Invalid::MissingChecksum(_) | Invalid::OldLayout | Invalid::Aliases(_) | Invalid::TrailingBytes => {
                "rebuild the gem with a current RubyGems; if it was published elsewhere before, an admin imports it as \
                 it is: `daylight import gems`"
            }
            Invalid::MissingMember(_) => "rebuild the gem with a current RubyGems",
            Invalid::SignedInPart | Invalid::Unsigned => {
                "build the gem with its signing key present, or without `cert_chain`"
            }
            Invalid::BadVersion(_) => {
                "a version consists of numbers and letters between dots, such as `1.0.2` or `2.0.0.rc1`"
            }
            Invalid::UnclearPlatform(_) => {
                "set the platform that it was built for, such as `x86_64-linux`, or `ruby` for all"
            }
            Invalid::BadRequirement(_) => "a requirement consists of an operator and a version, such as `~> 1.2`",
            _ => return None,
        })
    }

    /// Whether reading failed, so that the package itself may be valid.
    pub fn is_ours(&self) -> bool {
        matches!(self, Invalid::Unreadable(_))
    }
}

/// `text` in backticks, escaped and cut, so that untrusted bytes are safe in a message.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 64;
    let cut = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    let shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    format!("`{shown}{cut}`")
}
