import { bounds } from "#core/index.ts";
import type { RelayedTelemetry } from "#ports/index.ts";
import { type Attribution, claimsService, isOwnMetric, type Relaying, saysWho, Unreadable } from "./relayed-names.ts";

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
