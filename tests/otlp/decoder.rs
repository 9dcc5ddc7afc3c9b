//! Reads the published messages of OTLP into the JSON that OTLP/JSON has for them, as far as tests look. It shares no code with the program.

use serde_json::{Value, json};

/// A field of a message.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, by their numbers, in their order.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => Field::Number(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut bytes) as usize;
                Field::Bytes(take(&mut bytes, length))
            }
            5 => Field::Number(u32::from_le_bytes(take(&mut bytes, 4).try_into().unwrap()).into()),
            other => panic!("wire type {other}"),
        };
        all.push((key >> 3, field));
    }
    all
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = take(bytes, 1)[0];
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return value;
        }
        shift += 7;
    }
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

/// The messages in a repeated field.
fn each(bytes: &[u8], number: u64) -> Vec<&[u8]> {
    let all = fields(bytes).into_iter().filter(|(found, _)| *found == number);
    all.filter_map(|(_, field)| if let Field::Bytes(bytes) = field { Some(bytes) } else { None }).collect()
}

fn number(bytes: &[u8], wanted: u64) -> Option<u64> {
    let mut all = fields(bytes).into_iter().filter(|(found, _)| *found == wanted);
    all.find_map(|(_, field)| if let Field::Number(number) = field { Some(number) } else { None })
}

fn text(bytes: &[u8], number: u64) -> String {
    each(bytes, number).first().map_or_else(String::new, |text| std::str::from_utf8(text).unwrap().to_owned())
}

fn hex(bytes: &[u8], number: u64) -> String {
    each(bytes, number).first().map_or_else(String::new, |id| crate::world::hex(id))
}

fn value(bytes: &[u8]) -> Value {
    match fields(bytes).pop().unwrap() {
        (1, Field::Bytes(text)) => json!({ "stringValue": std::str::from_utf8(text).unwrap() }),
        (2, Field::Number(yes)) => json!({ "boolValue": yes == 1 }),
        (3, Field::Number(whole)) => json!({ "intValue": whole.cast_signed().to_string() }),
        (4, Field::Number(bits)) => json!({ "doubleValue": f64::from_bits(bits) }),
        (5, Field::Bytes(list)) => {
            json!({ "arrayValue": { "values": each(list, 1).into_iter().map(value).collect::<Vec<_>>() } })
        }
        (other, _) => panic!("a value of kind {other}"),
    }
}

fn attributes(message: &[u8], field: u64) -> Value {
    let one = |pair: &[u8]| json!({ "key": text(pair, 1), "value": value(each(pair, 2)[0]) });
    each(message, field).into_iter().map(one).collect()
}

/// `ExportTraceServiceRequest`.
pub(super) fn traces(request: &[u8]) -> Value {
    let span = |span: &[u8]| {
        json!({
            "traceId": hex(span, 1), "spanId": hex(span, 2), "traceState": text(span, 3), "parentSpanId": hex(span, 4),
            "name": text(span, 5), "kind": number(span, 6), "attributes": attributes(span, 9),
        })
    };
    let scope = |scope: &[u8]| json!({ "spans": each(scope, 2).into_iter().map(span).collect::<Vec<_>>() });
    let resource = |all: &[u8]| {
        json!({
            "resource": { "attributes": attributes(each(all, 1)[0], 1) },
            "scopeSpans": each(all, 2).into_iter().map(scope).collect::<Vec<_>>(),
        })
    };
    json!({ "resourceSpans": each(request, 1).into_iter().map(resource).collect::<Vec<_>>() })
}

/// `ExportMetricsServiceRequest`.
pub(super) fn metrics(request: &[u8]) -> Value {
    let plain = |point: &[u8]| match (number(point, 4), number(point, 6)) {
        (Some(bits), _) => json!({ "attributes": attributes(point, 7), "asDouble": f64::from_bits(bits) }),
        (_, whole) => json!({ "attributes": attributes(point, 7), "asInt": whole.unwrap_or(0).to_string() }),
    };
    let counted = |field: u64| move |point: &[u8]| json!({ "attributes": attributes(point, field), "count": number(point, 4).unwrap_or(0).to_string() });
    let points = |of: &[u8], read: &dyn Fn(&[u8]) -> Value| json!({ "dataPoints": each(of, 1).into_iter().map(read).collect::<Vec<_>>() });
    let metric = |metric: &[u8]| {
        let mut told = json!({ "name": text(metric, 1), "unit": text(metric, 3) });
        for (field, key) in [(5, "gauge"), (7, "sum"), (9, "histogram"), (10, "exponentialHistogram")] {
            if let Some(data) = each(metric, field).first() {
                told[key] = match field {
                    5 | 7 => points(data, &plain),
                    9 => points(data, &counted(9)),
                    _ => points(data, &counted(1)),
                };
            }
        }
        told
    };
    let scope = |scope: &[u8]| json!({ "metrics": each(scope, 2).into_iter().map(metric).collect::<Vec<_>>() });
    let resource = |all: &[u8]| {
        json!({
            "resource": { "attributes": attributes(each(all, 1)[0], 1) },
            "scopeMetrics": each(all, 2).into_iter().map(scope).collect::<Vec<_>>(),
        })
    };
    json!({ "resourceMetrics": each(request, 1).into_iter().map(resource).collect::<Vec<_>>() })
}
