//! The tables in the database: the counter, the journal, notes, and the name of the cluster.
//!
//! They say nothing about packages, so they do not change when Daylight does. Bodies are `text`, never `jsonb`: segments, checks and
//! other nodes compare bytes.

/// The form of the tables below.
pub(super) const FORM: i32 = 1;

/// Makes the tables, all in one transaction. Several nodes may do this at the same time. The number of the lock is arbitrary.
///
/// `append` adds rows if the counter is still where the sender decided them. The lock of the counter's row is held until the end of
/// the transaction, so numbers, commits and what others see have one order. The function looks for its own identity, so an append whose
/// answer was lost can be sent again. The NOTIFY arrives with the commit.
pub(super) const TABLES: &str = "
SELECT pg_advisory_xact_lock(7310577131);
DO $do$ BEGIN
    IF to_regnamespace('daylight') IS NULL THEN CREATE SCHEMA daylight; END IF;
END $do$;
CREATE TABLE IF NOT EXISTS daylight.cluster (
    one int PRIMARY KEY CHECK (one = 1), id text NOT NULL, form int NOT NULL
);
CREATE TABLE IF NOT EXISTS daylight.counter (one int PRIMARY KEY CHECK (one = 1), seq bigint NOT NULL);
CREATE TABLE IF NOT EXISTS daylight.journal (
    seq bigint PRIMARY KEY, body text NOT NULL, node text NOT NULL, append bytea NOT NULL
);
CREATE TABLE IF NOT EXISTS daylight.note (name text COLLATE \"C\" PRIMARY KEY, body text NOT NULL);
INSERT INTO daylight.counter VALUES (1, 0) ON CONFLICT DO NOTHING;
CREATE OR REPLACE FUNCTION daylight.append(
    after_seq bigint, append_id bytea, by_node text, sender_ms bigint, bodies text[], OUT answer text, OUT number bigint
) LANGUAGE plpgsql AS $append$
DECLARE
    clock_ms bigint := extract(epoch FROM clock_timestamp()) * 1000;
    reached bigint;
BEGIN
    SELECT c.seq INTO STRICT reached FROM daylight.counter AS c FOR UPDATE;
    number := reached;
    IF reached <> after_seq THEN
        IF EXISTS (SELECT FROM daylight.journal AS j WHERE j.seq = after_seq + 1 AND j.append = append_id) THEN
            answer := 'taken';
        ELSE
            answer := 'moved';
        END IF;
    ELSIF abs(sender_ms - clock_ms) > 5000 THEN
        answer := 'clock';
        number := sender_ms - clock_ms;
    ELSE
        number := reached + cardinality(bodies);
        INSERT INTO daylight.journal
            SELECT reached + b.at, b.body, by_node, append_id FROM unnest(bodies) WITH ORDINALITY AS b (body, at);
        UPDATE daylight.counter SET seq = append.number;
        PERFORM pg_notify('daylight', append.number::text);
        answer := 'made';
    END IF;
END $append$;
INSERT INTO daylight.cluster VALUES (1, gen_random_uuid()::text, 1) ON CONFLICT DO NOTHING;
";

/// The state of the database before anything is read from it.
pub(super) const LOOK: &str = "
    SELECT to_regclass('daylight.cluster') IS NOT NULL AS is_set_up, pg_is_in_recovery() AS is_standby,
        current_setting('transaction_read_only') = 'on' AS is_read_only, current_setting('server_encoding') AS encoding";

/// The limits of a session. A node that is paused must not hold the lock of the counter.
pub(super) const LIMITS: &str = "
    SET lock_timeout = 2000; SET statement_timeout = 2000; SET idle_in_transaction_session_timeout = 2000;
    SET client_min_messages = 'warning'; SET default_transaction_isolation = 'read committed'; SET synchronous_commit = 'on';
    LISTEN daylight;";

/// The cluster's id and the form of the tables.
pub(super) const CLUSTER: &str = "SELECT id, form FROM daylight.cluster";

/// The number of the last row.
pub(super) const COUNTER: &str = "SELECT seq FROM daylight.counter";

/// One append.
pub(super) const APPEND: &str = "SELECT answer, number FROM daylight.append($1, $2, $3, $4, $5)";

/// The rows after a number, as many as fit into a number of rows and of bytes, but at least one.
pub(super) const ROWS: &str = "
    SELECT seq, body FROM (
        SELECT seq, body, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before FROM (
            SELECT seq, body FROM daylight.journal WHERE seq > $1 ORDER BY seq LIMIT $2
        ) AS rows
    ) AS page WHERE before < $3::bigint ORDER BY seq";
