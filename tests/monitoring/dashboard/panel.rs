//! The panels of Grafana that the dashboard is made of, as JSON.

use serde_json::{Map, Value, json};

/// The data source that the reader of the dashboard chooses.
fn datasource() -> Value {
    json!({ "type": "prometheus", "uid": "${datasource}" })
}

/// A query. In its text `@` stands for the chosen servers: `up@` is `up{instance=~"$instance"}`, and `up@{a="b"}` has one more label.
#[derive(Clone)]
pub(super) struct Query {
    expr: String,
    /// The name of its lines, or the heading of its column.
    name: String,
}

/// A query with the name of its lines, such as `{{class}}`; in a table, the heading of its column.
pub(super) fn query(expr: impl AsRef<str>, name: &str) -> Query {
    let servers = "instance=~\"$instance\"";
    let expr = expr.as_ref().replace("@{", &format!("{{{servers},")).replace('@', &format!("{{{servers}}}"));
    Query { expr, name: name.to_owned() }
}

/// What a panel looks like.
enum Form {
    Lines { stacked: bool },
    Stat { name: bool },
    Table { columns: Vec<Column> },
}

/// The properties of a column of a table that others do not have.
pub(super) struct Column {
    name: String,
    properties: Vec<Value>,
}

impl Column {
    /// A column of figures in a unit.
    pub(super) fn unit(name: &str, unit: &str) -> Self {
        Self { name: name.to_owned(), properties: vec![json!({ "id": "unit", "value": unit })] }
    }

    /// A column of names, each shown with its description.
    pub(super) fn described<'a>(name: &str, all: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let texts: Map<String, Value> = all
            .enumerate()
            .map(|(index, (name, about))| {
                (name.to_owned(), json!({ "index": index, "text": format!("{name}: {about}") }))
            })
            .collect();
        let mappings = json!([{ "type": "value", "options": texts }]);
        let properties =
            vec![json!({ "id": "mappings", "value": mappings }), json!({ "id": "custom.width", "value": 720 })];
        Self { name: name.to_owned(), properties }
    }

    /// The same column, whose cells lead elsewhere.
    pub(super) fn link(mut self, title: &str, url: &str) -> Self {
        let link = json!({ "title": title, "url": url, "targetBlank": true });
        self.properties.push(json!({ "id": "links", "value": [link] }));
        self
    }
}

/// A panel.
pub(super) struct Panel {
    title: String,
    about: String,
    unit: &'static str,
    form: Form,
    queries: Vec<Query>,
    width: u64,
    height: u64,
    /// The largest figure that there can be.
    max: Option<f64>,
}

impl Panel {
    fn new(title: &str, unit: &'static str, form: Form, queries: Vec<Query>) -> Self {
        let (title, about) = (title.to_owned(), String::new());
        Self { title, about, unit, form, queries, width: 8, height: 8, max: None }
    }

    /// Lines over time.
    pub(super) fn lines(title: &str, unit: &'static str, queries: impl Into<Vec<Query>>) -> Self {
        Self::new(title, unit, Form::Lines { stacked: false }, queries.into())
    }

    /// Lines over time, one upon the other.
    pub(super) fn stacked(title: &str, unit: &'static str, queries: impl Into<Vec<Query>>) -> Self {
        Self::new(title, unit, Form::Lines { stacked: true }, queries.into())
    }

    /// The figure of now, large.
    pub(super) fn stat(title: &str, unit: &'static str, figure: Query) -> Self {
        Self { width: 4, height: 4, ..Self::new(title, unit, Form::Stat { name: false }, vec![figure]) }
    }

    /// The name of a series that is 1, large.
    pub(super) fn name(title: &str, figure: Query) -> Self {
        Self { width: 4, height: 4, ..Self::new(title, "none", Form::Stat { name: true }, vec![figure]) }
    }

    /// The figures of now, one row for each combination of labels, one column for each query.
    pub(super) fn table(title: &str, columns: Vec<Column>, queries: impl Into<Vec<Query>>) -> Self {
        Self { width: 24, height: 10, ..Self::new(title, "none", Form::Table { columns }, queries.into()) }
    }

    /// The same with a description.
    pub(super) fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// The same with a width, of 24.
    pub(super) fn wide(self, width: u64) -> Self {
        Self { width, ..self }
    }

    /// The same of a share, which is at most 1.
    pub(super) fn share(self) -> Self {
        Self { unit: "percentunit", max: Some(1.0), ..self }
    }

    /// Its width and its height.
    pub(super) fn size(&self) -> [u64; 2] {
        [self.width, self.height]
    }

    fn is_table(&self) -> bool {
        matches!(self.form, Form::Table { .. })
    }

    /// A letter for each query.
    fn letters(&self) -> impl Iterator<Item = (String, &Query)> {
        ('A'..='Z').map(String::from).zip(&self.queries)
    }

    fn targets(&self) -> Value {
        let now = !matches!(self.form, Form::Lines { .. });
        let target = |(letter, query): (String, &Query)| {
            let mut target = json!({
                "datasource": datasource(), "editorMode": "code", "expr": query.expr, "instant": now, "range": !now, "refId": letter,
            });
            if self.is_table() {
                target["format"] = json!("table");
            } else {
                target["legendFormat"] = json!(query.name);
            }
            target
        };
        self.letters().map(target).collect()
    }

    fn options(&self) -> Value {
        match &self.form {
            Form::Lines { .. } => json!({
                "legend": { "calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": true },
                "tooltip": { "mode": "multi", "sort": "desc" },
            }),
            Form::Stat { name } => json!({
                "colorMode": "none", "graphMode": "none", "justifyMode": "auto", "orientation": "auto",
                "percentChangeColorMode": "standard", "showPercentChange": false,
                "reduceOptions": { "calcs": ["lastNotNull"], "fields": "", "values": false },
                "textMode": if *name { "name" } else { "value_and_name" }, "wideLayout": true,
            }),
            Form::Table { .. } => {
                let last = self.queries.last().map_or("", |query| &query.name);
                json!({
                    "cellHeight": "sm", "frameIndex": 0, "showHeader": true, "sortBy": [{ "displayName": last, "desc": true }],
                })
            }
        }
    }

    fn fields(&self) -> Value {
        let custom = match &self.form {
            Form::Lines { stacked } => json!({
                "drawStyle": "line", "fillOpacity": if *stacked { 30 } else { 0 }, "lineWidth": 1, "showPoints": "never",
                "stacking": { "group": "A", "mode": if *stacked { "normal" } else { "none" } },
            }),
            Form::Table { .. } => json!({ "align": "auto", "filterable": true, "inspect": false }),
            Form::Stat { .. } => json!({}),
        };
        let mut defaults = json!({ "custom": custom, "unit": self.unit });
        if matches!(self.form, Form::Lines { .. }) {
            defaults["min"] = json!(0);
        }
        if let Some(max) = self.max {
            defaults["max"] = json!(max);
        }
        let columns = if let Form::Table { columns } = &self.form { columns.as_slice() } else { &[] };
        let special = |column: &Column| json!({ "matcher": { "id": "byName", "options": column.name }, "properties": column.properties });
        json!({ "defaults": defaults, "overrides": columns.iter().map(special).collect::<Vec<_>>() })
    }

    /// Tables get their columns from queries with the same labels.
    fn transformations(&self) -> Value {
        let value = |(letter, query): (String, &Query)| {
            let of = if self.queries.len() == 1 { "Value".to_owned() } else { format!("Value #{letter}") };
            (of, json!(query.name))
        };
        let names: Map<String, Value> = self.letters().map(value).collect();
        json!([
            { "id": "merge", "options": {} },
            { "id": "organize", "options": { "excludeByName": { "Time": true }, "indexByName": {}, "renameByName": names } },
        ])
    }

    /// Its JSON, with its number in the dashboard and its place.
    pub(super) fn json(&self, id: u64, place: [u64; 2]) -> Value {
        let kind = match self.form {
            Form::Lines { .. } => "timeseries",
            Form::Stat { .. } => "stat",
            Form::Table { .. } => "table",
        };
        let ([x, y], [w, h]) = (place, self.size());
        let mut panel = json!({
            "datasource": datasource(), "fieldConfig": self.fields(), "gridPos": { "h": h, "w": w, "x": x, "y": y }, "id": id,
            "options": self.options(), "targets": self.targets(), "title": self.title, "type": kind,
        });
        if !self.about.is_empty() {
            panel["description"] = json!(self.about);
        }
        if self.is_table() {
            panel["transformations"] = self.transformations();
        }
        panel
    }
}
