//! The tables in the database: the counter, the journal, notes, the name of the cluster; and, not synced, nodes and leases.
//!
//! They say nothing about packages, so they do not change when Daylight does. Bodies are `text`, never `jsonb`: segments, checks and
//! other nodes compare bytes.

/// The form of the tables below. Form 1 had no nodes and no leases.
pub(super) const FORM: i32 = 2;

/// Makes the tables, or brings those of an earlier form to this one, all in one transaction. Several nodes may do this at the same time.
/// The number of the lock is arbitrary.
///
/// `append` adds rows if the counter is still where the sender decided them. The lock of the counter's row is held until the end of
/// the transaction, so numbers, commits and what others see have one order. The function looks for its own identity, so an append whose
/// answer was lost can be sent again. The NOTIFY arrives with the commit. `others` is the number of other nodes that call answers
/// fresh; -1: it is not known, because the table of nodes was emptied a moment ago.
///
/// It answers `wait` where another node has to write first: a database that was promoted or has crashed may lack rows that a node has, and the
/// node puts them back (`puts_back`), unless others have taken their numbers. So nothing else is written until every living node can have
/// connected and beaten, and while one of them has seen more than the database has. A node whose batch was decided again too often, because
/// others are quicker (`lost`), has the next second for itself, or until it has written.
///
/// The tables of nodes and leases are `UNLOGGED`: a beat syncs nothing. A crash of PostgreSQL empties them, and so they are on a promoted
/// standby; `daylight.nodes_since` is empty then, too, and the first beat says there when the table of nodes began again.
///
/// `beat` writes the row of a node, unless another node has its name: one whose row was not seen to stand still (`stands_at`), and that has
/// another folder. A node may call answers fresh only if all other nodes can know of it. So one that begins to (`joined`) waits for
/// `barrier` before it relies on the counter: all appends that did not find its row are over then. `its_number` grows with each beat of an
/// instance: one that is executed after a later one, over a connection that has ended, changes nothing.
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
CREATE UNLOGGED TABLE IF NOT EXISTS daylight.node (
    name text COLLATE \"C\" PRIMARY KEY, instance text NOT NULL, folder text NOT NULL, beat bigint NOT NULL, seen bigint NOT NULL,
    fresh boolean NOT NULL, state text NOT NULL, url text NOT NULL, version text NOT NULL, form int NOT NULL, at timestamptz NOT NULL
) WITH (fillfactor = 50);
ALTER TABLE daylight.node ADD COLUMN IF NOT EXISTS number bigint NOT NULL DEFAULT 0, ADD COLUMN IF NOT EXISTS turn timestamptz;
CREATE UNLOGGED TABLE IF NOT EXISTS daylight.lease (
    name text COLLATE \"C\" PRIMARY KEY, node text NOT NULL, instance text NOT NULL
);
DO $do$ BEGIN
    IF to_regclass('daylight.nodes_since') IS NULL THEN
        CREATE UNLOGGED TABLE daylight.nodes_since (one int PRIMARY KEY CHECK (one = 1), at timestamptz NOT NULL);
        INSERT INTO daylight.nodes_since VALUES (1, '-infinity');
    END IF;
END $do$;
DROP FUNCTION IF EXISTS daylight.append(bigint, bytea, text, bigint, text[]);
DROP FUNCTION IF EXISTS daylight.append(bigint, bytea, text, text, bigint, text[]);
DROP FUNCTION IF EXISTS daylight.beat(text, text, text, bigint, bigint, boolean, text, text, text, int, boolean, text[]);
CREATE OR REPLACE FUNCTION daylight.others(than text) RETURNS bigint LANGUAGE sql AS $others$
    SELECT CASE WHEN EXISTS (SELECT FROM daylight.nodes_since AS s WHERE s.at < clock_timestamp() - interval '1100 milliseconds')
        THEN (SELECT count(*) FROM daylight.node AS n WHERE n.fresh AND n.instance <> than) ELSE -1 END
$others$;
CREATE OR REPLACE FUNCTION daylight.append(
    after_seq bigint, append_id bytea, by_node text, by_instance text, sender_ms bigint, puts_back boolean, lost int, bodies text[],
    OUT answer text, OUT number bigint, OUT others bigint
) LANGUAGE plpgsql AS $append$
DECLARE
    clock_ms bigint := extract(epoch FROM clock_timestamp()) * 1000;
    reached bigint;
    fresh bigint;
BEGIN
    SELECT c.seq INTO STRICT reached FROM daylight.counter AS c FOR UPDATE;
    number := reached;
    fresh := daylight.others(by_instance);
    IF reached > after_seq AND EXISTS (SELECT FROM daylight.journal AS j WHERE j.seq = after_seq + 1 AND j.append = append_id) THEN
        answer := 'taken';
    ELSIF NOT puts_back AND (fresh < 0 OR EXISTS (
        SELECT FROM daylight.node AS n
        WHERE n.instance <> by_instance AND n.state <> 'gone' AND (n.seen > reached OR n.turn BETWEEN clock_timestamp() AND clock_timestamp() + interval '1 second')
    )) THEN
        answer := 'wait';
    ELSIF reached <> after_seq THEN
        answer := 'moved';
        IF lost >= 8 THEN
            UPDATE daylight.node AS n SET turn = clock_timestamp() + interval '1 second' WHERE n.instance = by_instance;
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
        others := fresh;
        IF lost >= 8 THEN
            UPDATE daylight.node AS n SET turn = NULL WHERE n.instance = by_instance;
        END IF;
    END IF;
END $append$;
CREATE OR REPLACE FUNCTION daylight.beat(
    by_node text, by_instance text, its_number bigint, by_folder text, stands_at bigint, has_seen bigint, is_fresh boolean, in_state text, its_url text,
    its_version text, its_form int, tells boolean, wants text[],
    OUT is_ours boolean, OUT joined boolean, OUT counter bigint, OUT others bigint, OUT nodes text, OUT leases text
) LANGUAGE plpgsql AS $beat$
DECLARE
    was daylight.node%ROWTYPE;
BEGIN
    UPDATE daylight.nodes_since SET at = clock_timestamp() WHERE at > clock_timestamp();
    SELECT n.* INTO was FROM daylight.node AS n WHERE n.name = by_node FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO daylight.nodes_since VALUES (1, clock_timestamp()) ON CONFLICT DO NOTHING;
        INSERT INTO daylight.node
            VALUES (by_node, by_instance, by_folder, 0, 0, false, 'gone', its_url, its_version, its_form, clock_timestamp())
            ON CONFLICT DO NOTHING;
        SELECT n.* INTO STRICT was FROM daylight.node AS n WHERE n.name = by_node FOR UPDATE;
    END IF;
    is_ours := was.instance = by_instance OR was.folder = by_folder OR was.state = 'gone' OR was.beat IS NOT DISTINCT FROM stands_at;
    joined := is_ours AND is_fresh AND NOT (was.fresh AND was.instance = by_instance);
    IF is_ours AND NOT (was.instance = by_instance AND was.number >= its_number) THEN
        UPDATE daylight.node AS n SET instance = by_instance, number = its_number, folder = by_folder, beat = was.beat + 1, seen = has_seen, fresh = is_fresh,
            state = in_state, url = its_url, version = its_version, form = its_form, at = clock_timestamp() WHERE n.name = by_node;
        IF cardinality(wants) > 0 THEN
            INSERT INTO daylight.lease AS l SELECT w.name, by_node, by_instance FROM unnest(wants) AS w (name) ORDER BY w.name
                ON CONFLICT (name) DO UPDATE SET node = by_node, instance = by_instance WHERE NOT EXISTS (
                    SELECT FROM daylight.node AS n WHERE n.name = l.node AND n.instance = l.instance AND n.state <> 'gone'
                );
        END IF;
        IF tells THEN
            PERFORM pg_notify('daylight', 'seen ' || has_seen || ' ' || by_instance);
        END IF;
    END IF;
    SELECT json_agg(json_build_object(
        'name', n.name, 'instance', n.instance, 'beat', n.beat, 'seen', n.seen, 'fresh', n.fresh, 'state', n.state, 'url', n.url,
        'version', n.version, 'form', n.form, 'age_ms', greatest(0, (extract(epoch FROM clock_timestamp() - n.at) * 1000)::bigint)
    ) ORDER BY n.name)::text INTO nodes FROM daylight.node AS n;
    SELECT coalesce(json_agg(json_build_object('name', l.name, 'node', l.node, 'instance', l.instance) ORDER BY l.name), '[]')::text
        INTO leases FROM daylight.lease AS l;
    others := daylight.others(by_instance);
    SELECT c.seq INTO STRICT counter FROM daylight.counter AS c;
END $beat$;
INSERT INTO daylight.cluster VALUES (1, gen_random_uuid()::text, 2) ON CONFLICT (one) DO UPDATE SET form = greatest(cluster.form, 2);
";

/// The state of the database before anything is read from it.
pub(super) const LOOK: &str = "
    SELECT to_regprocedure('daylight.append(bigint,bytea,text,text,bigint,boolean,integer,text[])') IS NOT NULL AS is_set_up, pg_is_in_recovery() AS is_standby,
        current_setting('transaction_read_only') = 'on' AS is_read_only, current_setting('server_encoding') AS encoding";

/// The limits of a session. A node that is paused must not hold the lock of the counter.
pub(super) const LIMITS: &str = "
    SET lock_timeout = 2000; SET statement_timeout = 2000; SET idle_in_transaction_session_timeout = 2000;
    SET client_min_messages = 'warning'; SET default_transaction_isolation = 'read committed'; SET synchronous_commit = 'on';
    LISTEN daylight;";

/// The cluster's id, the form of the tables, and whether there was ever more than one node.
pub(super) const CLUSTER: &str =
    "SELECT id, form, EXISTS (SELECT FROM daylight.note WHERE name = 'several') AS has_others FROM daylight.cluster";

/// Notes that there is more than one node. Unlike the table of nodes it is still there after a crash or a failover.
pub(super) const SEVERAL: &str = "INSERT INTO daylight.note VALUES ('several', '') ON CONFLICT DO NOTHING";

/// The number of the last row.
pub(super) const COUNTER: &str = "SELECT seq FROM daylight.counter";

/// A note.
pub(super) const NOTE: &str = "SELECT body FROM daylight.note WHERE name = $1";

/// The URL of the node with a name, if it has beaten within three seconds ([`super::rhythm::GONE`]).
pub(super) const LIVES: &str = "
    SELECT url FROM daylight.node WHERE name = $1 AND state <> 'gone' AND at > clock_timestamp() - interval '3 seconds'";

/// One append.
pub(super) const APPEND: &str = "SELECT answer, number, others FROM daylight.append($1, $2, $3, $4, $5, $6, $7, $8)";

/// One beat. The last column: the table of nodes is older than [`CONNECT`](super::rhythm::CONNECT), so each node that lives is in it.
pub(super) const BEAT: &str = "
    SELECT is_ours, joined, counter, others, nodes, leases, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
        EXISTS (SELECT FROM daylight.nodes_since AS s WHERE s.at < clock_timestamp() - interval '8 seconds')
    FROM daylight.beat($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

/// Waits for the appends that are under way.
pub(super) const BARRIER: &str = "SELECT seq FROM daylight.counter FOR UPDATE";

/// Nodes whose rows stand at these beats call no answer fresh any more; those of the third list are gone.
pub(super) const STANDS: &str = "
    UPDATE daylight.node AS n SET fresh = false, state = CASE WHEN s.is_gone THEN 'gone' ELSE n.state END
    FROM unnest($1::text[], $2::bigint[], $3::boolean[]) AS s (name, beat, is_gone) WHERE n.name = s.name AND n.beat = s.beat";

/// Rows of nodes that were gone for an hour.
pub(super) const FORGET: &str = "
    DELETE FROM daylight.node WHERE state = 'gone' AND at < clock_timestamp() - interval '1 hour'";

/// A node does not want these leases any more.
pub(super) const GIVE_BACK: &str = "DELETE FROM daylight.lease WHERE name = ANY ($1::text[]) AND instance = $2";

/// A node stops. No beat of it counts after that.
pub(super) const LEAVE: &str = "
    UPDATE daylight.node SET fresh = false, state = 'gone', number = 9223372036854775807 WHERE name = $1 AND instance = $2";

/// Rows that are taken back at once. They fit into no page that has others, so the journal grows by one if it can.
pub(super) const TRIAL: &str = "
    DO $do$ BEGIN
        INSERT INTO daylight.journal
            SELECT -n, (SELECT string_agg(md5(random()::text || n), '') FROM generate_series(1, 60)), '', ''
            FROM generate_series(1, 4) AS n;
        RAISE EXCEPTION USING ERRCODE = 'DAY01';
    EXCEPTION WHEN SQLSTATE 'DAY01' THEN NULL;
    END $do$";

/// The rows after a number, as many as fit into a number of rows and of bytes, but at least one; each with the number of the last row of
/// the same moment.
pub(super) const ROWS: &str = "
    SELECT seq, body, (SELECT c.seq FROM daylight.counter AS c) AS last FROM (
        SELECT seq, body, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before FROM (
            SELECT seq, body FROM daylight.journal WHERE seq > $1 ORDER BY seq LIMIT $2
        ) AS rows
    ) AS page WHERE before < $3::bigint ORDER BY seq";
