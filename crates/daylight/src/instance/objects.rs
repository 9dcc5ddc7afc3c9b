//! Object storage from the settings: where it is, whose credentials it gets, and how long a call may take.

use crate::config::{Bucket, Error, References, Settings};
use client::ObjectConnector;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredential, Checksum};
use object_store::{BackoffConfig, CredentialProvider, RetryConfig};
use repository::References as _;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use store::Objects;
use telemetry::Recorder;
use tokio::runtime::Handle;

/// The variables of programs for Amazon that count here, too. `object_store` knows them in lower case.
const VARIABLES: [&str; 15] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_STS",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_METADATA_ENDPOINT",
];

/// The longest time for an operation with all its retries.
const LONGEST: Duration = Duration::from_secs(30);
/// Retries of one call. A server that restarts answers again within seconds; a longer absence is told to clients.
const RETRIES: usize = 5;
const RETRY_FOR: Duration = Duration::from_secs(20);

/// The object storage of the settings; `None`: all bytes are in the data folder. No call is made. `runtime` owns the connections.
pub(crate) fn of(settings: &Settings, recorder: &Arc<Recorder>, runtime: &Handle) -> Result<Option<Objects>, Error> {
    let store = &settings.store;
    let Some(bucket) = &store.objects.0 else { return Ok(None) };
    let mut builder = AmazonS3Builder::new();
    for (name, value) in settings.references.variables(&VARIABLES) {
        if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    if let Some(url) = &store.endpoint.0 {
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, url);
    }
    if let Some(region) = &store.region.0 {
        builder = builder.with_region(region);
    }
    if let Some(reference) = &store.credentials.0 {
        let referenced = Referenced { references: settings.references.clone(), reference: reference.clone() };
        referenced.read().map_err(|why| refused(bucket, why.0, why.1))?;
        builder = builder.with_credentials(Arc::new(referenced));
    }
    let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    let endpoint = endpoint.iter().find_map(|key| builder.get_config_value(key));
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(500), max_backoff: Duration::from_secs(5), base: 2.0 };
    let built = builder
        .with_bucket_name(&bucket.name)
        .with_allow_http(endpoint.is_some_and(|url| url.starts_with("http://")))
        .with_checksum_algorithm(Checksum::SHA256)
        .with_retry(RetryConfig { backoff, max_retries: RETRIES, retry_timeout: RETRY_FOR })
        .with_http_connector(ObjectConnector::new(recorder.clone()))
        .build();
    let hint = "`store.credentials` names the credentials; without it `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` are both set or both not set";
    let built = built.map_err(|why| refused(bucket, why.to_string(), hint.to_owned()))?;
    Ok(Some(Objects {
        store: Arc::new(built),
        prefix: bucket.prefix.clone(),
        url: bucket.to_string(),
        runtime: runtime.clone(),
        local_max_bytes: store.local_bytes,
        patience: LONGEST,
    }))
}

fn refused(bucket: &Bucket, why: String, hint: String) -> Error {
    Error::Contradiction { text: format!("`store.objects` `{bucket}` cannot be used: {why}"), hint }
}

/// Credentials in a variable or a file. They are read for each call, so that a file can be replaced while the server runs.
#[derive(Debug)]
struct Referenced {
    references: References,
    reference: String,
}

impl Referenced {
    /// The credentials, or the reason and a hint.
    fn read(&self) -> Result<AwsCredential, (String, String)> {
        let secret = self.references.secret(&self.reference);
        let secret = secret.map_err(|why| (why.to_string(), why.hint().to_owned()))?;
        let (key, secret_key) = secret.expose().split_once(':').ok_or_else(|| {
            let hint = "write `ACCESS_KEY:SECRET_KEY` into it, on one line";
            (format!("`{}` has no `:` between two keys", self.reference), hint.to_owned())
        })?;
        Ok(AwsCredential { key_id: key.to_owned(), secret_key: secret_key.to_owned(), token: None })
    }
}

impl CredentialProvider for Referenced {
    type Credential = AwsCredential;

    // This is how the trait looks that `async_trait` makes.
    fn get_credential<'a, 'b>(
        &'a self,
    ) -> Pin<Box<dyn Future<Output = object_store::Result<Arc<AwsCredential>>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let error = |(why, _): (String, String)| object_store::Error::Generic { store: "S3", source: why.into() };
        Box::pin(std::future::ready(self.read().map(Arc::new).map_err(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_store_knows_each_variable() {
        for name in VARIABLES {
            assert!(name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>().is_ok(), "{name}");
        }
    }
}
