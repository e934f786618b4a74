import type { Statement } from '../sql/statement.ts'

const statement = (text: string): Statement => ({ text, values: [] })

/** Error of a change of an entity that another session has locked. */
export const LOCKED_CODE = 'TSLCK'
/** Maximum number of locks of one owner, as {@link LockTable} has. */
const MAX_PER_OWNER = 10_000
/** Class of the advisory locks by which a lock waits for changes in progress, and their number. */
const BUCKETS = { space: 1_952_805_491, count: 256 }

export const LOCKS_EXIST = statement(
  `SELECT to_regprocedure('tesser.lock(text,text,text,text,bigint)') IS NOT NULL AND to_regclass('tesser.lock_bucket') IS NOT NULL`,
)

/**
 * Begins a transaction that creates tables of the schema `tesser`: one server at a time. `CREATE … IF NOT EXISTS` requires the right to
 * create even if everything exists, so the schema is looked up first.
 */
export const MAKE_SCHEMA: readonly Statement[] = [
  // "tesser" in ASCII.
  statement('SELECT pg_advisory_xact_lock(128017076282738)'),
  statement(`DO $$ BEGIN IF to_regnamespace('tesser') IS NULL THEN CREATE SCHEMA tesser; END IF; END $$`),
]

const number = `hashtext($1 || ' ' || $2) & ${BUCKETS.count - 1}`
const bucket = `${BUCKETS.space}, ${number}`

/**
 * Locks of entities of this database, and the functions that take and respect them. A change holds the advisory lock of its bucket shared
 * until its transaction ends, and a lock is taken only while the bucket has no holder: every later change sees the lock. A lock never
 * waits, so that it cannot be part of a deadlock. A transaction with one snapshot does not see locks that were taken after its snapshot;
 * their buckets have changed since, so that such a change is a serialization failure.
 */
export const MAKE_LOCKS: readonly Statement[] = [
  ...MAKE_SCHEMA,
  statement(`
    CREATE TABLE IF NOT EXISTS tesser.entity_lock (
      class text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      owner text NOT NULL,
      info text NOT NULL,
      expires timestamptz NOT NULL,
      made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (class, key)
    )`),
  statement('CREATE INDEX IF NOT EXISTS entity_lock_owner ON tesser.entity_lock (owner)'),
  statement('CREATE TABLE IF NOT EXISTS tesser.lock_bucket (bucket int PRIMARY KEY, locks bigint NOT NULL)'),
  statement(
    `INSERT INTO tesser.lock_bucket SELECT n, 0 FROM generate_series(0, ${BUCKETS.count - 1}) AS n ON CONFLICT DO NOTHING`,
  ),
  statement(`
    CREATE OR REPLACE FUNCTION tesser.unlocked(class text, key text, holder text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(${bucket});
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM FROM tesser.lock_bucket b WHERE b.bucket = ${number} FOR SHARE;
      END IF;
      IF EXISTS (
        SELECT FROM tesser.entity_lock l WHERE l.class = $1 AND l.key = $2 AND l.owner IS DISTINCT FROM $3
        AND l.expires > clock_timestamp()
      ) THEN RAISE EXCEPTION 'locked' USING ERRCODE = '${LOCKED_CODE}'; END IF;
      RETURN true;
    END $$`),
  statement(`
    CREATE OR REPLACE FUNCTION tesser.lock(class text, key text, holder text, description text, lasts_ms bigint) RETURNS text
    LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      IF NOT pg_try_advisory_xact_lock(${bucket}) THEN RETURN 'busy'; END IF;
      IF (SELECT count(*) FROM tesser.entity_lock l WHERE l.owner = $3) >= ${MAX_PER_OWNER} THEN RETURN 'many'; END IF;
      UPDATE tesser.lock_bucket b SET locks = b.locks + 1 WHERE b.bucket = ${number};
      INSERT INTO tesser.entity_lock AS l (class, key, owner, info, expires)
      VALUES ($1, $2, $3, $4, coalesce(clock_timestamp() + $5 * interval '1 ms', 'infinity'))
      ON CONFLICT ON CONSTRAINT entity_lock_pkey DO UPDATE
      SET owner = excluded.owner, info = excluded.info, expires = excluded.expires, made_at = excluded.made_at
      WHERE l.owner = excluded.owner OR l.expires <= clock_timestamp();
      RETURN CASE WHEN FOUND THEN 'taken' ELSE 'held' END;
    END $$`),
]
