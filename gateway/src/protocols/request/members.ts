import type { FieldType, RequestField, RequestFields } from "@sluice/contract/words";
import { bounds, Failure, isLongerThan, tooLong, typeWords } from "#core/index.ts";
import { LOWER_N, OPEN_ARRAY, OPEN_OBJECT, QUOTE, type Span } from "../json/cursor.ts";
import {
  JsonCaseVariant,
  JsonInvalid,
  JsonTooLarge,
  readScanned,
  readSpan,
  type ScanFindings,
  type ScanLimits,
  scanObject,
} from "../json/scan.ts";
import { invalid, type JsonObject, missingParam, misspelled, parseBody } from "../json/value.ts";
import { GovernedNames, governedMembers } from "./governed-names.ts";

/** Finds the governing members of a request. Throws Failure invalid_json, or invalid_request for another spelling. */
export function scanRequest(
  bytes: Uint8Array,
  names: GovernedNames,
  matches: ScanFindings | null = null,
  within = limits,
): Map<string, Span> {
  try {
    return scanObject(bytes, names, names, within, matches);
  } catch (thrown) {
    if (thrown instanceof JsonTooLarge) {
      throw new Failure("request_too_large", `The body exceeds a limit: ${thrown.message}.`);
    }
    if (thrown instanceof JsonCaseVariant) throw misspelled(thrown.member, thrown.governedName);
    if (!(thrown instanceof JsonInvalid)) throw thrown;
    throw new Failure("invalid_json", `The body is not a valid JSON object: ${thrown.message}.`);
  }
}

const limits: ScanLimits = { values: bounds.jsonValuesMax, members: bounds.jsonMembersMax };

/** Throws Failure request_too_large or invalid_json. */
export function refuseTooManyValues(bytes: Uint8Array, smaller: ScanLimits): void {
  scanRequest(bytes, noNames, null, smaller);
}

/** Parses a bounded JSON object. Throws Failure invalid_json or request_too_large. */
export function parseBounded(bytes: Uint8Array, smaller: ScanLimits): JsonObject {
  refuseTooManyValues(bytes, smaller);
  return parseBody(bytes);
}

const noNames = new GovernedNames([]);

/** Throws Failure missing_required_parameter or invalid_request. */
export function readModel(body: Uint8Array, span: Span | undefined): string {
  if (span === undefined) throw missingParam("model");
  // Each character may be two escapes of six bytes.
  const isLong = span.end - span.start > bounds.modelNameCharactersMax * 12 + 2;
  const model = isLong && body[span.start] === QUOTE ? null : readSmall(body, span);
  if (model === null && isLong) throw longModelName();
  if (typeof model !== "string") throw invalid("model", "must be a string");
  return checkedModelName(model);
}

/** Throws Failure missing_required_parameter or invalid_request. */
export function checkedModelName(model: string): string {
  if (model === "") throw missingParam("model");
  if (isLongerThan(model, bounds.modelNameCharactersMax)) throw longModelName();
  return model;
}

export function longModelName(): Failure {
  return invalid("model", tooLong(bounds.modelNameCharactersMax));
}

export function readBoolean(body: Uint8Array, span: Span | undefined, param: string): boolean {
  const value = readSmall(body, span);
  if (value === null) return false;
  if (typeof value !== "boolean") throw invalid(param, "must be true or false");
  return value;
}

/** A count above 0, else null: the upstream refuses anything else. */
export function readCount(body: Uint8Array, span: Span | undefined): number | null {
  if (span === undefined || span.end - span.start > digitsMax) return null;
  const value = readScanned(body, span);
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

const digitsMax = 20;

/** The value of a short member; null if absent, undefined if longer than anything that governs a call. */
export function readSmall(body: Uint8Array, span: Span | undefined): unknown {
  if (span === undefined) return null;
  return span.end - span.start > bounds.governingBytesMax ? undefined : readScanned(body, span);
}

/** A string short enough to be a label, else null. */
export function readLabel(body: Uint8Array, span: Span | undefined): string | null {
  if (span === undefined || span.end - span.start > bounds.affinityBytesMax) return null;
  const value = readScanned(body, span);
  return typeof value === "string" && value !== "" ? value : null;
}

/** The same for a parsed value. */
export function labelOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value.length + 2 <= bounds.affinityBytesMax ? value : null;
}

/** Bytes of these members together. */
export function sizeOf(...spans: readonly (Span | undefined)[]): number {
  let size = 0;
  for (const span of spans) if (span !== undefined) size += span.end - span.start;
  return size;
}

/** Top-level objects with governed members, by name. */
const nested: ReadonlyMap<string, GovernedNames> = nestedNames();
const topNames: ReadonlySet<string> = new Set([
  ...[...governedMembers].filter((name) => !name.includes(".")),
  ...nested.keys(),
]);

/** The names that a dialect reads, plus the governed ones. */
export function bodyNames(names: readonly string[]): GovernedNames {
  return new GovernedNames([...names, ...topNames]);
}

/**
 * The governed members that were found; undefined for most requests. Throws Failure invalid_request for another spelling inside an
 * object.
 */
export function governedIn(body: Uint8Array, members: ReadonlyMap<string, Span>): readonly string[] | undefined {
  let found: string[] | undefined;
  for (const [name, span] of members) {
    if (!topNames.has(name)) continue;
    if (governedMembers.has(name)) {
      found ??= [];
      found.push(name);
    }
    const names = nested.get(name);
    if (names === undefined || body[span.start] !== OPEN_OBJECT) continue;
    for (const member of scanRequest(body.subarray(span.start, span.end), names).keys()) {
      found ??= [];
      found.push(`${name}.${member}`);
    }
  }
  return found;
}

function nestedNames(): ReadonlyMap<string, GovernedNames> {
  const byHolder = new Map<string, string[]>();
  for (const path of governedMembers) {
    const [holder = "", member] = path.split(".");
    if (member !== undefined) byHolder.set(holder, [...(byHolder.get(holder) ?? []), member]);
  }
  return new Map([...byHolder].map(([holder, names]) => [holder, new GovernedNames(names)]));
}

/** Checks members against the contract's table by their bytes. Only bounded numbers are parsed. `model` is left to `readModel`. */
export class MemberChecks {
  readonly #checks: readonly ReturnType<typeof checkOf>[];

  constructor(fields: RequestFields) {
    this.#checks = Object.entries(fields)
      .filter(([name, field]) => name !== "model" && (field.required === true || field.type !== undefined))
      .map(([name, field]) => checkOf(name, field));
  }

  /** Throws Failure missing_required_parameter or invalid_request for the first invalid member. */
  check(body: Uint8Array, members: ReadonlyMap<string, Span>): void {
    for (const { name, required, types, minLength, minimum, must } of this.#checks) {
      const span = members.get(name);
      if (span === undefined && required) throw missingParam(name);
      if (span === undefined || types === null) continue;
      const bit = bits[body[span.start] ?? 0] as number;
      const size = span.end - span.start;
      if (bit === nullBit) {
        if (required) throw missingParam(name);
        continue;
      }
      if ((types & bit) === 0) throw invalid(name, must);
      if (bit === typeBits.string && size - 2 < minLength) {
        throw required && size === 2 ? missingParam(name) : invalid(name, must);
      }
      if (bit === typeBits.integer && minimum !== null) {
        const value = size > digitsMax ? null : readSpan(body, span);
        if (typeof value !== "number" || !Number.isSafeInteger(value) || value < minimum) throw invalid(name, must);
      }
    }
  }
}

/** `types`: accepted types as bits. Null: any. */
function checkOf(name: string, field: RequestField) {
  const types = field.type === undefined ? null : [field.type].flat();
  return {
    name,
    required: field.required === true,
    types: types === null ? null : types.reduce((all, type) => all | typeBits[type], 0),
    minLength: field.minLength ?? 0,
    minimum: types?.includes("integer") ? (field.minimum ?? Number.MIN_SAFE_INTEGER) : null,
    must: field.must ?? `must be ${(types ?? []).map((type) => typeWords[type]).join(" or ")}`,
  };
}

const typeBits: Readonly<Record<FieldType, number>> = { string: 1, boolean: 2, integer: 4, array: 8, object: 16 };
const nullBit = 32;
/** Type bits by a value's first byte. */
const bits = new Uint8Array(256).fill(typeBits.integer);
bits[QUOTE] = typeBits.string;
bits[OPEN_ARRAY] = typeBits.array;
bits[OPEN_OBJECT] = typeBits.object;
bits[LOWER_N] = nullBit;
for (const letter of Buffer.from("tf")) bits[letter] = typeBits.boolean;
