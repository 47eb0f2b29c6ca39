import { Secret } from "#core/index.ts";
import type { OtlpBatch, OtlpSampler, OtlpSettings, OtlpSignal } from "#ports/index.ts";
import type { Variables } from "./expand-variables.ts";
import { parseUrl, VariableReader } from "./variable-reader.ts";

const otlpTimeoutMsMax = 300_000;
const otlpIntervalMsMax = 3_600_000;
const otlpQueueMax = 1_000_000;
const otlpBatchMax = 50_000;

/**
 * Reads OpenTelemetry's variables (SDK environment variables and OTLP exporter). Unlike in the specification, nothing is exported
 * without an endpoint or OTEL_<SIGNAL>_EXPORTER=otlp. `ownEndpoint`: SLUICE_OTLP_ENDPOINT, used if OTEL_EXPORTER_OTLP_ENDPOINT is not
 * set. `settings` null: nothing is exported.
 */
export function readOtlp(variables: Variables, ownEndpoint: string | null) {
  const reader = new OtlpVariables(variables);
  if (reader.flag("OTEL_SDK_DISABLED")) return { settings: null, warnings: reader.warnings };
  const base = reader.endpoint("OTEL_EXPORTER_OTLP_ENDPOINT") ?? ownEndpoint;
  const traces = readSignal(reader, "TRACES", base);
  const metrics = readSignal(reader, "METRICS", base);
  const logs = readSignal(reader, "LOGS", base);
  if (traces === null && metrics === null && logs === null) return { settings: null, warnings: reader.warnings };
  const optIns = reader.words("OTEL_SEMCONV_STABILITY_OPT_IN") ?? [];
  const content = readContent(reader);
  const settings: OtlpSettings = {
    traces: traces && {
      ...traces,
      batch: readBatch(reader, "OTEL_BSP", 5_000),
      sampler: readSampler(reader),
      content: content.inSpans,
    },
    metrics: metrics && {
      ...metrics,
      timeoutMs: Math.min(
        metrics.timeoutMs,
        reader.integer("OTEL_METRIC_EXPORT_TIMEOUT", 1, otlpTimeoutMsMax) ?? 30_000,
      ),
      intervalMs: reader.integer("OTEL_METRIC_EXPORT_INTERVAL", 100, otlpIntervalMsMax) ?? 60_000,
      temporality: readTemporality(reader),
    },
    logs: logs && { ...logs, batch: readBatch(reader, "OTEL_BLRP", 1_000), content: content.inEvents },
    resource: readResource(reader),
    propagates: readPropagation(reader),
    oldNames: optIns.includes("gen_ai/dup"),
    costNames: optIns.includes("gen_ai_cost"),
  };
  return { settings: Object.freeze(settings), warnings: reader.warnings };
}

type SignalName = "TRACES" | "METRICS" | "LOGS";

function readSignal(reader: OtlpVariables, signal: SignalName, base: string | null): OtlpSignal | null {
  const exporter = readExporter(reader, signal);
  const own = reader.endpoint(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`);
  const root = base ?? (exporter === "otlp" ? defaultEndpoint : null);
  if (exporter === "none" || (own === null && root === null)) return null;
  // The variable of the signal takes precedence over the general one.
  const either = <T>(read: (name: string) => T | null, name: string): T | null =>
    read(`OTEL_EXPORTER_OTLP_${signal}_${name}`) ?? read(`OTEL_EXPORTER_OTLP_${name}`);
  const text = (name: string) => reader.text(name);
  return {
    url: own ?? appendPath(root ?? "", `/v1/${signal.toLowerCase()}`),
    headers: either((name) => reader.headers(name), "HEADERS"),
    protocol: either((name) => readProtocol(reader, name), "PROTOCOL") ?? "http/protobuf",
    compression: either((name) => reader.oneOf(name, ["none", "gzip"] as const), "COMPRESSION") ?? "none",
    timeoutMs: either((name) => reader.integer(name, 1, otlpTimeoutMsMax), "TIMEOUT") ?? 10_000,
    certificateFile: either(text, "CERTIFICATE"),
    clientCertificateFile: either(text, "CLIENT_CERTIFICATE"),
    clientKeyFile: either(text, "CLIENT_KEY"),
  };
}

const defaultEndpoint = "http://localhost:4318";

/** Appends a path to the path of an endpoint, before its query. */
function appendPath(root: string, path: string): string {
  const [, place = root, query = ""] = /^([^?#]*)(\?[^#]*)?/.exec(root) ?? [];
  return `${place.replace(/\/+$/, "")}${path}${query}`;
}

function readExporter(reader: OtlpVariables, signal: SignalName): "otlp" | "none" | null {
  const name = `OTEL_${signal}_EXPORTER`;
  const words = (reader.words(name) ?? []).map((word) => word.toLowerCase());
  // With `prometheus` alone, metrics are scraped from /metrics and not sent.
  const isPulled = signal === "METRICS" && words.includes("prometheus");
  const supported = isPulled ? ["otlp", "none", "prometheus"] : ["otlp", "none"];
  const unknown = words.filter((word) => !supported.includes(word));
  if (unknown.length > 0) reader.refuse(name, "names an unsupported exporter; supported are otlp and none");
  if (words.includes("otlp")) return "otlp";
  return words.includes("none") || isPulled ? "none" : null;
}

function readProtocol(reader: OtlpVariables, name: string): OtlpSignal["protocol"] | null {
  if (reader.text(name)?.toLowerCase() === "grpc") {
    return reader.refuse(name, "is grpc, which is not supported; use http/protobuf, usually on port 4318");
  }
  return reader.oneOf(name, ["http/protobuf", "http/json"] as const);
}

function readBatch(reader: OtlpVariables, prefix: "OTEL_BSP" | "OTEL_BLRP", delayMs: number): OtlpBatch {
  const queueMax = reader.integer(`${prefix}_MAX_QUEUE_SIZE`, 1, otlpQueueMax) ?? 2_048;
  const batchMax = reader.integer(`${prefix}_MAX_EXPORT_BATCH_SIZE`, 1, otlpBatchMax) ?? 512;
  return {
    delayMs: reader.integer(`${prefix}_SCHEDULE_DELAY`, 0, otlpIntervalMsMax) ?? delayMs,
    timeoutMs: reader.integer(`${prefix}_EXPORT_TIMEOUT`, 1, otlpTimeoutMsMax) ?? 30_000,
    queueMax,
    batchMax: Math.min(batchMax, queueMax),
  };
}

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

function readSampler(reader: OtlpVariables): OtlpSampler {
  const name = reader.oneOf("OTEL_TRACES_SAMPLER", samplers) ?? "parentbased_always_on";
  const ratio = name.endsWith("traceidratio")
    ? reader.ratio("OTEL_TRACES_SAMPLER_ARG")
    : name.endsWith("always_on")
      ? 1
      : 0;
  return { parentBased: name.startsWith("parentbased_"), ratio };
}

/** The signals that message content is exported with. Accepts the old and new values of OpenTelemetry's instrumentations. */
function readContent(reader: OtlpVariables): { readonly inSpans: boolean; readonly inEvents: boolean } {
  const choices = ["span_only", "span_and_event", "event_only", "no_content", "true", "false"] as const;
  const choice = reader.oneOf("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", choices);
  return {
    inSpans: choice === "span_only" || choice === "span_and_event" || choice === "true",
    inEvents: choice === "event_only" || choice === "span_and_event",
  };
}

function readTemporality(reader: OtlpVariables): "cumulative" | "delta" {
  const name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
  const choice = reader.oneOf(name, ["cumulative", "delta", "lowmemory"] as const);
  return choice === "delta" || choice === "lowmemory" ? "delta" : "cumulative";
}

function readResource(reader: OtlpVariables): Readonly<Record<string, string>> {
  const attributes = reader.pairs("OTEL_RESOURCE_ATTRIBUTES");
  const serviceName = reader.text("OTEL_SERVICE_NAME") ?? attributes["service.name"] ?? "sluice";
  return Object.freeze({ ...attributes, "service.name": serviceName });
}

/** Baggage is neither read nor sent: nothing uses it, and it may identify the caller's user. */
function readPropagation(reader: OtlpVariables): boolean {
  const name = "OTEL_PROPAGATORS";
  const words = (reader.words(name) ?? ["tracecontext"]).map((word) => word.toLowerCase());
  if (words.some((word) => !["tracecontext", "baggage", "none"].includes(word))) {
    reader.refuse(name, "names an unsupported propagator; supported are tracecontext and none");
  }
  return words.includes("tracecontext") && !words.includes("none");
}

/** OpenTelemetry's specification requires that invalid values are ignored with a warning. */
class OtlpVariables extends VariableReader {
  /** Deduplicated, because general variables are read once per signal. */
  get warnings(): readonly string[] {
    return [...new Set(this.problems.map((problem) => `${problem}; the value is ignored`))];
  }

  /** A comma-separated list; null: not set. */
  words(name: string): readonly string[] | null {
    const words = this.text(name)
      ?.split(",")
      .map((word) => word.trim());
    return words?.filter((word) => word !== "") ?? null;
  }

  flag(name: string): boolean {
    return this.oneOf(name, ["true", "false"]) === "true";
  }

  ratio(name: string): number {
    const value = this.text(name);
    if (value === null) return 1;
    const number = /^(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?$/i.test(value) ? Number(value) : Number.NaN;
    return number >= 0 && number <= 1 ? number : (this.refuse(name, "must be a number from 0 to 1") ?? 1);
  }

  /** A URL without a username or password. */
  endpoint(name: string): string | null {
    const value = this.text(name);
    if (value === null) return null;
    const url = parseUrl(value, ["http", "https"]);
    if (url === null) return this.refuse(name, "must be a URL that starts with http:// or https://");
    if (url.username === "" && url.password === "") return value;
    return this.refuse(name, "must not contain a username or password; use the headers");
  }

  /** `name=value` pairs, separated by commas, with percent-encoded values. */
  pairs(name: string): Readonly<Record<string, string>> {
    const value = this.text(name);
    return value === null ? {} : (pairsOf(value) ?? this.refuse(name, pairsRule) ?? {});
  }

  /** Valid pairs, unparsed. */
  headers(name: string): Secret | null {
    const value = this.text(name);
    if (value === null) return null;
    const pairs = Object.entries(pairsOf(value) ?? { "": "" });
    const isValid = pairs.every(([key, text]) => /^[!#$%&'*+.^_`|~\w-]+$/.test(key) && /^[\t -~]*$/.test(text));
    return isValid ? new Secret(value) : this.refuse(name, pairsRule);
  }
}

const pairsRule = "must be comma-separated name=value pairs";

/** null: invalid. */
function pairsOf(text: string): Readonly<Record<string, string>> | null {
  const pairs: Record<string, string> = {};
  for (const part of text.split(",")) {
    if (part.trim() === "") continue;
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (at <= 0 || name === "") return null;
    try {
      pairs[decodeURIComponent(name)] = decodeURIComponent(part.slice(at + 1).trim());
    } catch {
      return null;
    }
  }
  return pairs;
}
