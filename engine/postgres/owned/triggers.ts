import { quoteName } from '../sql/quote.ts'
import { type TableSpec, textOf } from './table-spec.ts'

const STAMP_TRIGGER = quoteName('tesser_stamp')
const NUMBER_TRIGGER = quoteName('tesser_number')

/**
 * Functions of triggers. `tesser.stamp` updates stamp and time after changes of other programs, and of foreign keys that become null.
 * `tesser.number` is for rows that come with their own number: the next number follows them, as in the store.
 */
export const TRIGGER_FUNCTIONS = `CREATE SCHEMA IF NOT EXISTS tesser;
CREATE OR REPLACE FUNCTION tesser.stamp() RETURNS trigger LANGUAGE plpgsql AS $function$
DECLARE next bigint;
BEGIN
  EXECUTE format('SELECT ($1).%I + 1', TG_ARGV[0]) INTO next USING OLD;
  NEW := jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0], next, TG_ARGV[1], now()));
  RETURN NEW;
END $function$;
CREATE OR REPLACE FUNCTION tesser.number() RETURNS trigger LANGUAGE plpgsql AS $function$
DECLARE own bigint;
BEGIN
  EXECUTE format('SELECT ($1).%I', TG_ARGV[1]) INTO own USING NEW;
  -- Two transactions must not set the sequence back.
  PERFORM pg_advisory_xact_lock('pg_class'::regclass::int, TG_ARGV[0]::regclass::int);
  PERFORM setval(TG_ARGV[0]::regclass, own) WHERE own > coalesce(pg_sequence_last_value(TG_ARGV[0]::regclass), 0);
  RETURN NEW;
END $function$;`

export function triggersOf({ schema, from, columns, dataClass }: TableSpec): string[] {
  const { stamp, timestamp } = dataClass.remote!
  const stampColumn = quoteName(stamp!)
  const numberedColumn = columns.find(({ sequence }) => sequence)
  const steps = [
    `CREATE TRIGGER ${STAMP_TRIGGER} BEFORE UPDATE ON ${from} FOR EACH ROW WHEN (NEW.${stampColumn} IS NOT DISTINCT FROM OLD.${stampColumn}) EXECUTE FUNCTION tesser.stamp(${textOf(stamp!)}, ${textOf(timestamp!)})`,
  ]
  if (numberedColumn) {
    const sequence = textOf(quoteName(schema, numberedColumn.sequence!))
    steps.push(
      `CREATE TRIGGER ${NUMBER_TRIGGER} BEFORE INSERT ON ${from} FOR EACH ROW WHEN (NEW.${quoteName(numberedColumn.name)} > coalesce(pg_sequence_last_value(${sequence}::regclass), 0)) EXECUTE FUNCTION tesser.number(${sequence}, ${textOf(numberedColumn.name)})`,
    )
  }
  return steps
}

/** Types of columns cannot change while a trigger names them. */
export const dropTriggers = ({ from }: TableSpec): string[] =>
  [STAMP_TRIGGER, NUMBER_TRIGGER].map(name => `DROP TRIGGER IF EXISTS ${name} ON ${from}`)
