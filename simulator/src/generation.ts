import { type Answer, composeAnswer } from "./answer.ts";
import { bounds } from "./bounds.ts";
import { type Dialect, type Exchange, Refusal, type ReplyHead } from "./dialect.ts";
import { type DialectEvent, sseFraming } from "./framing.ts";
import type { HeaderRow, Outlet } from "./outlet.ts";
import type { Pacer } from "./pacer.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import { playBytes } from "./play-bytes.ts";
import { playStream } from "./play-stream.ts";
import { playWhole } from "./play-whole.ts";
import type { SimulatorRequest } from "./request.ts";
import { emptyScript, parseScript, type Script, ScriptInvalid } from "./script.ts";
import type { ScriptSource } from "./script-source.ts";
import type { TruthRecord } from "./truth.ts";

export interface Generation {
  readonly dialect: Dialect;
  readonly request: SimulatorRequest;
  readonly outlet: Outlet;
  readonly pacer: Pacer;
  readonly record: TruthRecord;
  readonly source: ScriptSource;
  readonly defaults: Script;
  /** False: scripts in the request are treated as plain text. */
  readonly obeysRequests: boolean;
  readonly sequence: number;
}

/** Handles one generation call, from parsing to the last byte. Never throws because of what a caller sent. */
export async function generate(generation: Generation): Promise<void> {
  const { pacer, outlet, record } = generation;
  const read = readExchange(generation);
  if (read instanceof Refusal) return refuse(generation, read, null, emptyScript);
  const { exchange, script } = read;
  recordRequest(generation, exchange.parsed, script);
  const failing = generation.source.failing(script, () => record.body_sha256);
  const status = script.fail_first === undefined ? script.status : failing ? (script.status ?? 500) : undefined;
  if ((script.latency_ms ?? 0) > 0) await pacer.pause(script.latency_ms ?? 0);
  if (outlet.closed) return;
  if (script.drop === true) return outlet.cut();
  if (script.raw_reply !== undefined) {
    outlet.raw(Buffer.from(script.raw_reply, "latin1"));
    return outlet.cut();
  }
  const refusal = refusalOf(generation, exchange, script, status);
  if (refusal !== null) return refuse(generation, refusal, exchange.parsed, script);
  if (script.answer_lost !== undefined) return loseAnswer(generation, exchange, script);
  return deliver(generation, exchange, script, status ?? exchange.status ?? 200);
}

/** The request is carried out, but its answer never arrives. */
async function loseAnswer({ pacer, outlet, record }: Generation, exchange: Exchange, script: Script): Promise<void> {
  recordAnswer(record, exchange.compose?.(script) ?? composeAnswer(exchange.parsed, script));
  if (script.answer_lost === "silent") await pacer.pause(script.stall_ms ?? bounds.waitMsMax);
  if (script.answer_lost === "reset") outlet.reset();
  else outlet.cut();
}

function recordRequest({ record, request }: Generation, parsed: ParsedRequest, script: Script): void {
  record.model = parsed.model;
  record.stream = parsed.stream;
  if (script.keep_received === true) {
    record.received_body = Buffer.from(request.body.subarray(0, bounds.storedBytesMax)).toString("utf8");
  }
}

function readExchange(generation: Generation): { exchange: Exchange; script: Script } | Refusal {
  const { dialect, request, source, defaults } = generation;
  return orRefusal(() => {
    const exchange = dialect.read(request);
    const { parsed } = exchange;
    const isAuxiliary = dialect.auxiliary === true || exchange.presetName !== undefined;
    const preset = source.take(exchange.presetName ?? parsed.model, isAuxiliary);
    const header = request.headers["x-sim-script"];
    const requestScript = generation.obeysRequests
      ? { ...parsed.script, ...(header === undefined ? emptyScript : parseScript(header)) }
      : emptyScript;
    return { exchange, script: { ...defaults, ...exchange.inherited, ...preset, ...requestScript } };
  });
}

/** Returns a refusal if the script demands one or the dialect refuses because of the script. */
function refusalOf(
  generation: Generation,
  exchange: Exchange,
  script: Script,
  status: number | undefined,
): Refusal | null {
  if (status !== undefined && status >= 400) {
    const code = script.error_code === undefined ? {} : { code: script.error_code };
    return new Refusal(status, script.error_message ?? messageOf(status, script), code);
  }
  const admission = orRefusal(() => exchange.admit?.(script, generation.record) ?? null);
  return admission instanceof Refusal ? admission : null;
}

function orRefusal<T>(act: () => T): T | Refusal {
  try {
    return act();
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown;
    if (thrown instanceof ScriptInvalid) return new Refusal(400, `simulator: ${thrown.message}`);
    throw thrown;
  }
}

async function refuse(
  generation: Generation,
  refusal: Refusal,
  parsed: ParsedRequest | null,
  script: Script,
): Promise<void> {
  const requestId = requestIdOf(generation);
  const vendor = generation.dialect.headers({ requestId, parsed, answer: null, refusal });
  const headers = withScriptHeaders([["content-type", "application/json"], ...vendor], script);
  if (script.retry_after !== undefined) headers.push(["retry-after", String(script.retry_after)]);
  const { dialect, request } = generation;
  // A response to HEAD has no body.
  const body = request.method === "HEAD" ? "" : (script.body ?? dialect.error(refusal, requestId, request));
  await playWhole({ ...generation, status: dialect.statusOf?.(refusal) ?? refusal.status, headers, body, script });
}

async function deliver(generation: Generation, exchange: Exchange, script: Script, status: number): Promise<void> {
  const { dialect, outlet, record } = generation;
  const { parsed } = exchange;
  const answer = exchange.compose?.(script) ?? composeAnswer(parsed, script);
  const requestId = requestIdOf(generation);
  const head: ReplyHead = {
    sequence: generation.sequence,
    created: Math.floor(record.received_at / 1000),
    requestId,
    script,
  };
  recordAnswer(record, answer);
  const vendor = dialect.headers({ requestId, parsed, answer, refusal: null });
  if (parsed.stream) {
    const framing = exchange.framing?.(script) ?? sseFraming;
    record.status = status;
    outlet.head(status, withScriptHeaders([["content-type", framing.type], ...vendor], script), null);
    const error = (): DialectEvent => exchange.errorEvent(new Refusal(500, messageOf(500, script)), requestId);
    const events = exchange.events(head, answer);
    return playStream({ ...generation, events, answer, script, framing, ping: exchange.ping, error });
  }
  if (exchange.bytes !== undefined) {
    const source = exchange.bytes();
    const bodyHeaders: readonly HeaderRow[] = [
      ["content-type", source.type],
      ["accept-ranges", "bytes"],
    ];
    const headers = withScriptHeaders([...bodyHeaders, ...vendor, ...(exchange.rows ?? [])], script);
    return playBytes({ ...generation, source, headers, script });
  }
  const rows = exchange.rows ?? [];
  const type: readonly HeaderRow[] = rows.some(([name]) => name === "content-type")
    ? []
    : [["content-type", "application/json"]];
  const headers = withScriptHeaders([...type, ...vendor, ...rows], script);
  const body = script.body ?? exchange.whole(head, answer);
  record.output_tokens_emitted = answer.contentTokens + answer.reasoningTokens;
  record.usage_sent = answer.usage !== null;
  await playWhole({ ...generation, status, headers, body, script });
  record.terminal_sent = record.aborted_at === null;
}

function recordAnswer(record: TruthRecord, answer: Answer): void {
  record.prompt_tokens = answer.promptTokens;
  record.cached_tokens = answer.usage?.cached ?? 0;
  record.cache_write_tokens = (answer.usage?.cacheWrite ?? 0) + (answer.usage?.cacheWrite1h ?? 0);
  record.reasoning_tokens = answer.reasoningTokens;
}

function requestIdOf(generation: Generation): string {
  return `req_sim${generation.sequence}`;
}

/** The script's headers replace the vendor's headers of the same name. */
function withScriptHeaders(rows: readonly HeaderRow[], script: Script): HeaderRow[] {
  const added = Object.entries(script.headers ?? {});
  const names = new Set(added.map(([name]) => name.toLowerCase()));
  return [...rows.filter(([name]) => !names.has(name)), ...added];
}

function messageOf(status: number, script: Script): string {
  if (status === 429) {
    const seconds = typeof script.retry_after === "number" ? script.retry_after : 1;
    return `Rate limit reached for requests. Please try again in ${seconds}s.`;
  }
  if (status === 529) return "Overloaded";
  return status >= 500
    ? "The server had an error while processing your request."
    : `The request was refused (${status}).`;
}
