//! The HTTP status of each error, written once.

use crate::access;
use crate::error::Error;
use http::StatusCode;
use insight::NotAnswered;
use repository::{Found, GemFound};
use telemetry::{Outcome, Reason};

/// The status of an error. Most follow from the reason, which events and metrics show; three errors share a reason with others.
pub(crate) fn of(error: &Error) -> StatusCode {
    match error {
        Error::Access(access::Error::NoSuchToken(_))
        | Error::NoSuchEvent(_)
        | Error::EventOfNoNode(_)
        | Error::EventOfSilent { .. }
        | Error::NoSuchFinding { .. }
        | Error::NoSuchReceiver { .. }
        | Error::NotMuted { .. }
        | Error::NotAnswered(NotAnswered::NoHandle(_)) => StatusCode::NOT_FOUND,
        Error::Repository(repository::Error::TooManyNames) => StatusCode::UNPROCESSABLE_ENTITY,
        _ => of_reason(error.reason()),
    }
}

/// Every reason is named here, so that a new one does not compile until somebody has chosen its status.
fn of_reason(reason: Reason) -> StatusCode {
    use Reason as R;
    match reason {
        R::NoSuchOwner
        | R::NoSuchApp
        | R::ProtocolOff
        | R::NoSuchRoute
        | R::NoSuchRepository
        | R::NoSuchPackage
        | R::NoSuchFile
        | R::NoSuchVersion
        | R::BeforeItsTime
        | R::FirstSeenFull
        | R::Withdrawn => StatusCode::NOT_FOUND,
        R::Unkept => StatusCode::GONE,
        R::SignatureWrong
        | R::NotAnOwner
        | R::HiddenByPolicy
        | R::CrossSite
        | R::ScopeMissing
        | R::RuleBroken
        | R::UpstreamForbids => StatusCode::FORBIDDEN,
        R::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        R::CredentialsMissing | R::CredentialsUnknown | R::PasswordMissing | R::PasswordWrong => {
            StatusCode::UNAUTHORIZED
        }
        R::TooManyPasswords => StatusCode::TOO_MANY_REQUESTS,
        R::PackageInvalid => StatusCode::UNPROCESSABLE_ENTITY,
        R::VersionRefused | R::ChecksumDiffers | R::BodyShort | R::InputInvalid => StatusCode::BAD_REQUEST,
        R::ConditionFailed => StatusCode::PRECONDITION_FAILED,
        R::VersionTaken | R::Conflict | R::PlatformUnclear => StatusCode::CONFLICT,
        R::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        R::BodyTooSlow | R::HeadTooSlow => StatusCode::REQUEST_TIMEOUT,
        R::Unsupported => StatusCode::NOT_IMPLEMENTED,
        R::DiskNearlyFull => StatusCode::INSUFFICIENT_STORAGE,
        R::BoundFull
        | R::WaitersFull
        | R::StorePoisoned
        | R::ClockDoubted
        | R::ObjectsAway
        | R::BlobMissing
        | R::ObjectMissing
        | R::TruthUnreachable
        | R::TooManyConnections
        | R::UpstreamPaused
        | R::UpstreamUnread
        | R::UpstreamLeftAlone => StatusCode::SERVICE_UNAVAILABLE,
        R::UpstreamTimeout => StatusCode::GATEWAY_TIMEOUT,
        R::UpstreamUnreachable
        | R::UpstreamTls
        | R::UpstreamCut
        | R::UpstreamInvalid
        | R::UpstreamBehind
        | R::KojiFileMissing
        | R::UpstreamFailed
        | R::UpstreamRefused
        | R::UpstreamMisset => StatusCode::BAD_GATEWAY,
        R::Io | R::Panicked => StatusCode::INTERNAL_SERVER_ERROR,
        // Only events have these reasons; a request that is answered here has none of them. Crate `apps` answers for applications.
        R::AppBusy
        | R::AppDown
        | R::AppStarting
        | R::AppSilent
        | R::AppCut
        | R::AppInvalid
        | R::SpoolFull
        | R::Unverified
        | R::BrokeOff
        | R::TooManyOfClient
        | R::Flooded
        | R::TlsFailed
        | R::UpstreamUnasked => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The status and the outcome that `explain` shows for an answer that would be given to a GET.
pub(crate) fn foreseen(answer: Result<&Found, &Error>) -> (StatusCode, Outcome) {
    let error = match answer {
        Ok(Found::Gem(GemFound::Elsewhere(_))) => return (StatusCode::FOUND, Outcome::Redirected),
        Ok(_) => return (StatusCode::OK, Outcome::Answered),
        Err(error) => error,
    };
    let status = of(error);
    let outcome = match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => Outcome::NotFound,
        _ if status.is_client_error() => Outcome::Refused,
        // Its reply says when to try again.
        StatusCode::SERVICE_UNAVAILABLE if !error.reason().is_of_upstream() => Outcome::Shed,
        _ => Outcome::Failed,
    };
    (status, outcome)
}
