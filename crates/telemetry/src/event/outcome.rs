//! How an attempt ended, and why. The lists are closed: every attempt has one of these outcomes.

macro_rules! closed {
    ($(#[$meta:meta])* $type:ident { $($name:ident $text:literal $doc:literal;)* }) => {
        crate::closed_list! {
            $(#[$meta])*
            #[derive(Hash)]
            #[repr(u8)]
            pub enum $type { $(#[doc = $doc] $name = $text,)* }
        }

        impl $type {
            /// Its meaning, for people.
            pub fn doc(self) -> &'static str {
                match self { $($type::$name => $doc,)* }
            }
        }
    };
}

closed! {
    /// How an attempt ended. Every attempt has exactly one outcome, so their counts sum to the attempts.
    Outcome {
        Answered "answered" "A complete 2xx response";
        NotModified "not_modified" "304: the client's copy is current";
        Redirected "redirected" "A 3xx that redirects the client";
        NotFound "not_found" "404 or 410, proven";
        Refused "refused" "Another 4xx: not allowed, not valid or in conflict";
        Shed "shed" "503 with Retry-After: a bound was full";
        Failed "failed" "A 5xx: an error in Daylight or at an upstream";
        ClientGone "client_gone" "The client disconnected before the last byte";
        Malformed "malformed" "The bytes were not a valid HTTP request";
        TurnedAway "turned_away" "The connection was closed before a request was read";
        Done "done" "A background job that succeeded";
    }
}

closed! {
    /// Why an attempt ended so. It is in the event, in status pages and, where a person reads it, in the reply.
    Reason {
        NoSuchRoute "no_such_route" "No URL of Daylight has this path";
        NoSuchRepository "no_such_repository" "There is no repository with this name";
        NoSuchPackage "no_such_package" "The repository has no package with this name, or not this version of it";
        NoSuchFile "no_such_file" "The repository has no file at this path";
        NoSuchVersion "no_such_version" "The package has no such version";
        BeforeItsTime "before_its_time" "The request names an earlier moment (`NAME@TIME`), and nothing is recorded from then";
        Unkept "unkept" "The content of the requested earlier moment is no longer kept";
        FirstSeenFull "first_seen_full" "The first-seen records of the upstream were full, so it is not known whether it had the file at the requested moment";
        Withdrawn "withdrawn" "The version was yanked or deleted";
        ProtocolOff "protocol_off" "The index protocol is disabled in the repository";
        HiddenByPolicy "hidden_by_policy" "A policy hides it, or the name belongs to another member of the group";
        MethodNotAllowed "method_not_allowed" "The URL does not support this method";
        CredentialsMissing "credentials_missing" "A token is required and none was sent";
        CredentialsUnknown "credentials_unknown" "The token is unknown, expired or revoked";
        NoSuchOwner "no_such_owner" "The owner to add or remove is unknown: no token has this name, or it does not own the package";
        NotAnOwner "not_an_owner" "Only owners of the package may do this, and the last owner cannot be removed";
        PasswordMissing "password_missing" "The token requires a one-time password and none was sent";
        PasswordWrong "password_wrong" "The one-time password is wrong, expired or already used";
        TooManyPasswords "too_many_passwords" "Too many wrong one-time passwords, so none is accepted for a while";
        SignatureWrong "signature_wrong" "A webhook is not signed with the secret of its repository";
        CrossSite "cross_site" "A browser sent the request from a page of another site";
        ScopeMissing "scope_missing" "The token lacks the required scope";
        PackageInvalid "package_invalid" "The upload is not a readable package";
        RuleBroken "rule_broken" "The uploaded package breaks a rule of the repository";
        PlatformUnclear "platform_unclear" "Clients would disagree about the platform of the uploaded package";
        VersionTaken "version_taken" "The version exists with other content";
        VersionRefused "version_refused" "The repository does not accept versions of this kind";
        ChecksumDiffers "checksum_differs" "A checksum does not match the file beside it, or a header of an upload does not match its bytes";
        ConditionFailed "condition_failed" "A condition of a change (`If-Match`, `If-None-Match`, `If-Unmodified-Since`) does not hold";
        Unverified "unverified" "The upstream has no checksum of the file, or one that differs, so its content is not verified";
        TooLarge "too_large" "A part of the request exceeds its limit";
        BodyTooSlow "body_too_slow" "The client stopped sending an upload";
        BodyShort "body_short" "An upload ended before its declared length";
        InputInvalid "input_invalid" "A parameter or a body is malformed";
        Conflict "conflict" "Another request changed the same thing first";
        BoundFull "bound_full" "A pool or queue was full";
        WaitersFull "waiters_full" "Too many requests wait for an upstream: in all, for this repository, or of this client";
        DiskNearlyFull "disk_nearly_full" "Free disk space is below the floor, so writing has stopped";
        ClockDoubted "clock_doubted" "The machine's clock and the journal disagree, so nothing is written until somebody decides which is right";
        StorePoisoned "store_poisoned" "A sync failed; nothing is written until a restart";
        TruthUnreachable "truth_unreachable" "PostgreSQL cannot be used, so nothing is written, and reads may lack changes of other machines";
        BlobMissing "blob_missing" "A row points at bytes that are not on disk";
        ObjectsAway "objects_away" "Object storage cannot be reached or refuses, so packages are not published, and those without a copy on disk are not served";
        ObjectMissing "object_missing" "Object storage lacks the bytes of a published file, or gives others";
        BrokeOff "broke_off" "A download broke off while it was being sent to the client";
        Io "io" "The operating system reported an input or output error";
        Panicked "panicked" "A bug in Daylight: the request was aborted";
        TooManyConnections "too_many_connections" "The limit of open connections, or of HTTP/2 requests in progress, was reached";
        TooManyOfClient "too_many_of_client" "The limit for one client address was reached";
        Flooded "flooded" "The client sent too many frames that request nothing";
        TlsFailed "tls_failed" "The TLS handshake with the client failed";
        HeadTooSlow "head_too_slow" "The request head did not arrive in time";
        UpstreamUnreachable "upstream_unreachable" "No connection to the upstream could be made";
        UpstreamTls "upstream_tls" "The TLS handshake with the upstream failed";
        UpstreamTimeout "upstream_timeout" "The upstream did not respond in time";
        UpstreamCut "upstream_cut" "The upstream's response ended before it was complete";
        UpstreamInvalid "upstream_invalid" "The upstream's response is not a valid file of this kind";
        UpstreamBehind "upstream_behind" "The upstream's file is older than its index says";
        UpstreamFailed "upstream_failed" "The upstream responded with a 5xx";
        UpstreamRefused "upstream_refused" "The upstream refused the request: 401, 403 or another 4xx that does not prove the file absent";
        UpstreamForbids "upstream_forbids" "The upstream refused this file with 403, and answers other requests";
        UpstreamPaused "upstream_paused" "The upstream requested a pause (Retry-After)";
        UpstreamLeftAlone "upstream_left_alone" "The upstream's circuit is open after repeated failures";
        UpstreamUnasked "upstream_unasked" "Only the upstream knows, and explaining an answer sends no request to it";
        UpstreamUnread "upstream_unread" "The content of the upstream is not known yet: no look at its index has succeeded so far";
        KojiFileMissing "koji_file_missing" "The file server of a Koji hub lacks a file that the hub lists";
        UpstreamMisset "upstream_misset" "The upstream's settings cannot be used";
        NoSuchApp "no_such_app" "No application has this host name";
        AppBusy "app_busy" "All slots of the application or of its lane were taken, and too many requests waited or this one waited too long";
        AppDown "app_down" "No backend of the application accepts connections";
        AppStarting "app_starting" "The command of the application had not opened its port in time";
        AppSilent "app_silent" "A backend of the application accepted the request and did not answer in time";
        AppCut "app_cut" "A backend of the application closed its connection before its response was complete";
        AppInvalid "app_invalid" "The response of the application is not valid HTTP";
        SpoolFull "spool_full" "The spool of the application was full, or the disk under it";
        Unsupported "unsupported" "This version of Daylight does not support it";
    }
}

impl Reason {
    /// Whether an upstream is the cause: it failed, refused the request, or is not called after it failed or asked for a pause.
    pub fn is_of_upstream(self) -> bool {
        self.as_str().starts_with("upstream_")
    }
}
