import { bounds } from "#core/index.ts";
import type { RelayedTelemetry } from "#ports/index.ts";
import { type Attribution, saysWho, Unreadable } from "./relayed-names.ts";

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
export function attributedJson(bytes: Uint8Array, signal: RelayedTelemetry["signal"], said: Attribution): Uint8Array {
  if (bytes.length > bounds.relayedJsonBytesMax) throw new Unreadable("it is larger than JSON of telemetry is");
  const [list, scoped] = names[signal];
  const walk = new Walk(said);
  const whole = objectOf(read(bytes));
  const resources = arrayOf(whole[list]).map((each) => {
    const entry = objectOf(each);
    const told = arrayOf(objectOf(entry["resource"])["attributes"]).filter((one) => !saysWho(keyOf(one)));
    return {
      resource: { attributes: [...told, ...Object.entries(said).map(([key, value]) => pair(key, value))] },
      [scoped]: walk.value(entry[scoped] ?? [], 0),
      ...(typeof entry["schemaUrl"] === "string" ? { schemaUrl: entry["schemaUrl"] } : {}),
    };
  });
  return new TextEncoder().encode(JSON.stringify({ [list]: resources }));
}

/** Through records of whatever shape: each list of attributes is cleared of what says who somebody is. */
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
    if (Array.isArray(value)) return value.map((each: Json) => this.value(each, depth + 1));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        this.value(isAttributes(name) ? this.#cleared(inner as Json) : (inner as Json), depth + 1),
      ]),
    );
  }

  #cleared(list: Json): Json {
    return arrayOf(list).flatMap((one) => {
      const key = keyOf(one);
      if (!saysWho(key)) return [one];
      const own = this.#said[key];
      return own === undefined ? [] : [pair(key, own)];
    });
  }
}

/** `attributes`, `filteredAttributes`, `filtered_attributes`. */
function isAttributes(name: string): boolean {
  return name.toLowerCase().endsWith("attributes") && !name.toLowerCase().startsWith("dropped");
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

function pair(key: string, value: string): Json {
  return { key, value: { stringValue: value } };
}
