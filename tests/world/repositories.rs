//! Repositories of a server under test: made, changed, listed.

use super::{Answer, World};
use serde_json::json;

impl World {
    /// Creates a repository with these settings.
    pub(crate) fn make(&self, wanted: &serde_json::Value) {
        self.admin().post_json("/api/v1/repositories", wanted).expect(201);
    }

    /// Changes these settings of a repository.
    #[track_caller]
    pub(crate) fn change(&self, name: &str, settings: &serde_json::Value) -> Answer {
        self.admin().patch_json(&format!("/api/v1/repositories/{name}"), settings).expect(200)
    }

    /// The paths of a list of files, by its path below the repositories of the API.
    pub(crate) fn contents(&self, below: &str) -> Vec<String> {
        let listed = self.admin().get(&format!("/api/v1/repositories/{below}")).expect(200).json();
        let rows = listed["contents"].as_array().unwrap().iter();
        rows.map(|row| row["path"].as_str().unwrap().to_owned()).collect()
    }

    /// Creates a remote Maven repository with this upstream.
    pub(crate) fn remote(&self, name: &str, url: &str) {
        self.remote_of("maven", name, url);
    }

    /// Creates a remote repository of any format.
    pub(crate) fn remote_of(&self, format: &str, name: &str, url: &str) {
        self.make(&json!({ "name": name, "format": format, "kind": "remote", "remote": { "urls": [url] } }));
    }

    /// Creates a group of gem repositories.
    pub(crate) fn gem_group(&self, name: &str, members: &[&str]) {
        self.make(&json!({ "name": name, "format": "gem", "kind": "group", "members": members }));
    }

    /// Creates a hosted gem repository.
    pub(crate) fn repository(&self, name: &str, private: bool) {
        self.make(&json!({ "name": name, "format": "gem", "kind": "hosted", "private": private }));
    }

    /// Creates a hosted repository that is a tree of files.
    pub(crate) fn tree(&self, name: &str, format: &str) {
        self.make(&json!({ "name": name, "format": format, "kind": "hosted" }));
    }
}
