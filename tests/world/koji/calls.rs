//! The calls of a hub that the stand-in answers, with positional and named arguments.

use super::model::Model;
use super::rows;
use super::xml::{Call, Fault};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The arguments of a call by name.
pub(super) struct Arguments(BTreeMap<&'static str, Value>);

/// The parameters of each call, in order; those before the bar must be given.
const CALLS: [(&str, &str); 16] = [
    ("getAPIVersion", "|"),
    ("getKojiVersion", "|"),
    ("getLastEvent", "| before strict"),
    ("getEvent", "id | strict"),
    ("getTag", "tagInfo | strict event blocked"),
    ("listTags", "| build package perms queryOpts pattern"),
    ("listTagged", "tag | event inherit prefix latest package owner type strict extra draft"),
    ("listTaggedArchives", "tag | event inherit latest package type strict extra"),
    ("getLatestMavenArchives", "tag | event inherit"),
    (
        "listArchives",
        "| buildID buildrootID componentBuildrootID hostID type filename size checksum checksum_type typeInfo \
         queryOpts imageID archiveID strict",
    ),
    ("getBuild", "buildInfo | strict"),
    ("getMavenBuild", "buildInfo | strict"),
    (
        "listBuilds",
        "| packageID userID taskID prefix state volumeID source createdBefore createdAfter completeBefore \
         completeAfter type typeInfo queryOpts pattern cgID draft",
    ),
    ("queryHistory", "| tables tag build afterEvent"),
    ("tagChangedSinceEvent", "event taglist |"),
    ("getFullInheritance", "tag | event reverse"),
];

impl Arguments {
    /// Gives the arguments of a call their names. Named ones are the members of a last struct that says so.
    fn of(call: &Call) -> Result<Self, Fault> {
        let wrong = |what: String| (1019, format!("{}() {what}", call.method));
        let Some((_, names)) = CALLS.iter().find(|(method, _)| *method == call.method) else {
            return Err((1000, format!("Invalid method: {}", call.method)));
        };
        let required = names.split(' ').take_while(|word| *word != "|");
        let names: Vec<&str> = names.split(' ').filter(|word| !word.is_empty() && *word != "|").collect();
        let mut given = call.params.clone();
        let named = given.pop_if(|last| last["__starstar"] == json!(true));
        if given.len() > names.len() {
            return Err(wrong(format!("takes {} arguments, and {} are given", names.len(), given.len())));
        }
        let mut all: BTreeMap<&str, Value> = names.iter().copied().zip(given).collect();
        for (name, value) in named.iter().flat_map(|named| named.as_object().unwrap()) {
            if name == "__starstar" {
                continue;
            }
            let Some(known) = names.iter().find(|known| *known == name) else {
                return Err(wrong(format!("takes no argument '{name}'")));
            };
            if all.insert(known, value.clone()).is_some() {
                return Err(wrong(format!("has the argument '{name}' twice")));
            }
        }
        if let Some(missing) = required.into_iter().find(|name| !all.contains_key(name)) {
            return Err(wrong(format!("misses the argument '{missing}'")));
        }
        all.retain(|_, value| !value.is_null());
        Ok(Self(all))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Whether a switch is on; without the argument, this.
    fn on(&self, name: &str, otherwise: bool) -> bool {
        self.get(name).map_or(otherwise, is_on)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// A number; of another type it is a fault.
    fn number(&self, name: &str) -> Result<Option<u64>, Fault> {
        let number = |value: &Value| value.as_u64().ok_or_else(|| (1019, format!("'{name}' is no number: {value}")));
        self.get(name).map(number).transpose()
    }
}

impl Model {
    /// The answer to one call.
    pub(super) fn answer(&self, call: &Call) -> Result<Value, Fault> {
        match call.method.as_str() {
            "multiCall" => return self.several(call),
            "login" | "sslLogin" | "krbLogin" | "logout" => {
                return Err((1002, "Invalid session or bad credentials".to_owned()));
            }
            _ => {}
        }
        let given = Arguments::of(call)?;
        match call.method.as_str() {
            "getAPIVersion" => Ok(json!(1)),
            "getKojiVersion" => Ok(json!("1.35.3")),
            "getLastEvent" => self.last(given.get("before").and_then(Value::as_f64), given.on("strict", true)),
            "getEvent" => match given.number("id")?.and_then(|id| self.events.get_key_value(&id)) {
                Some((id, at)) => Ok(json!({ "id": id, "ts": at })),
                None if given.on("strict", true) => Err(none()),
                None => Ok(Value::Null),
            },
            "getTag" => self.tag(&given),
            "listTags" => self.tags(&given),
            "listTagged" => self.list_tagged(&given),
            "listTaggedArchives" => self.list_tagged_archives(&given),
            "getLatestMavenArchives" => {
                let (tag, event) = self.wanted(&given, true)?.unwrap();
                Ok(json!(self.latest_archives(tag, event, given.on("inherit", true))))
            }
            "listArchives" => Ok(json!(self.archives_by(&given))),
            "getBuild" | "getMavenBuild" => match self.find_build(given.get("buildInfo").unwrap_or(&Value::Null)) {
                Some(build) if call.method == "getBuild" => Ok(rows::build(self, build)),
                Some(build) => Ok(rows::maven_build(build)),
                None if given.on("strict", false) => Err((1000, "No such build".to_owned())),
                None => Ok(Value::Null),
            },
            "listBuilds" => Ok(json!(self.builds_by(&given))),
            "queryHistory" => self.history(&given),
            "tagChangedSinceEvent" => {
                let tags = given.get("taglist").and_then(Value::as_array).cloned().unwrap_or_default();
                let tags: Vec<u64> = tags.iter().filter_map(Value::as_u64).collect();
                Ok(json!(self.changed(given.number("event")?.unwrap_or(0), &tags)))
            }
            _ => {
                let (tag, event) = self.wanted(&given, true)?.unwrap();
                Ok(self.parents(tag, event).iter().map(|parent| rows::parent(self, parent)).collect())
            }
        }
    }

    /// Each call's answer in a list of its own, or its fault, which here has a traceback.
    fn several(&self, call: &Call) -> Result<Value, Fault> {
        let Some(calls) = call.params.first().and_then(Value::as_array) else {
            return Err((1, "<class 'TypeError'>: a call is not iterable".to_owned()));
        };
        let one = |call: &Value| {
            let params = call["params"].as_array().cloned().unwrap_or_default();
            let call = Call { method: call["methodName"].as_str().unwrap_or_default().to_owned(), params };
            match self.answer(&call) {
                Ok(value) => json!([value]),
                Err((code, said)) => {
                    let lines =
                        ["Traceback (most recent call last):\n", "  File \"/usr/share/hub/secret.py\", line 366\n"];
                    json!({ "faultCode": code, "faultString": said, "traceback": lines })
                }
            }
        };
        Ok(calls.iter().map(one).collect())
    }

    fn last(&self, before: Option<f64>, strict: bool) -> Result<Value, Fault> {
        match self.events.iter().rev().find(|(_, at)| before.is_none_or(|before| **at < before)) {
            Some((id, at)) => Ok(json!({ "id": id, "ts": at })),
            None if strict => Err(none()),
            None => Ok(Value::Null),
        }
    }

    /// The tag that is asked for, if it was there at the event that is asked for.
    fn wanted(&self, given: &Arguments, strict: bool) -> Result<Option<(u64, Option<u64>)>, Fault> {
        let (tag, event) = (given.get("tag").unwrap_or(&Value::Null), given.number("event")?);
        match self.find_tag(tag, event) {
            Some(tag) => Ok(Some((tag.id, event))),
            None if strict => Err((1000, format!("No such tagInfo: {tag}"))),
            None => Ok(None),
        }
    }

    fn tag(&self, given: &Arguments) -> Result<Value, Fault> {
        let (wanted, event) = (given.get("tagInfo").unwrap_or(&Value::Null), given.number("event")?);
        let Some(tag) = self.find_tag(wanted, event) else {
            let fault = (1000, format!("No such tagInfo: {wanted}"));
            return if given.on("strict", false) { Err(fault) } else { Ok(Value::Null) };
        };
        let mut row = rows::tag(tag);
        row["extra"] = json!({});
        if let Some(event) = event {
            row["query_event"] = json!(event);
        }
        Ok(row)
    }

    fn tags(&self, given: &Arguments) -> Result<Value, Fault> {
        let build = given
            .get("build")
            .map(|build| self.find_build(build).ok_or_else(|| (1000, format!("No such build: {build}"))));
        let build = build.transpose()?.map(|build| build.id);
        let has = |tag: u64| {
            let rows = |build: u64| {
                self.listings.iter().any(|row| row.tag == tag && row.build == build && row.life.holds(None))
            };
            build.is_none_or(rows)
        };
        let like = |name: &str| given.text("pattern").is_none_or(|pattern| rows::like(pattern, name));
        let found = self.tags.iter().filter(|tag| tag.life.holds(None) && has(tag.id) && like(&tag.name));
        Ok(found.map(rows::tag).collect())
    }

    /// Which builds are wanted, by the arguments that both lists have.
    fn list_tagged(&self, given: &Arguments) -> Result<Value, Fault> {
        let Some((tag, event)) = self.wanted(given, given.on("strict", true))? else { return Ok(json!([])) };
        let builds = self.builds_in(tag, event, given)?;
        let maven = given.text("type") == Some("maven");
        Ok(builds.iter().map(|(build, row)| rows::tagged(self, build, row, maven)).collect())
    }

    fn list_tagged_archives(&self, given: &Arguments) -> Result<Value, Fault> {
        let Some((tag, event)) = self.wanted(given, given.on("strict", true))? else { return Ok(json!([])) };
        let builds = self.builds_in(tag, event, given)?;
        let maven = given.text("type") == Some("maven");
        let archives = self.archives_of(&builds);
        let archives = archives.iter().map(|archive| rows::tagged_archive(archive, maven, given.on("extra", true)));
        let builds = builds.iter().map(|(build, row)| rows::tagged(self, build, row, maven));
        Ok(json!([archives.collect::<Vec<_>>(), builds.collect::<Vec<_>>()]))
    }
}

/// Whether a value counts as true.
pub(super) fn is_on(value: &Value) -> bool {
    value.as_bool().unwrap_or_else(|| value != &json!(0))
}

fn none() -> Fault {
    (1000, "query returned no rows".to_owned())
}
