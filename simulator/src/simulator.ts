import { createBodySink } from "./body-sink.ts";
import { bounds } from "./bounds.ts";
import { answerControl } from "./control.ts";
import type { ArkAccount } from "./dialects/ark-accounts.ts";
import { type BillingRules, createBilling } from "./dialects/billing.ts";
import { createGeminiBatches } from "./dialects/gemini-batches.ts";
import { createDialects } from "./dialects/list.ts";
import { answerModels } from "./dialects/models.ts";
import { createOpenAiObjects } from "./dialects/openai-objects.ts";
import { createStoredObjects } from "./dialects/stored-objects.ts";
import { createVendorFiles, type VendorFiles } from "./dialects/vendor-files.ts";
import { generate } from "./generation.ts";
import { multipartBoundary } from "./multipart-reader.ts";
import type { HeaderRow, Outlet } from "./outlet.ts";
import { createPacer } from "./pacer.ts";
import { recordOutlet } from "./record-outlet.ts";
import type { SimulatorRequest } from "./request.ts";
import { createResponseOutlet } from "./response-outlet.ts";
import { emptyScript, type Script } from "./script.ts";
import { createScriptSource, type Preset } from "./script-source.ts";
import { createTaskStore } from "./task-store.ts";
import type { TaskTruth } from "./task-truth.ts";
import { imagePath, tinyPng } from "./tiny-png.ts";
import { createTruth, type Truth, type TruthRecord } from "./truth.ts";

export interface SimulatorOptions {
  /** The models listed by GET /v1/models. A call may use any name. */
  readonly models?: readonly string[];
  /** The default script, which all others override: with `{event_ms: 25}` a demo is pleasant to watch. */
  readonly defaults?: Script;
  /** False: `x-sim-script`, markers in messages and model prefixes are ignored. Default true. */
  readonly obeysRequests?: boolean;
  /** The secret access key for AWS signatures. Without it (and without a script's) any signature is accepted. */
  readonly awsSecret?: string;
  /** The public key (PEM) for assertions at the token endpoint. Without it any assertion is accepted. */
  readonly googlePublicKey?: string;
  /** The accounts that may sign calls to Ark's assets, by access key id. Default: one documented pair. */
  readonly arkAccounts?: Readonly<Record<string, ArkAccount>>;
  /** The secrets for Kling's tokens, by access key. Default: one documented pair. */
  readonly klingKeys?: Readonly<Record<string, string>>;
  /** The URL before the path of videos and images in links. Default: the host that the request was sent to. */
  readonly filesUrl?: string;
  /** Sends callbacks. Default: the global fetch. */
  readonly sendCallback?: (url: string, init: RequestInit) => Promise<Response>;
  /** The number of records held in memory. */
  readonly truthRecordsMax?: number;
  /** Called with each record when its answer is complete. */
  readonly onRecord?: (record: TruthRecord) => void;
  /** Called before the truth is listed, so that pending records can be written to where `onRecord` puts them. */
  readonly onFlush?: () => void;
}

export interface Simulator {
  /** Serves a request in process. Byte-level faults (cut, reset) appear as an error of the body or of the call. */
  fetch(request: Request): Promise<Response>;
  /** Serves a request from any other front end. Resolves when the answer is complete. */
  serve(request: SimulatorRequest, outlet: Outlet): Promise<void>;
  readonly truth: Truth;
  /** Every accepted task, even if its caller never received the answer. */
  readonly tasks: Pick<TaskTruth, "list" | "clear">;
  /** Every file that an account received. */
  readonly files: Pick<VendorFiles, "list">;
  /** From now on the billing endpoints of the vendors answer, from the truth. */
  setBilling(rules: BillingRules): void;
  addPreset(preset: Preset): void;
  clearPresets(): void;
}

const simulatorModels: readonly string[] = Object.freeze(["demo", "demo-mini"]);

export function createSimulator(options: SimulatorOptions = {}): Simulator {
  const truth = createTruth(options.truthRecordsMax ?? bounds.truthRecordsMax, options.onRecord ?? nothing);
  const source = createScriptSource();
  const models = options.models ?? simulatorModels;
  const post = options.sendCallback ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init));
  const tasks = createTaskStore({ filesUrl: options.filesUrl ?? null, post });
  const billing = createBilling(truth);
  const files = createVendorFiles();
  const objects = createOpenAiObjects(files);
  const stored = createStoredObjects(files);
  const batches = createGeminiBatches(files, runRow);
  const dialects = createDialects(options, tasks, files);
  let sequence = 0;

  async function serve(request: SimulatorRequest, clientOutlet: Outlet): Promise<void> {
    const ofBatch = batches.answer(request);
    if (ofBatch !== null) {
      const { status, body } = await ofBatch;
      return void (await clientOutlet.whole(status, jsonHeaders, body));
    }
    const dialect = dialects.find((candidate) => candidate.matches(request));
    if (dialect === undefined) return answerPlain(request, clientOutlet);
    sequence += 1;
    const { method, path, query, headers } = request;
    const record = truth.begin({ dialect: dialect.id, method, path, query, headers, receivedAt: Date.now() });
    recordBody(record, request, dialect.secret === true);
    const { outlet, recorded } = recordOutlet(clientOutlet);
    const pacer = createPacer(outlet, () => {
      record.aborted_at = Date.now();
    });
    try {
      await generate({
        dialect,
        request,
        outlet,
        pacer,
        record,
        source,
        defaults: options.defaults ?? emptyScript,
        obeysRequests: options.obeysRequests ?? true,
        sequence,
      });
    } finally {
      record.ended_at = Date.now();
      const sent = recorded();
      record.reply_sha256 = sent.sha256;
      record.reply_text = sent.text;
      truth.end(record);
    }
  }

  async function answerPlain(request: SimulatorRequest, outlet: Outlet): Promise<void> {
    if (request.method === "GET" && request.path.startsWith(imagePath)) {
      outlet.head(200, [["content-type", "image/png"]], tinyPng.length);
      await outlet.write(tinyPng);
      await outlet.end();
      return;
    }
    if (request.method === "HEAD") return void (await outlet.whole(404, jsonHeaders, ""));
    const answer = request.path.startsWith("/__sim/")
      ? answerControl(request, { truth, tasks: tasks.truth, source, flush: options.onFlush ?? nothing })
      : (billing.answer(request) ??
        files.answer(request) ??
        objects.answer(request) ??
        stored.answer(request) ??
        (request.method === "GET" ? answerModels(request, models) : null));
    const { status, body, headers = [] }: PlainAnswer = answer ?? { status: 404, body: notFound(request) };
    const isTyped = headers.some(([name]) => name === "content-type");
    await outlet.whole(status, isTyped ? headers : [...jsonHeaders, ...headers], body);
  }

  async function fetch(request: Request): Promise<Response> {
    const { outlet, response } = createResponseOutlet(request.signal);
    serve(await readRequest(request), outlet).catch(() => outlet.reset());
    return response;
  }

  async function runRow(request: SimulatorRequest): Promise<{ readonly status: number; readonly body: string }> {
    const { outlet, response } = createResponseOutlet(new AbortController().signal);
    serve(request, outlet).catch(() => outlet.reset());
    const answer = await response;
    return { status: answer.status, body: await answer.text() };
  }

  return {
    fetch,
    serve,
    truth,
    tasks: tasks.truth,
    files,
    setBilling: billing.set,
    addPreset: source.add,
    clearPresets: source.clear,
  };
}

interface PlainAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: readonly HeaderRow[];
}

const jsonHeaders: readonly HeaderRow[] = [["content-type", "application/json"]];

async function readRequest(request: Request): Promise<SimulatorRequest> {
  const url = new URL(request.url);
  const headers: Record<string, string> = { host: url.host, ...Object.fromEntries(request.headers) };
  const sink = createBodySink(headers["content-type"]);
  if (multipartBoundary(headers["content-type"]) === null) sink.take(new Uint8Array(await request.arrayBuffer()));
  else for await (const piece of request.body ?? []) sink.take(piece);
  return { method: request.method, path: url.pathname, query: url.search.slice(1), headers, ...sink.finish() };
}

function recordBody(record: TruthRecord, request: SimulatorRequest, secret: boolean): void {
  const { body, upload } = request;
  record.body_bytes = upload?.bytes ?? body.length;
  record.body_sha256 = upload?.sha256 ?? Bun.CryptoHasher.hash("sha256", body, "hex");
  if (secret) return;
  if (upload === undefined) {
    record.body_text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(
      "utf8",
      0,
      Math.min(body.length, bounds.truthTextBytesMax),
    );
  } else {
    record.parts = upload.parts;
  }
}

function nothing(): void {}

function notFound(request: SimulatorRequest): string {
  const message = `Invalid URL (${request.method} ${request.path})`;
  return JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null } });
}
