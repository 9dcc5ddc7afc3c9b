//! How an attempt ended, and why. The lists are closed: every attempt has one of these outcomes.

macro_rules! closed {
    ($(#[$meta:meta])* $type:ident { $($name:ident $text:literal $doc:literal;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $type { $(#[doc = $doc] $name,)* }

        impl $type {
            /// All of them, in the order of declaration.
            pub const ALL: &'static [$type] = &[$($type::$name,)*];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The name used in events and metrics.
            pub fn as_str(self) -> &'static str {
                match self { $($type::$name => $text,)* }
            }

            /// What it means, for people.
            pub fn doc(self) -> &'static str {
                match self { $($type::$name => $doc,)* }
            }
        }
    };
}

closed! {
    /// How an attempt ended. Every attempt has exactly one outcome, so their counts sum to the attempts.
    Outcome {
        Answered "answered" "A 2xx with everything that was asked";
        NotModified "not_modified" "304: the client has it already";
        Redirected "redirected" "A 3xx that sends the client elsewhere";
        NotFound "not_found" "404 or 410, proven";
        Refused "refused" "Another 4xx: not allowed, not valid or in conflict";
        Shed "shed" "503 with Retry-After: a bound was full";
        Failed "failed" "A 5xx: our fault or an upstream's";
        ClientGone "client_gone" "The client left before the last byte";
        Malformed "malformed" "The bytes were not a request that HTTP allows";
        TurnedAway "turned_away" "The connection was closed before a request was read";
        Done "done" "A background job that ended well";
    }
}

closed! {
    /// Why an attempt ended so. It is in the event, in status pages and, where a person reads it, in the reply.
    Reason {
        NoSuchRoute "no_such_route" "No URL of Daylight looks like that";
        NoSuchRepository "no_such_repository" "There is no repository of that name";
        NoSuchPackage "no_such_package" "The repository has nothing of that name";
        NoSuchFile "no_such_file" "The repository has no file at that path";
        NoSuchVersion "no_such_version" "The package has no such version";
        BeforeItsTime "before_its_time" "It was asked for as of a moment at which nothing was known of it";
        Unkept "unkept" "What it was at the moment that was asked for is not kept";
        FirstSeenFull "first_seen_full" "Whether the upstream had it at that moment was not written down, as the budget for that was used up";
        Withdrawn "withdrawn" "The version was yanked or deleted";
        ProtocolOff "protocol_off" "The index protocol is switched off in the repository";
        HiddenByPolicy "hidden_by_policy" "A policy, or whose the name is, hides it from this view";
        MethodNotAllowed "method_not_allowed" "The URL does not take that method";
        CredentialsMissing "credentials_missing" "A token is needed and none was sent";
        CredentialsUnknown "credentials_unknown" "The token is not known, expired or revoked";
        NoSuchOwner "no_such_owner" "Nobody of that name has a token, or owns the package";
        NotAnOwner "not_an_owner" "Only owners of the package may do that, and one must stay";
        PasswordMissing "password_missing" "The token demands a one-time password and none was sent";
        PasswordWrong "password_wrong" "The one-time password is not that of this moment, or was used";
        TooManyPasswords "too_many_passwords" "Too many one-time passwords were wrong, so none is looked at for a while";
        SignatureWrong "signature_wrong" "A hook is not signed with the secret of its repository";
        CrossSite "cross_site" "A browser sent it for a page of another site";
        ScopeMissing "scope_missing" "The token lacks the scope";
        PackageInvalid "package_invalid" "What was uploaded is not a package that can be read";
        RuleBroken "rule_broken" "The uploaded package breaks a rule";
        PlatformUnclear "platform_unclear" "Clients would disagree about the platform of the uploaded package";
        VersionTaken "version_taken" "The version exists with other bytes";
        VersionRefused "version_refused" "The repository does not take versions of that kind";
        ChecksumDiffers "checksum_differs" "A checksum is not that of the file that it is beside";
        Unverified "unverified" "The upstream tells no checksum of the file, so nothing proves its bytes";
        TooLarge "too_large" "Something sent is over its limit";
        BodyTooSlow "body_too_slow" "An upload stopped arriving";
        BodyShort "body_short" "An upload ended before its announced length";
        InputInvalid "input_invalid" "A parameter or a body does not have the right form";
        Conflict "conflict" "Someone else changed the same thing first";
        BoundFull "bound_full" "A pool or queue was full";
        WaitersFull "waiters_full" "Too many requests wait for an upstream already: in all, for this repository, or of this client";
        DiskNearlyFull "disk_nearly_full" "Free space is below the floor, so writing has stopped";
        StorePoisoned "store_poisoned" "A sync failed; nothing is written until a restart";
        BlobMissing "blob_missing" "A row points at bytes that are not on disk";
        BrokeOff "broke_off" "What a client was sent while it arrived here broke off";
        Io "io" "The machine refused an input or output";
        Panicked "panicked" "A defect of ours: the request was given up";
        TooManyConnections "too_many_connections" "The limit of open connections, and of requests under way on HTTP/2, was reached";
        TooManyOfClient "too_many_of_client" "The same limit for one address was reached";
        Flooded "flooded" "The connection brought frame after frame that asks for nothing";
        TlsFailed "tls_failed" "The client and this server did not come to a TLS connection";
        HeadTooSlow "head_too_slow" "The head of a request did not arrive in time";
        UpstreamUnreachable "upstream_unreachable" "There was no connection to the upstream";
        UpstreamTls "upstream_tls" "The upstream and this server did not come to a TLS connection";
        UpstreamTimeout "upstream_timeout" "The upstream did not answer, or not fast enough";
        UpstreamCut "upstream_cut" "The upstream's answer ended before it was complete";
        UpstreamInvalid "upstream_invalid" "What the upstream said cannot be what was asked for";
        UpstreamBehind "upstream_behind" "The upstream's file is older than its index says";
        UpstreamFailed "upstream_failed" "The upstream said that it failed: a 5xx";
        UpstreamRefused "upstream_refused" "The upstream did not let us have it: 401, 403 or another 4xx that proves nothing";
        UpstreamPaused "upstream_paused" "The upstream asked not to be called for a while";
        UpstreamLeftAlone "upstream_left_alone" "The upstream did not answer, or failed again and again, and is left alone for a while";
        UpstreamUnasked "upstream_unasked" "It is not known without asking the upstream, and that is not asked to explain an answer";
        UpstreamMisset "upstream_misset" "The upstream's settings cannot be used";
        Unsupported "unsupported" "This version of Daylight does not do that yet";
    }
}
