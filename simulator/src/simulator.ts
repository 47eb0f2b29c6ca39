import { bounds } from "./bounds.ts";
import { answerControl } from "./control.ts";
import type { Dialect } from "./dialect.ts";
import { openAiChat } from "./dialects/openai-chat.ts";
import { openAiModels } from "./dialects/openai-models.ts";
import { generate } from "./generation.ts";
import type { HeaderRow, Outlet } from "./outlet.ts";
import { createPacer } from "./pacer.ts";
import { createResponseOutlet } from "./response-outlet.ts";
import { emptyScript, type Script } from "./script.ts";
import { createScriptSource, type Preset } from "./script-source.ts";
import { createTruth, type Truth, type TruthRecord } from "./truth.ts";

export interface SimulatorOptions {
  /** What GET /v1/models lists. Any name may be called. */
  readonly models?: readonly string[];
  /** The script under all others: `{event_ms: 25}` makes a demo that is pleasant to watch. */
  readonly defaults?: Script;
  /** False: `x-sim-script`, marks in messages and model prefixes are not obeyed. Default true. */
  readonly obeysRequests?: boolean;
  /** Records kept in memory. */
  readonly truthRecordsMax?: number;
  /** Told of each record when its answer is over. */
  readonly onRecord?: (record: TruthRecord) => void;
  /** Asked to bring records to where `onRecord` puts them, before the truth is listed. */
  readonly onFlush?: () => void;
}

/** One request, already read. Header names are lower case. */
export interface SimulatorRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Simulator {
  /** In process. Byte-level faults (cut, reset) surface as an error of the body or of the call. */
  fetch(request: Request): Promise<Response>;
  /** Any other face. Resolves when the answer is over. */
  serve(request: SimulatorRequest, outlet: Outlet): Promise<void>;
  readonly truth: Truth;
  addPreset(preset: Preset): void;
  clearPresets(): void;
}

export const simulatorModels: readonly string[] = Object.freeze(["demo", "demo-mini"]);

/** A new dialect is a file in dialects/ and a word here. */
const dialects: readonly Dialect[] = [openAiChat];

export function createSimulator(options: SimulatorOptions = {}): Simulator {
  const truth = createTruth(options.truthRecordsMax ?? bounds.truthRecordsMax, options.onRecord ?? nothing);
  const source = createScriptSource();
  const models = options.models ?? simulatorModels;
  let sequence = 0;

  async function serve(request: SimulatorRequest, outlet: Outlet): Promise<void> {
    const dialect = dialects.find((one) => one.matches(request.method, request.path));
    if (dialect === undefined) return answerPlain(request, outlet);
    sequence += 1;
    const record = truth.begin({ path: request.path, headers: request.headers, receivedAt: Date.now() });
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
      truth.end(record);
    }
  }

  function answerPlain(request: SimulatorRequest, outlet: Outlet): void {
    const known = request.path.startsWith("/__sim/")
      ? answerControl(request, { truth, source, flush: options.onFlush ?? nothing })
      : request.method === "GET"
        ? openAiModels(request.path, models)
        : null;
    const { status, body } = known ?? { status: 404, body: notFound(request) };
    outlet.whole(status, jsonHeaders, body);
  }

  async function fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const body = new Uint8Array(await request.arrayBuffer());
    const { outlet, response } = createResponseOutlet(request.signal);
    const headers = Object.fromEntries(request.headers);
    const query = url.search.slice(1);
    serve({ method: request.method, path: url.pathname, query, headers, body }, outlet).catch(() => outlet.reset());
    return response;
  }

  return { fetch, serve, truth, addPreset: source.add, clearPresets: source.clear };
}

const jsonHeaders: readonly HeaderRow[] = [["content-type", "application/json"]];

function nothing(): void {}

function notFound(request: SimulatorRequest): string {
  const message = `Invalid URL (${request.method} ${request.path})`;
  return JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null } });
}
