import { Secret } from "#core/index.ts";
import type { OtlpBatch, OtlpSampler, OtlpSettings, OtlpSignal } from "#ports/index.ts";
import type { Variables } from "./expand-variables.ts";

/** What the OTEL_ variables may say at most. */
const otlpTimeoutMsMax = 300_000;
const otlpIntervalMsMax = 3_600_000;
const otlpQueueMax = 1_000_000;
const otlpBatchMax = 50_000;

/**
 * What OpenTelemetry's variables say (specification of SDK environment variables, and of the OTLP exporter). Unlike there, nothing
 * is exported until somebody names an endpoint or says OTEL_<SIGNAL>_EXPORTER=otlp: a gateway calls nobody by itself.
 * `ownEndpoint`: from SLUICE_OTLP_ENDPOINT, in the place of OTEL_EXPORTER_OTLP_ENDPOINT where that is not set. `settings` null: nothing is exported.
 */
export function readOtlp(variables: Variables, ownEndpoint: string | null) {
  const reader = new OtlpVariables(variables);
  if (reader.flag("OTEL_SDK_DISABLED")) return { settings: null, warnings: reader.warnings };
  const base = reader.url("OTEL_EXPORTER_OTLP_ENDPOINT") ?? ownEndpoint;
  const traces = readSignal(reader, "TRACES", base);
  const metrics = readSignal(reader, "METRICS", base);
  const logs = readSignal(reader, "LOGS", base);
  if (traces === null && metrics === null && logs === null) return { settings: null, warnings: reader.warnings };
  const said = reader.words("OTEL_SEMCONV_STABILITY_OPT_IN") ?? [];
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
    oldNames: said.includes("gen_ai/dup"),
    costNames: said.includes("gen_ai_cost"),
  };
  return { settings: Object.freeze(settings), warnings: reader.warnings };
}

type SignalName = "TRACES" | "METRICS" | "LOGS";

function readSignal(reader: OtlpVariables, signal: SignalName, base: string | null): OtlpSignal | null {
  const exporter = readExporter(reader, signal);
  const own = reader.url(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`);
  const root = base ?? (exporter === "otlp" ? defaultEndpoint : null);
  if (exporter === "none" || (own === null && root === null)) return null;
  // The signal's own variable goes before that of all signals.
  const either = <T>(read: (name: string) => T | null, name: string): T | null =>
    read(`OTEL_EXPORTER_OTLP_${signal}_${name}`) ?? read(`OTEL_EXPORTER_OTLP_${name}`);
  const text = (name: string) => reader.text(name);
  return {
    url: own ?? belowOf(root ?? "", `/v1/${signal.toLowerCase()}`),
    headers: either((name) => reader.headers(name), "HEADERS"),
    protocol: either((name) => readProtocol(reader, name), "PROTOCOL") ?? "http/protobuf",
    compression:
      either((name) => reader.oneOf(name, ["none", "gzip"] as const, "nothing is compressed"), "COMPRESSION") ?? "none",
    timeoutMs: either((name) => reader.integer(name, 1, otlpTimeoutMsMax), "TIMEOUT") ?? 10_000,
    certificateFile: either(text, "CERTIFICATE"),
    clientCertificateFile: either(text, "CLIENT_CERTIFICATE"),
    clientKeyFile: either(text, "CLIENT_KEY"),
  };
}

const defaultEndpoint = "http://localhost:4318";

/** The signal's path is put behind that of the endpoint, before a query that it may have. */
function belowOf(root: string, path: string): string {
  const [, place = root, query = ""] = /^([^?#]*)(\?[^#]*)?/.exec(root) ?? [];
  return `${place.replace(/\/+$/, "")}${path}${query}`;
}

function readExporter(reader: OtlpVariables, signal: SignalName): "otlp" | "none" | null {
  const name = `OTEL_${signal}_EXPORTER`;
  const words = (reader.words(name) ?? []).map((word) => word.toLowerCase());
  // Whoever names Prometheus alone has its numbers at /metrics, and wants them sent nowhere.
  const isPulled = signal === "METRICS" && words.includes("prometheus");
  const known = isPulled ? ["otlp", "none", "prometheus"] : ["otlp", "none"];
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length > 0) reader.warn(name, "names an exporter that there is not here; there are otlp and none");
  if (words.includes("otlp")) return "otlp";
  return words.includes("none") || isPulled ? "none" : null;
}

function readProtocol(reader: OtlpVariables, name: string): OtlpSignal["protocol"] | null {
  if (reader.text(name)?.toLowerCase() === "grpc") {
    return reader.warn(name, "is grpc, which is not spoken here; http/protobuf is used, mostly at port 4318");
  }
  return reader.oneOf(name, ["http/protobuf", "http/json"] as const, "http/protobuf is used");
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
  const name =
    reader.oneOf("OTEL_TRACES_SAMPLER", samplers, "parentbased_always_on is used") ?? "parentbased_always_on";
  const ratio = name.endsWith("traceidratio")
    ? reader.ratio("OTEL_TRACES_SAMPLER_ARG")
    : name.endsWith("always_on")
      ? 1
      : 0;
  return { parentBased: name.startsWith("parentbased_"), ratio };
}

/** Where messages go. By the words of OpenTelemetry's instrumentations, old and new. */
function readContent(reader: OtlpVariables): { readonly inSpans: boolean; readonly inEvents: boolean } {
  const words = ["span_only", "span_and_event", "event_only", "no_content", "true", "false"] as const;
  const said = reader.oneOf("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", words, "no content is sent");
  return {
    inSpans: said === "span_only" || said === "span_and_event" || said === "true",
    inEvents: said === "event_only" || said === "span_and_event",
  };
}

function readTemporality(reader: OtlpVariables): "cumulative" | "delta" {
  const name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
  const said = reader.oneOf(name, ["cumulative", "delta", "lowmemory"] as const, "cumulative is used");
  return said === "delta" || said === "lowmemory" ? "delta" : "cumulative";
}

function readResource(reader: OtlpVariables): Readonly<Record<string, string>> {
  const said = reader.pairs("OTEL_RESOURCE_ATTRIBUTES");
  const serviceName = reader.text("OTEL_SERVICE_NAME") ?? said["service.name"] ?? "sluice";
  return Object.freeze({ ...said, "service.name": serviceName });
}

/** Baggage is neither read nor sent: nothing here would use it, and it may say who the caller's user is. */
function readPropagation(reader: OtlpVariables): boolean {
  const name = "OTEL_PROPAGATORS";
  const words = (reader.words(name) ?? ["tracecontext"]).map((word) => word.toLowerCase());
  if (words.some((word) => !["tracecontext", "baggage", "none"].includes(word))) {
    reader.warn(name, "names a form of propagation that there is not here; there are tracecontext and none");
  }
  return words.includes("tracecontext") && !words.includes("none");
}

/**
 * Reads OTEL_ variables as OpenTelemetry's specification says: empty is not set, and what cannot be understood is told of and
 * left out, never a reason not to start. No warning shows a value: it may be a credential in the wrong place.
 */
class OtlpVariables {
  readonly #warnings = new Set<string>();
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  /** Each once: what holds for all signals is read for each. */
  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  warn(name: string, problem: string): null {
    this.#warnings.add(`${name} ${problem}`);
    return null;
  }

  text(name: string): string | null {
    const value = this.#variables[name]?.trim() ?? "";
    if (value === "") return null;
    return value.includes("\0") ? this.warn(name, "holds a NUL character; it is not used") : value;
  }

  /** Separated by commas; null: not set. */
  words(name: string): readonly string[] | null {
    const words = this.text(name)
      ?.split(",")
      .map((word) => word.trim());
    return words?.filter((word) => word !== "") ?? null;
  }

  /** Only `true`, in whatever case, is true. */
  flag(name: string): boolean {
    const value = this.text(name)?.toLowerCase() ?? "false";
    if (value !== "true" && value !== "false") this.warn(name, "is neither true nor false; it counts as false");
    return value === "true";
  }

  oneOf<T extends string>(name: string, choices: readonly T[], instead: string): T | null {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return null;
    const known = choices.find((choice) => choice === value);
    return known ?? this.warn(name, `is none of ${choices.join(", ")}; ${instead}`);
  }

  /** A whole number; OpenTelemetry's times are milliseconds. */
  integer(name: string, min: number, max: number): number | null {
    const value = this.text(name);
    if (value === null) return null;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    return this.warn(name, `is no whole number from ${min} to ${max}; it is not used`);
  }

  ratio(name: string): number {
    const value = this.text(name);
    if (value === null) return 1;
    const number = /^(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?$/i.test(value) ? Number(value) : Number.NaN;
    if (number >= 0 && number <= 1) return number;
    this.warn(name, "is no number from 0 to 1; 1 is used");
    return 1;
  }

  /** An address of HTTP without a user or a password. */
  url(name: string): string | null {
    const value = this.text(name);
    if (value === null) return null;
    const url = URL.parse(value);
    if (url === null || (url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "") {
      return this.warn(name, "must be an address that begins with http:// or https://; it is not used");
    }
    if (url.username === "" && url.password === "") return value;
    return this.warn(name, "must not hold a user or a password (say them in the headers); it is not used");
  }

  /** `name=value` pairs, separated by commas, their values percent-encoded. */
  pairs(name: string): Readonly<Record<string, string>> {
    const value = this.text(name);
    if (value === null) return {};
    const pairs = pairsOf(value);
    if (pairs !== null) return pairs;
    this.warn(name, "is not name=value pairs separated by commas; it is not used");
    return {};
  }

  /** The same as a secret, unread but checked. */
  headers(name: string): Secret | null {
    const value = this.text(name);
    if (value === null) return null;
    const pairs = pairsOf(value);
    const fits =
      pairs !== null &&
      Object.entries(pairs).every(([key, said]) => /^[!#$%&'*+.^_`|~\w-]+$/.test(key) && /^[\t -~]*$/.test(said));
    return fits ? new Secret(value) : this.warn(name, "is not name=value pairs separated by commas; it is not used");
  }
}

/** null: something in it is no pair. */
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
