import { composeAnswer } from "./answer.ts";
import { bounds } from "./bounds.ts";
import { type Asked, type Dialect, Refusal } from "./dialect.ts";
import type { HeaderRow, Outlet } from "./outlet.ts";
import type { Pacer } from "./pacer.ts";
import { playStream } from "./play-stream.ts";
import { playWhole } from "./play-whole.ts";
import { emptyScript, parseScript, type Script, ScriptInvalid } from "./script.ts";
import type { ScriptSource } from "./script-source.ts";
import type { SimulatorRequest } from "./simulator.ts";
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
  const { record, request, pacer, outlet } = generation;
  record.body_bytes = request.body.length;
  record.body_sha256 = Bun.CryptoHasher.hash("sha256", request.body, "hex");
  const read = readAsked(generation);
  if (read instanceof Refusal) return refuse(generation, read, null, emptyScript);
  const { asked, script } = read;
  record.model = asked.model;
  record.stream = asked.stream;
  if (script.keep_received === true) {
    record.received_body = Buffer.from(request.body.subarray(0, bounds.keptBytesMax)).toString("utf8");
  }
  const failing = generation.source.failing(script, () => record.body_sha256);
  const status = script.fail_first === undefined ? script.status : failing ? (script.status ?? 500) : undefined;
  if ((script.latency_ms ?? 0) > 0) await pacer.pause(script.latency_ms ?? 0);
  if (outlet.closed) return;
  if (script.drop === true) return outlet.cut();
  if (script.raw_reply !== undefined) {
    outlet.raw(Buffer.from(script.raw_reply, "latin1"));
    return outlet.cut();
  }
  if (status !== undefined && status >= 400) {
    return refuse(generation, new Refusal(status, sayingOf(status, script)), asked, script);
  }
  return deliver(generation, asked, script, status ?? 200);
}

function readAsked(generation: Generation): { asked: Asked; script: Script } | Refusal {
  const { dialect, request, source, defaults } = generation;
  try {
    const asked = dialect.read(request.body);
    const preset = source.take(asked.model);
    const header = request.headers["x-sim-script"];
    const own = generation.obeysRequests
      ? { ...asked.script, ...(header === undefined ? emptyScript : parseScript(header)) }
      : emptyScript;
    return { asked, script: { ...defaults, ...preset, ...own } };
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown;
    if (thrown instanceof ScriptInvalid) return new Refusal(400, `simulator: ${thrown.message}`);
    throw thrown;
  }
}

async function refuse(generation: Generation, refusal: Refusal, asked: Asked | null, script: Script): Promise<void> {
  const headers = headersFor(generation, asked, script, "application/json");
  if (script.retry_after !== undefined) headers.push(["retry-after", String(script.retry_after)]);
  const body = script.body ?? generation.dialect.error(refusal);
  await playWhole({ ...generation, status: refusal.status, headers, body, script });
}

async function deliver(generation: Generation, asked: Asked, script: Script, status: number): Promise<void> {
  const { dialect, outlet, record } = generation;
  const answer = composeAnswer(asked, script);
  const reply = { id: `chatcmpl-sim${generation.sequence}`, created: Math.floor(record.received_at / 1000) };
  record.prompt_tokens = answer.promptTokens;
  record.cached_tokens = answer.usage?.cached ?? 0;
  if (asked.stream) {
    record.status = status;
    outlet.head(status, headersFor(generation, asked, script, "text/event-stream; charset=utf-8"), null);
    const errorData = dialect.error(new Refusal(500, "The server had an error while processing your request."));
    const events = dialect.events(reply, asked, answer);
    return playStream({ ...generation, events, answer, script, errorData });
  }
  const headers = headersFor(generation, asked, script, "application/json");
  const body = script.body ?? dialect.reply(reply, asked, answer);
  record.output_tokens_emitted = answer.count * answer.choices + answer.reasoningTokens;
  record.usage_sent = answer.usage !== null;
  await playWhole({ ...generation, status, headers, body, script });
  record.terminal_sent = record.aborted_at === null;
}

function headersFor(generation: Generation, asked: Asked | null, script: Script, type: string): HeaderRow[] {
  const own: HeaderRow[] = [["content-type", type]];
  const vendor = generation.dialect.headers(`req_sim${generation.sequence}`, asked);
  const more = script.headers === undefined ? [] : Object.entries(script.headers);
  return [...own, ...vendor, ...more];
}

function sayingOf(status: number, script: Script): string {
  if (status === 429) {
    const seconds = typeof script.retry_after === "number" ? script.retry_after : 1;
    return `Rate limit reached for requests. Please try again in ${seconds}s.`;
  }
  return status >= 500
    ? "The server had an error while processing your request."
    : `The request was refused (${status}).`;
}
