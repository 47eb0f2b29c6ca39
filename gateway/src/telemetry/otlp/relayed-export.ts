import { bounds } from "#core/index.ts";
import type { RelayedTelemetry } from "#ports/index.ts";
import { ProtobufWriter } from "./protobuf-writer.ts";

/** The field numbers of attributes in messages of opentelemetry-proto. */
interface Shape {
  /** Field of its attributes. */
  readonly attributes?: number;
  /** Fields that hold nested messages. */
  readonly inside?: Readonly<Record<number, Shape>>;
  /** Field of its resource. */
  readonly resourceField?: number;
  /** It is a resource, which receives the gateway's attributes. */
  readonly isResource?: true;
  /** The values of its attributes may hold further attributes. */
  readonly isNested?: true;
  /** Field of a metric's name. */
  readonly name?: number;
}

const pairs: Shape = { attributes: 1, isNested: true };
const anyValue: { inside: Record<number, Shape> } = { inside: { 6: pairs } };
anyValue.inside[5] = { inside: { 1: anyValue } };
const pairOfValues: Shape = { inside: { 2: anyValue } };

const resource: Shape = { attributes: 1, isResource: true };
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
 * Replaces identity attributes of a protobuf export request: resources receive those of the gateway, and records keep only attributes
 * that the gateway knows too, with its values. Other bytes stay the same. Throws MalformedTelemetry.
 */
export function attributedProtobuf(
  bytes: Uint8Array,
  signal: RelayedTelemetry["signal"],
  context: RelayContext,
): Uint8Array {
  return new ProtobufRewriter(bytes, context).rewrite(shapes[signal]);
}

/** First bytes of keys that may name an identity attribute or `service.name`. Other bytes than letters and digits may precede the name. */
const firstBytes: ReadonlySet<number> = new Set(
  Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => {
    const char = String.fromCharCode(byte).toLowerCase();
    return !/[a-z0-9]/.test(char) || "uesi".includes(char);
  }),
);

class ProtobufRewriter {
  readonly #bytes: Uint8Array;
  readonly #view: Buffer;
  /** The gateway's attributes, encoded, by key. */
  readonly #attribution: ReadonlyMap<string, Uint8Array>;
  readonly #service: string;
  #at = 0;
  #fields = 0;
  #resources = 0;

  constructor(bytes: Uint8Array, { attribution, service }: RelayContext) {
    this.#service = service;
    this.#bytes = bytes;
    this.#view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#attribution = new Map(Object.entries(attribution).map(([key, value]) => [key, keyValue(key, value)]));
  }

  rewrite(shape: Shape): Uint8Array {
    const parts = this.#message(this.#bytes.length, shape, 0);
    return parts === null ? this.#bytes : Buffer.concat(parts);
  }

  /** Reads a message up to `end` and returns its new parts. null: it stays the same; empty: it is removed. */
  #message(end: number, shape: Shape, depth: number): Uint8Array[] | null {
    if (depth > bounds.relayedDepthMax) throw new MalformedTelemetry("nested too deeply");
    const parts: Uint8Array[] = [];
    let keptFrom = this.#at;
    let hasResource = false;
    while (this.#at < end) {
      const start = this.#at;
      const { field, length } = this.#field(end);
      if (length === null) continue;
      const inside = shape.inside?.[field];
      let replacement: Uint8Array[] | null = null;
      if (field === shape.attributes) replacement = this.#attribute(this.#at + length, shape, depth);
      else if (field === shape.name && isOwnMetric(this.#text(this.#at, length))) {
        this.#at = end;
        return [];
      } else if (inside !== undefined) {
        // Parsers disagree about a repeated resource: some use the last one, some merge them.
        if (inside.isResource === true && hasResource) throw new MalformedTelemetry("two resources in one message");
        hasResource ||= inside.isResource === true;
        replacement = this.#message(this.#at + length, inside, depth + 1);
      } else this.#at += length;
      if (replacement === null) continue;
      parts.push(this.#bytes.subarray(keptFrom, start), ...fieldOf(field, replacement));
      keptFrom = this.#at;
    }
    if (this.#at !== end) throw new MalformedTelemetry("a field exceeds its message");
    const more = shape.isResource === true ? this.#attributionFields() : [];
    const { resourceField } = shape;
    if (resourceField !== undefined) {
      if (++this.#resources > bounds.relayedResourcesMax) throw new MalformedTelemetry("too many resources");
      if (!hasResource) more.push(...fieldOf(resourceField, this.#attributionFields()));
    }
    if (parts.length === 0 && more.length === 0) return null;
    return [...parts, this.#bytes.subarray(keptFrom, end), ...more];
  }

  #attributionFields(): Uint8Array[] {
    return [...this.#attribution.values()].flatMap((attribute) => fieldOf(1, [attribute]));
  }

  /** Reads a KeyValue. null: it stays the same; empty: it is removed. */
  #attribute(end: number, { isResource, isNested }: Shape, depth: number): Uint8Array[] | null {
    const start = this.#at;
    let [keyAt, keyLength] = [0, 0];
    let [valueAt, valueLength] = [0, 0];
    while (this.#at < end) {
      const { field, length } = this.#field(end);
      if (length === null) continue;
      // If there are two, the last one counts.
      if (field === 1) [keyAt, keyLength] = [this.#at, length];
      else if (field === 2) [valueAt, valueLength] = [this.#at, length];
      this.#at += length;
    }
    if (this.#at !== end) throw new MalformedTelemetry("an attribute exceeds its message");
    // The first byte rules out most keys.
    const key = keyLength === 0 || !firstBytes.has(this.#bytes[keyAt] ?? 0) ? "" : this.#text(keyAt, keyLength);
    if (isIdentityKey(key)) {
      const own = isResource === true ? undefined : this.#attribution.get(key);
      return own === undefined ? [] : [own];
    }
    // Skips the tag and the length of a string value.
    if (isResource === true && claimsService(key, this.#text(valueAt + 2, valueLength - 2), this.#service)) return [];
    if (isNested !== true) return null;
    this.#at = start;
    return this.#message(end, pairOfValues, depth + 1);
  }

  #text(at: number, length: number): string {
    return this.#view.toString("utf8", at, at + Math.max(0, Math.min(length, bounds.traceTextMax)));
  }

  /** Reads a tag. `length` null: the field has a fixed size and was skipped. */
  #field(end: number): { readonly field: number; readonly length: number | null } {
    if (++this.#fields > bounds.relayedFieldsMax) throw new MalformedTelemetry("too many fields");
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
        throw new MalformedTelemetry("invalid protobuf");
    }
    if (field === 0 || this.#at + (length ?? 0) > end) throw new MalformedTelemetry("a field exceeds its message");
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
    throw new MalformedTelemetry("invalid protobuf");
  }
}

/** A length-delimited field; nothing if it would be empty. */
function fieldOf(field: number, parts: readonly Uint8Array[]): Uint8Array[] {
  if (parts.length === 0) return [];
  const writer = new ProtobufWriter(32);
  writer.tag(field, 2);
  writer.varint(parts.reduce((sum, part) => sum + part.length, 0));
  return [writer.toBytes(), ...parts];
}

function keyValue(key: string, value: string): Uint8Array {
  const inner = new ProtobufWriter(64);
  inner.text(1, value);
  const writer = new ProtobufWriter(64);
  writer.text(1, key);
  writer.message(2, inner);
  return writer.toBytes();
}

const names = {
  traces: ["resourceSpans", "scopeSpans"],
  logs: ["resourceLogs", "scopeLogs"],
  metrics: ["resourceMetrics", "scopeMetrics"],
} as const;

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * Like `attributedProtobuf`, for JSON. Drops top-level members that OTLP does not define, because some readers accept other spellings
 * (`resource_spans`). Throws MalformedTelemetry.
 */
export function attributedJson(
  bytes: Uint8Array,
  signal: RelayedTelemetry["signal"],
  { attribution, service }: RelayContext,
): Uint8Array {
  if (bytes.length > bounds.relayedJsonBytesMax) throw new MalformedTelemetry("JSON is too large");
  const [list, scoped] = names[signal];
  const rewriter = new JsonRewriter(attribution);
  const request = objectOf(parseJson(bytes));
  const resources = arrayOf(request[list]).map((each) => {
    const entry = objectOf(each);
    const kept = arrayOf(objectOf(entry["resource"])["attributes"]).filter(
      (one) => !isIdentityKey(keyOf(one)) && !claimsService(keyOf(one), textOf(one), service),
    );
    return {
      resource: { attributes: [...kept, ...Object.entries(attribution).map(([key, value]) => pair(key, value))] },
      [scoped]: rewriter.value(entry[scoped] ?? [], 0),
      ...(typeof entry["schemaUrl"] === "string" ? { schemaUrl: entry["schemaUrl"] } : {}),
    };
  });
  return new TextEncoder().encode(JSON.stringify({ [list]: resources }));
}

/** Replaces identity attributes in every list of pairs at any depth, and removes metrics with names of the gateway's own. */
class JsonRewriter {
  readonly #attribution: Attribution;
  #values = 0;

  constructor(attribution: Attribution) {
    this.#attribution = attribution;
  }

  value(value: Json, depth: number): Json {
    if (++this.#values > bounds.relayedFieldsMax || depth > bounds.relayedDepthMax) {
      throw new MalformedTelemetry("too many values, or nested too deeply");
    }
    if (Array.isArray(value)) return this.#replaced(value).map((each: Json) => this.value(each, depth + 1));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        this.value(name === "metrics" ? withoutOwnMetrics(inner as Json) : (inner as Json), depth + 1),
      ]),
    );
  }

  #replaced(list: readonly Json[]): readonly Json[] {
    return list.flatMap((one) => {
      const key = keyOf(one);
      if (!isIdentityKey(key)) return [one];
      const own = this.#attribution[key];
      return own === undefined ? [] : [pair(key, own)];
    });
  }
}

function withoutOwnMetrics(metrics: Json): Json {
  return arrayOf(metrics).filter((one) => {
    const { name } = objectOf(one);
    return typeof name !== "string" || !isOwnMetric(name);
  });
}

function parseJson(bytes: Uint8Array): Json {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Json;
  } catch {
    throw new MalformedTelemetry("invalid JSON");
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

/** Attributes that the gateway gives the resource of an agent. */
export type Attribution = Readonly<Record<string, string>>;

export interface RelayContext {
  readonly attribution: Attribution;
  /** The gateway's own `service.name`, which no agent may use. */
  readonly service: string;
}

/** A message is invalid, or exceeds a limit. */
export class MalformedTelemetry extends Error {
  override readonly name = "MalformedTelemetry";
}

const reserved = ["user.", "enduser.", "sluice.", "identity."];

const mayBeReserved = /^[^a-z0-9]*(?:user|enduser|sluice|identity)/i;

/** Whether an attribute names a user or key, in any spelling: backends normalize `user_id` and `User.Id` to `user.id`. */
export function isIdentityKey(key: string): boolean {
  const name = asciiOf(key);
  return mayBeReserved.test(name) && isReserved(dotted(name));
}

function isOwnMetric(metric: string): boolean {
  return `${dotted(asciiOf(metric))}.`.startsWith("sluice.");
}

/** Whether an attribute of a resource claims to be the gateway. */
function claimsService(key: string, value: string, service: string): boolean {
  return dotted(asciiOf(key)) === "service.name" && dotted(asciiOf(value)) === dotted(service);
}

/** Replaces full-width, accented and dotless letters. */
function asciiOf(text: string): string {
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
