import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ModelEndpointRow } from "@sluice/contract";
import { type ModelEndpointId, modelEndpoints } from "@sluice/contract/words";
import type { Script } from "@sluice/simulator";
import OpenAI from "openai";
import { clientsOf, errorFrom } from "./endpoint-matrix/clients.ts";
import { columns, endpointMatrixConfig, idOf, modelOf, typeOf, upstreamModel } from "./endpoint-matrix/columns.ts";
import { callableKinds, endpointsOf } from "./endpoint-matrix/docs-table.ts";
import { cellTable } from "./endpoint-matrix/print-cells.ts";
import { pictureRows } from "./endpoint-matrix/rows-pictures.ts";
import { soundRows } from "./endpoint-matrix/rows-sound.ts";
import { textRows } from "./endpoint-matrix/rows-text.ts";
import { vectorRows } from "./endpoint-matrix/rows-vectors.ts";
import { type Cell, runCells } from "./endpoint-matrix/run.ts";
import { exportLedger, type LedgerRow } from "./ledger-rows.ts";
import { createRecorder } from "./matrix/recorder.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

/**
 * Calls every endpoint that is forwarded or takes small requests, with its official client, on every kind of upstream. Endpoints
 * that the documentation's tables list must be served, recorded in the ledger and fail correctly; all others must be refused.
 */
const rows = [...textRows, ...vectorRows, ...soundRows, ...pictureRows];

/** Endpoints that are translated into each other; the SDK matrix tests them. */
const conversations: readonly ModelEndpointId[] = [
  ...(["chat", "messages", "responses", "responses-compact", "generate", "interactions"] as const),
];

const endpoints = rows.map(({ endpoint }) => endpoint);

let setup: TestSetup;
let cells: readonly Cell[] = [];
beforeAll(async () => {
  setup = await openSetup((simulatorUrl) => endpointMatrixConfig(simulatorUrl, endpoints));
  cells = await runCells(setup, rows, columns);
  console.log(`\n${cellTable(cells)}\n`);
});
afterAll(() => setup?.close());

describe.each(endpoints)("%s", (endpoint) => {
  test.each(columns.map(({ name }) => name))("at %s", (name) => {
    const cell = cells.find(({ row, column }) => row.endpoint === endpoint && column.name === name);
    expect(cell?.checks).toBeGreaterThan(0);
    expect(cell?.faults).toEqual([]);
  });
});

describe("completeness", () => {
  test("every endpoint for models has a row here, or is a conversation endpoint", () => {
    expect([...endpoints, ...conversations].toSorted()).toEqual(
      Object.keys(modelEndpoints).toSorted() as ModelEndpointId[],
    );
  });

  test("every kind that serves models has a column, and each of its endpoints a cell that is served", () => {
    expect([...new Set(columns.map(({ kind }) => kind))].toSorted()).toEqual(callableKinds.toSorted());
    const missing = callableKinds.flatMap((kind) =>
      endpointsOf(kind)
        .filter((name) => endpoints.some((endpoint) => endpoint === name) && !onlyIfListed.has(`${kind} ${name}`))
        .filter((name) => !columns.some((column) => column.kind === kind && column.served.has(name as ModelEndpointId)))
        .map((name) => `${kind} ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test("the model list names the same endpoints as the documentation", async () => {
    const { openai } = clientsOf({ url: setup.gateway.url, key: keys.main }, "latest");
    const listed = (await openai.models.list()).data as unknown as readonly {
      readonly id: string;
      readonly endpoints: readonly string[];
    }[];
    expect(listed).toHaveLength(columns.length * endpoints.length);
    const pathsByModel = new Map(listed.map(({ id, endpoints: paths }) => [id, paths]));
    for (const column of columns) {
      for (const endpoint of endpoints) {
        const { path, types }: ModelEndpointRow = modelEndpoints[endpoint];
        if (!types.includes(typeOf(endpoint))) continue;
        const name = modelOf(column, endpoint);
        expect([name, pathsByModel.get(name)?.includes(path)]).toEqual([name, column.served.has(endpoint)]);
      }
    }
  });
});

/** Kinds that offer an endpoint only if `settings.endpoints` lists it, which no provider here does. */
const onlyIfListed: ReadonlySet<string> = new Set(["openai-compatible input-tokens"]);

describe.each(["latest", "previous"] as const)("models with the %s clients", (version) => {
  const name = () => modelOf(columns[0] as (typeof columns)[number], "embeddings");

  test("list and retrieve with OpenAI's client", async () => {
    const { openai } = clientsOf({ url: setup.gateway.url, key: keys.main }, version);
    expect(await openai.models.retrieve(name())).toMatchObject({ id: name(), object: "model" });
    expect(await statusOf(openai.models.retrieve("no/such-model"))).toBe(404);
  });

  test("list and retrieve with Anthropic's client", async () => {
    const { anthropic } = clientsOf({ url: setup.gateway.url, key: keys.main }, version);
    const ids = (await Array.fromAsync(anthropic.models.list())).map(({ id }) => id);
    expect(ids).toContain(name());
    expect(await anthropic.models.retrieve(name())).toMatchObject({ id: name(), type: "model" });
    expect(await statusOf(anthropic.models.retrieve("no/such-model"))).toBe(404);
  });

  test("list and retrieve with Google's client", async () => {
    const { genai } = clientsOf({ url: setup.gateway.url, key: keys.main }, version);
    const names = (await Array.fromAsync(await genai.models.list())).map((model) => model.name);
    expect(names).toContain(`models/${name()}`);
    expect(names.length).toBe(columns.length * endpoints.length);
    expect((await genai.models.get({ model: name() })).name).toBe(`models/${name()}`);
    expect(await statusOf(genai.models.get({ model: "no-such-model" }))).toBe(404);
  });
});

describe("below /v1/providers/{provider}", () => {
  /** Providers with OpenAI's embeddings endpoint. */
  const providers = columns.filter(
    ({ kind }) => endpointsOf(kind).includes("embeddings") && !otherEmbeddingKinds.has(kind),
  );

  test("OpenAI's client creates embeddings at the model's price, and errors have the usual statuses", async () => {
    expect(providers.length).toBeGreaterThan(10);
    const charged: (readonly [provider: string, requestId: string])[] = [];
    for (const column of providers) {
      const url = `${setup.gateway.url}/v1/providers/${idOf(column)}${column.kind === "azure-openai" ? "/openai/v1" : ""}`;
      const request = { model: upstreamModel(column, "embeddings"), input: "one two three", dimensions: 4 };
      const working = passThroughClient(url);
      const created = await working.client.embeddings.create(request);
      expect([created.data[0]?.embedding.length, created.usage.total_tokens]).toEqual([4, 3]);
      charged.push([idOf(column), working.recorder.last().headers.get("x-request-id") ?? ""]);
      for (const status of [400, 401, 429, 500]) {
        const { client } = passThroughClient(url, { status });
        const answered = await statusOf(client.embeddings.create(request));
        // The caller is not to blame for a wrong provider key or for an upstream's server error, so both become 502.
        expect([idOf(column), answered]).toEqual([idOf(column), status === 401 || status === 500 ? 502 : status]);
      }
    }
    const ledger = (await exportLedger(setup.gateway)) as readonly (LedgerRow & { readonly endpoint: string })[];
    for (const [provider, requestId] of charged) {
      const rows = ledger.filter((row) => row.request_id === requestId);
      // Three tokens at 125.5 nano-USD, rounded half up.
      expect(rows.map((row) => [row.provider, row.endpoint, row.input_uncached, row.cost_nano_usd])).toEqual([
        [provider, "pass-through", 3, 377],
      ]);
    }
  });
});

/** Kinds that have another API or another path for embeddings. */
const otherEmbeddingKinds: ReadonlySet<string> = new Set(["bedrock", "vertex", "gemini"]);

function passThroughClient(baseURL: string, script: Script | null = null) {
  const recorder = createRecorder();
  const defaultHeaders: Record<string, string> = script === null ? {} : { "x-sim-script": JSON.stringify(script) };
  return {
    client: new OpenAI({ baseURL, apiKey: keys.main, maxRetries: 0, fetch: recorder.fetch, defaultHeaders }),
    recorder,
  };
}

/** The status of the client's own error. */
async function statusOf(call: PromiseLike<unknown>): Promise<number | undefined> {
  try {
    await call;
  } catch (thrown) {
    return errorFrom(thrown).status;
  }
  return undefined;
}
