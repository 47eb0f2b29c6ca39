import { BoundedMap } from "#core/index.ts";
import { inIntent } from "../journal/record-text.ts";
import { hourMs, type TagsOfRollup } from "./ledger-rollup.ts";

/** The value, and beyond its bound also the name, of tags that are not counted separately. */
export const otherTags = "(other)";

/** Bounds for each workspace and hour: names, values of one name, and combinations of tags. */
const rollupTagBounds = { namesMax: 50, valuesMax: 100, setsMax: 400, otherSetsMax: 100 };
/** A key of a PostgreSQL index holds less than 2,704 bytes. */
const bytesMax = 1_000;
/** Workspaces and hours that are remembered. A forgotten one begins anew. */
const hoursMax = 200;

/** Hashes take less memory than texts. Two texts with the same hash only widen a bound by one. */
interface SeenTags {
  readonly values: Map<string, Set<number>>;
  readonly sets: Set<number>;
}

/**
 * Returns a function that writes the tags of an entry for its rollup: a JSON object in the order of names. Each new combination is a row
 * of the hour. Beyond the bounds, values become `(other)`, so that no workspace can fill the database with a tag that is different in
 * every call.
 */
export function boundedTags(limits = rollupTagBounds): TagsOfRollup {
  const hours = new BoundedMap<string, SeenTags>(hoursMax);
  return (record) => {
    const tags = readTags(record.value(inIntent.tags));
    if (tags.length === 0) return "";
    const at = record.number(inIntent.at);
    const place = `${at - (at % hourMs)} ${record.text(inIntent.workspaceId)}`;
    let seen = hours.get(place);
    if (seen === undefined) {
      seen = { values: new Map(), sets: new Set() };
      hours.set(place, seen);
    }
    const { values, sets } = seen;
    const counted = tags.map(([name, value]) => [name, isCounted(values, name, value, limits) ? value : otherTags]);
    const text = jsonOf(counted);
    if (fits(text) && take(sets, text, limits.setsMax)) return text;
    const others = jsonOf(tags.map(([name]) => [name, otherTags]));
    if (fits(others) && take(sets, others, limits.setsMax + limits.otherSetsMax)) return others;
    return jsonOf([[otherTags, otherTags]]);
  };
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= bytesMax;
}

/** Whether the text is in the set, or was added to it within the bound. */
function take(set: Set<number>, text: string, max: number): boolean {
  const hash = Bun.hash.xxHash32(text);
  if (set.has(hash)) return true;
  if (set.size >= max) return false;
  set.add(hash);
  return true;
}

function isCounted(
  values: Map<string, Set<number>>,
  name: string,
  value: string,
  { namesMax, valuesMax }: typeof rollupTagBounds,
): boolean {
  let seen = values.get(name);
  if (seen === undefined) {
    if (values.size >= namesMax) return false;
    seen = new Set();
    values.set(name, seen);
  }
  return take(seen, value, valuesMax);
}

type Tag = readonly [name: string, value: string];

/** Tags in the order of names. Records hold an object, rollups JSON. */
export function readTags(stored: unknown): readonly Tag[] {
  if (stored === null || stored === undefined || stored === "" || stored === "{}") return [];
  const tags = Object.entries(typeof stored === "string" ? JSON.parse(stored) : stored) as Tag[];
  return tags
    .filter(([, value]) => value !== "")
    .map(([name, value]): Tag => [wellFormed(name), wellFormed(value)])
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

/** PostgreSQL's JSON has no NUL and no half of a surrogate pair. */
function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\ufffd");
}

function jsonOf(tags: readonly (readonly string[])[]): string {
  return JSON.stringify(Object.fromEntries(tags));
}
