import { bounds } from "#core/index.ts";
import type { RelayedTelemetry } from "#ports/index.ts";
import { ProtobufWriter } from "./protobuf-writer.ts";

/** Where attributes stand in a message of opentelemetry/proto, and in which of its fields there are more. */
interface Shape {
  readonly attributes?: number;
  readonly inside?: Readonly<Record<number, Shape>>;
  /** The field of its resource, which there is one of. */
  readonly resourceField?: number;
  /** A resource: the gateway's attributes are put into it. */
  readonly resource?: true;
  /** The pairs of its field `attributes` hold values with more pairs in them. */
  readonly nests?: true;
  /** The field of a metric's name. */
  readonly name?: number;
}

const pairs: Shape = { attributes: 1, nests: true };
/** A structured value: a list of pairs, or of values. */
const anyValue: { inside: Record<number, Shape> } = { inside: { 6: pairs } };
anyValue.inside[5] = { inside: { 1: anyValue } };
const pairOfValues: Shape = { inside: { 2: anyValue } };

const resource: Shape = { attributes: 1, resource: true };
const scope: Shape = { attributes: 3 };
const scoped = (record: Shape): Shape => ({
  inside: { 1: { resourceField: 1, inside: { 1: resource, 2: { inside: { 1: scope, 2: record } } } } },
});
const numbers: Shape = { inside: { 1: { attributes: 7, inside: { 5: { attributes: 7 } } } } };

const shapes: Readonly<Record<RelayedTelemetry["signal"], Shape>> = {
  traces: scoped({ attributes: 9, inside: { 11: { attributes: 3 }, 13: { attributes: 4 } } }),
  logs: scoped({ attributes: 6, inside: { 5: anyValue } }),
  metrics: scoped({
    name: 1,
    attributes: 12,
    inside: {
      5: numbers,
      7: numbers,
      9: { inside: { 1: { attributes: 9, inside: { 8: { attributes: 7 } } } } },
      10: { inside: { 1: { attributes: 1, inside: { 11: { attributes: 7 } } } } },
      11: { inside: { 1: { attributes: 7 } } },
    },
  }),
};

/**
 * An export request as protobuf, with its resources attributed by the gateway. What says in its records who somebody is becomes what the
 * gateway says, or goes. Everything else is passed byte for byte. Throws Unreadable; how many fields are looked at has a bound.
 */
export function attributedProtobuf(
  bytes: Uint8Array,
  signal: RelayedTelemetry["signal"],
  relaying: Relaying,
): Uint8Array {
  return new Rewriting(bytes, relaying).whole(shapes[signal]);
}

/** Letters and digits that no name of ours begins with are left out: every other byte may stand before one. */
const mayBegin: ReadonlySet<number> = new Set(
  Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => {
    const letter = String.fromCharCode(byte).toLowerCase();
    return !/[a-z0-9]/.test(letter) || "uesi".includes(letter);
  }),
);

class Rewriting {
  readonly #bytes: Uint8Array;
  readonly #view: Buffer;
  readonly #own: ReadonlyMap<string, Uint8Array>;
  readonly #service: string;
  #at = 0;
  #fields = 0;
  #resources = 0;

  constructor(bytes: Uint8Array, { said, service }: Relaying) {
    this.#service = service;
    this.#bytes = bytes;
    this.#view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#own = new Map(Object.entries(said).map(([key, value]) => [key, keyValue(key, value)]));
  }

  whole(shape: Shape): Uint8Array {
    const parts = this.#message(this.#bytes.length, shape, 0);
    return parts === null ? this.#bytes : Buffer.concat(parts);
  }

  /** From where the reading stands to `end`. null: it stays as it is; empty: it goes. */
  #message(end: number, shape: Shape, depth: number): Uint8Array[] | null {
    if (depth > bounds.relayedDepthMax) throw new Unreadable("it has more values than telemetry has");
    const parts: Uint8Array[] = [];
    let keptFrom = this.#at;
    let hasResource = false;
    while (this.#at < end) {
      const start = this.#at;
      const { field, length } = this.#field(end);
      if (length === null) continue;
      const inside = shape.inside?.[field];
      let instead: Uint8Array[] | null = null;
      if (field === shape.attributes) instead = this.#attribute(this.#at + length, shape, depth);
      else if (field === shape.name && isOwnMetric(this.#text(this.#at, length))) {
        this.#at = end;
        return [];
      } else if (inside !== undefined) {
        // Of two some read the last, and some both.
        if (inside.resource === true && hasResource) throw new Unreadable("it has a resource twice");
        hasResource ||= inside.resource === true;
        instead = this.#message(this.#at + length, inside, depth + 1);
      } else this.#at += length;
      if (instead === null) continue;
      parts.push(this.#bytes.subarray(keptFrom, start), ...framed(field, instead));
      keptFrom = this.#at;
    }
    if (this.#at !== end) throw new Unreadable("a field ends behind its message");
    const more = shape.resource === true ? this.#ownResource() : [];
    const { resourceField } = shape;
    if (resourceField !== undefined) {
      if (++this.#resources > bounds.relayedResourcesMax)
        throw new Unreadable("it has more resources than telemetry has");
      if (!hasResource) more.push(...framed(resourceField, this.#ownResource()));
    }
    if (parts.length === 0 && more.length === 0) return null;
    return [...parts, this.#bytes.subarray(keptFrom, end), ...more];
  }

  #ownResource(): Uint8Array[] {
    return [...this.#own.values()].flatMap((own) => framed(1, [own]));
  }

  /** A KeyValue. null: it stays; empty: it goes. */
  #attribute(end: number, { resource: inResource, nests }: Shape, depth: number): Uint8Array[] | null {
    const start = this.#at;
    let [keyAt, keyLength] = [0, 0];
    let [valueAt, valueLength] = [0, 0];
    while (this.#at < end) {
      const { field, length } = this.#field(end);
      if (length === null) continue;
      // Of two the last counts.
      if (field === 1) [keyAt, keyLength] = [this.#at, length];
      else if (field === 2) [valueAt, valueLength] = [this.#at, length];
      this.#at += length;
    }
    if (this.#at !== end) throw new Unreadable("an attribute ends behind its message");
    // Most names are seen not to matter by their first letter.
    const key = keyLength === 0 || !mayBegin.has(this.#bytes[keyAt] ?? 0) ? "" : this.#text(keyAt, keyLength);
    if (saysWho(key)) {
      const own = inResource === true ? undefined : this.#own.get(key);
      return own === undefined ? [] : [own];
    }
    // A text stands behind its tag and its length.
    if (inResource === true && claimsService(key, this.#text(valueAt + 2, valueLength - 2), this.#service)) return [];
    if (nests !== true) return null;
    this.#at = start;
    return this.#message(end, pairOfValues, depth + 1);
  }

  #text(at: number, length: number): string {
    return this.#view.toString("utf8", at, at + Math.max(0, Math.min(length, bounds.traceTextMax)));
  }

  /** Reads a tag, and a length, or passes what has none. */
  #field(end: number): { readonly field: number; readonly length: number | null } {
    if (++this.#fields > bounds.relayedFieldsMax) throw new Unreadable("it has more fields than telemetry has");
    const tag = this.#varint(end);
    const field = Math.floor(tag / 8);
    let length: number | null = null;
    switch (tag % 8) {
      case 0:
        this.#varint(end);
        break;
      case 1:
        this.#at += 8;
        break;
      case 2:
        length = this.#varint(end);
        break;
      case 5:
        this.#at += 4;
        break;
      default:
        throw new Unreadable("it is no protobuf");
    }
    if (field === 0 || this.#at + (length ?? 0) > end) throw new Unreadable("a field ends behind its message");
    return { field, length };
  }

  #varint(end: number): number {
    let value = 0;
    for (let scale = 1, count = 0; count < 10; count++, scale *= 128) {
      if (this.#at >= end) break;
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new Unreadable("it is no protobuf");
  }
}

/** Nothing, for what is empty: an attribute that goes. */
function framed(field: number, parts: readonly Uint8Array[]): Uint8Array[] {
  if (parts.length === 0) return [];
  const writer = new ProtobufWriter(32);
  writer.tag(field, 2);
  writer.varint(parts.reduce((sum, part) => sum + part.length, 0));
  return [writer.taken(), ...parts];
}

function keyValue(key: string, value: string): Uint8Array {
  const inner = new ProtobufWriter(64);
  inner.text(1, value);
  const writer = new ProtobufWriter(64);
  writer.text(1, key);
  writer.message(2, inner);
  return writer.taken();
}

const names = {
  traces: ["resourceSpans", "scopeSpans"],
  logs: ["resourceLogs", "scopeLogs"],
  metrics: ["resourceMetrics", "scopeMetrics"],
} as const;

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * The same as `attributedProtobuf` of an export request as JSON. Members that OTLP does not have at the top are left out: another spelling
 * of a resource (`resource_spans`) would be read by some. Throws Unreadable.
 */
export function attributedJson(
  bytes: Uint8Array,
  signal: RelayedTelemetry["signal"],
  { said, service }: Relaying,
): Uint8Array {
  if (bytes.length > bounds.relayedJsonBytesMax) throw new Unreadable("it is larger than JSON of telemetry is");
  const [list, scoped] = names[signal];
  const walk = new Walk(said);
  const whole = objectOf(read(bytes));
  const resources = arrayOf(whole[list]).map((each) => {
    const entry = objectOf(each);
    const told = arrayOf(objectOf(entry["resource"])["attributes"]).filter(
      (one) => !saysWho(keyOf(one)) && !claimsService(keyOf(one), textOf(one), service),
    );
    return {
      resource: { attributes: [...told, ...Object.entries(said).map(([key, value]) => pair(key, value))] },
      [scoped]: walk.value(entry[scoped] ?? [], 0),
      ...(typeof entry["schemaUrl"] === "string" ? { schemaUrl: entry["schemaUrl"] } : {}),
    };
  });
  return new TextEncoder().encode(JSON.stringify({ [list]: resources }));
}

/**
 * Through records of whatever shape: each list of pairs, attributes and structured bodies alike, is cleared of what says who somebody is,
 * and each list of metrics of the gateway's own names.
 */
class Walk {
  readonly #said: Attribution;
  #values = 0;

  constructor(said: Attribution) {
    this.#said = said;
  }

  value(value: Json, depth: number): Json {
    if (++this.#values > bounds.relayedFieldsMax || depth > bounds.relayedDepthMax) {
      throw new Unreadable("it has more values than telemetry has");
    }
    if (Array.isArray(value)) return this.#cleared(value).map((each: Json) => this.value(each, depth + 1));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        this.value(name === "metrics" ? withoutOwn(inner as Json) : (inner as Json), depth + 1),
      ]),
    );
  }

  #cleared(list: readonly Json[]): readonly Json[] {
    return list.flatMap((one) => {
      const key = keyOf(one);
      if (!saysWho(key)) return [one];
      const own = this.#said[key];
      return own === undefined ? [] : [pair(key, own)];
    });
  }
}

function withoutOwn(metrics: Json): Json {
  return arrayOf(metrics).filter((one) => {
    const { name } = objectOf(one);
    return typeof name !== "string" || !isOwnMetric(name);
  });
}

function read(bytes: Uint8Array): Json {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Json;
  } catch {
    throw new Unreadable("it is no JSON");
  }
}

function objectOf(value: Json | undefined): { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [name: string]: Json })
    : {};
}

function arrayOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function keyOf(one: Json): string {
  const { key } = objectOf(one);
  return typeof key === "string" ? key : "";
}

function textOf(one: Json): string {
  const { stringValue } = objectOf(objectOf(one)["value"]);
  return typeof stringValue === "string" ? stringValue : "";
}

function pair(key: string, value: string): Json {
  return { key, value: { stringValue: value } };
}

/** What the gateway says of an agent's telemetry: attributes of its resource. */
export type Attribution = Readonly<Record<string, string>>;

export interface Relaying {
  readonly said: Attribution;
  /** The gateway's own `service.name`, which no agent may claim. */
  readonly service: string;
}

/** One message of an agent cannot be read, or is made to cost more than telemetry does. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}

const reserved = ["user.", "enduser.", "sluice.", "identity."];

const beginsLike = /^[^a-z0-9]*(?:user|enduser|sluice|identity)/i;

/**
 * Whether an attribute says who somebody is: only the gateway says that. However it is spelled, since backends bring names to one form:
 * `user_id` and `User.Id` become what `user.id` becomes.
 */
export function saysWho(key: string): boolean {
  const name = inPlainLetters(key);
  return beginsLike.test(name) && isReserved(dotted(name));
}

/** Whether a metric has a name of the gateway's own. */
function isOwnMetric(metric: string): boolean {
  return `${dotted(inPlainLetters(metric))}.`.startsWith("sluice.");
}

/** Whether an attribute of a resource says that it is the gateway. `service`: the gateway's own name. */
function claimsService(key: string, value: string, service: string): boolean {
  return dotted(inPlainLetters(key)) === "service.name" && dotted(inPlainLetters(value)) === dotted(service);
}

/** Without the widths, marks and dotless letters by which one name is written in many ways. */
function inPlainLetters(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replaceAll("\u0131", "i")
    .replaceAll("\u0237", "j");
}

function dotted(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ".")
    .replace(/^\./, "");
}

function isReserved(name: string): boolean {
  return reserved.some((start) => name.startsWith(start)) || reserved.includes(`${name}.`);
}
