/** Statement that makes the function `tesser.fold(text)`. */
export const FOLD_FUNCTION = `CREATE OR REPLACE FUNCTION tesser.fold(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT replace(lower(regexp_replace(normalize(value, NFD), '[\\u0300-\\u036f]', '', 'g') COLLATE "und-x-icu"), 'ς', 'σ') COLLATE "C"
$$;
`
