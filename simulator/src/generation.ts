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
  /** False: scripts in the request are plain text. */
  readonly obeysRequests: boolean;
  readonly sequence: number;
}

/** One generation call from reading to the last byte. Never throws for what a caller sent. */
export async function generate(generation: Generation): Promise<void> {
  const { pacer, outlet, record } = generation;
  const read = readExchange(generation);
  if (read instanceof Refusal) return refuse(generation, read, null, emptyScript);
  const { exchange, script } = read;
  noteRequest(generation, exchange.asked, script);
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
  if (refusal !== null) return refuse(generation, refusal, exchange.asked, script);
  if (script.answer_lost !== undefined) return lose(generation, exchange, script);
  return deliver(generation, exchange, script, status ?? exchange.status ?? 200);
}

/** Everything was done, and nobody is told. */
async function lose({ pacer, outlet, record }: Generation, exchange: Exchange, script: Script): Promise<void> {
  noteAnswer(record, exchange.compose?.(script) ?? composeAnswer(exchange.asked, script));
  if (script.answer_lost === "silent") await pacer.pause(script.stall_ms ?? bounds.waitMsMax);
  if (script.answer_lost === "reset") outlet.reset();
  else outlet.cut();
}

function noteRequest({ record, request }: Generation, asked: ParsedRequest, script: Script): void {
  record.model = asked.model;
  record.stream = asked.stream;
  if (script.keep_received === true) {
    record.received_body = Buffer.from(request.body.subarray(0, bounds.keptBytesMax)).toString("utf8");
  }
}

function readExchange(generation: Generation): { exchange: Exchange; script: Script } | Refusal {
  const { dialect, request, source, defaults } = generation;
  return orRefusal(() => {
    const exchange = dialect.read(request);
    const { asked } = exchange;
    const named = dialect.aside === true || exchange.aside !== undefined;
    const preset = source.take(exchange.aside ?? asked.model, named);
    const header = request.headers["x-sim-script"];
    const own = generation.obeysRequests
      ? { ...asked.script, ...(header === undefined ? emptyScript : parseScript(header)) }
      : emptyScript;
    return { exchange, script: { ...defaults, ...exchange.inherited, ...preset, ...own } };
  });
}

/** Why there is no answer: the script says so, or the dialect once it knows the script. */
function refusalOf(
  generation: Generation,
  exchange: Exchange,
  script: Script,
  status: number | undefined,
): Refusal | null {
  if (status !== undefined && status >= 400) {
    const code = script.error_code === undefined ? {} : { code: script.error_code };
    return new Refusal(status, script.error_message ?? sayingOf(status, script), code);
  }
  const admitted = orRefusal(() => exchange.admit?.(script, generation.record) ?? null);
  return admitted instanceof Refusal ? admitted : null;
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
  asked: ParsedRequest | null,
  script: Script,
): Promise<void> {
  const requestId = requestIdOf(generation);
  const vendor = generation.dialect.headers({ requestId, asked, answer: null, refusal });
  const headers = withScripted([["content-type", "application/json"], ...vendor], script);
  if (script.retry_after !== undefined) headers.push(["retry-after", String(script.retry_after)]);
  const { dialect, request } = generation;
  // An answer to HEAD has no body.
  const body = request.method === "HEAD" ? "" : (script.body ?? dialect.error(refusal, requestId, request));
  await playWhole({ ...generation, status: dialect.statusOf?.(refusal) ?? refusal.status, headers, body, script });
}

async function deliver(generation: Generation, exchange: Exchange, script: Script, status: number): Promise<void> {
  const { dialect, outlet, record } = generation;
  const { asked } = exchange;
  const answer = exchange.compose?.(script) ?? composeAnswer(asked, script);
  const requestId = requestIdOf(generation);
  const head: ReplyHead = {
    sequence: generation.sequence,
    created: Math.floor(record.received_at / 1000),
    requestId,
    script,
  };
  noteAnswer(record, answer);
  const vendor = dialect.headers({ requestId, asked, answer, refusal: null });
  if (asked.stream) {
    const framing = exchange.framing?.(script) ?? sseFraming;
    record.status = status;
    outlet.head(status, withScripted([["content-type", framing.type], ...vendor], script), null);
    const error = (): DialectEvent => exchange.errorEvent(new Refusal(500, sayingOf(500, script)), requestId);
    const events = exchange.events(head, answer);
    return playStream({ ...generation, events, answer, script, framing, ping: exchange.ping, error });
  }
  if (exchange.bytes !== undefined) {
    const source = exchange.bytes();
    const own: readonly HeaderRow[] = [
      ["content-type", source.type],
      ["accept-ranges", "bytes"],
    ];
    const headers = withScripted([...own, ...vendor, ...(exchange.rows ?? [])], script);
    return playBytes({ ...generation, source, headers, script });
  }
  const own = exchange.rows ?? [];
  const type: readonly HeaderRow[] = own.some(([name]) => name === "content-type")
    ? []
    : [["content-type", "application/json"]];
  const headers = withScripted([...type, ...vendor, ...own], script);
  const body = script.body ?? exchange.whole(head, answer);
  record.output_tokens_emitted = answer.contentTokens + answer.reasoningTokens;
  record.usage_sent = answer.usage !== null;
  await playWhole({ ...generation, status, headers, body, script });
  record.terminal_sent = record.aborted_at === null;
}

function noteAnswer(record: TruthRecord, answer: Answer): void {
  record.prompt_tokens = answer.promptTokens;
  record.cached_tokens = answer.usage?.cached ?? 0;
  record.cache_write_tokens = (answer.usage?.cacheWrite ?? 0) + (answer.usage?.cacheWrite1h ?? 0);
  record.reasoning_tokens = answer.reasoningTokens;
}

function requestIdOf(generation: Generation): string {
  return `req_sim${generation.sequence}`;
}

/** The script's headers take the place of the vendor's of the same name. */
function withScripted(rows: readonly HeaderRow[], script: Script): HeaderRow[] {
  const more = Object.entries(script.headers ?? {});
  const names = new Set(more.map(([name]) => name.toLowerCase()));
  return [...rows.filter(([name]) => !names.has(name)), ...more];
}

function sayingOf(status: number, script: Script): string {
  if (status === 429) {
    const seconds = typeof script.retry_after === "number" ? script.retry_after : 1;
    return `Rate limit reached for requests. Please try again in ${seconds}s.`;
  }
  if (status === 529) return "Overloaded";
  return status >= 500
    ? "The server had an error while processing your request."
    : `The request was refused (${status}).`;
}
