import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ModelEndpointRow } from "@sluice/contract";
import { type ModelEndpointId, modelEndpoints } from "@sluice/contract/words";
import type { Script } from "@sluice/simulator";
import OpenAI from "openai";
import { clientsOf, errorFrom } from "./endpoint-matrix/clients.ts";
import { columns, endpointMatrixConfig, idOf, modelOf, typeOf, upstreamModel } from "./endpoint-matrix/columns.ts";
import { callableKinds, lanesOf } from "./endpoint-matrix/docs-table.ts";
import { cellTable } from "./endpoint-matrix/print-cells.ts";
import { pictureRows } from "./endpoint-matrix/rows-pictures.ts";
import { soundRows } from "./endpoint-matrix/rows-sound.ts";
import { textRows } from "./endpoint-matrix/rows-text.ts";
import { vectorRows } from "./endpoint-matrix/rows-vectors.ts";
import { type Cell, runCells } from "./endpoint-matrix/run.ts";
import { exportLedger, type LedgerRow } from "./ledger-rows.ts";
import { createTape } from "./matrix/tape.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

/**
 * Every endpoint of passed and of small calls, by the official client that has it, at every kind of upstream. What the
 * documentation's tables say is served must be answered, booked and refused rightly; what they do not say must be refused.
 */
const rows = [...textRows, ...vectorRows, ...soundRows, ...pictureRows];

/** Endpoints whose calls are translated into one another: the matrix of SDKs has them. */
const conversations: readonly ModelEndpointId[] = ["chat", "messages", "responses", "responses-compact", "generate"];

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

describe("nothing is left out", () => {
  test("every endpoint of models has a row here, or is a conversation", () => {
    expect([...endpoints, ...conversations].toSorted()).toEqual(
      Object.keys(modelEndpoints).toSorted() as ModelEndpointId[],
    );
  });

  test("every kind that is called with models has a column, and every endpoint of its own a cell that is served", () => {
    expect([...new Set(columns.map(({ kind }) => kind))].toSorted()).toEqual(callableKinds.toSorted());
    const missing = callableKinds.flatMap((kind) =>
      lanesOf(kind)
        .filter((name) => endpoints.some((endpoint) => endpoint === name) && !onlyWhenNamed.has(`${kind} ${name}`))
        .filter((name) => !columns.some((column) => column.kind === kind && column.served.has(name as ModelEndpointId)))
        .map((name) => `${kind} ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test("the list of models tells the endpoints that the documentation does", async () => {
    const { openai } = clientsOf({ url: setup.gateway.url, key: keys.main }, "latest");
    const listed = (await openai.models.list()).data as unknown as readonly {
      readonly id: string;
      readonly endpoints: readonly string[];
    }[];
    expect(listed).toHaveLength(columns.length * endpoints.length);
    const told = new Map(listed.map(({ id, endpoints: paths }) => [id, paths]));
    for (const column of columns) {
      for (const endpoint of endpoints) {
        const { path, types }: ModelEndpointRow = modelEndpoints[endpoint];
        if (!types.includes(typeOf(endpoint))) continue;
        const name = modelOf(column, endpoint);
        expect([name, told.get(name)?.includes(path)]).toEqual([name, column.served.has(endpoint)]);
      }
    }
  });
});

/** Kinds that offer an endpoint only where `settings.endpoints` names it, which no account here does. */
const onlyWhenNamed: ReadonlySet<string> = new Set(["openai-compatible input-tokens"]);

describe.each(["latest", "previous"] as const)("models, by the %s clients", (version) => {
  const name = () => modelOf(columns[0] as (typeof columns)[number], "embeddings");

  test("of OpenAI", async () => {
    const { openai } = clientsOf({ url: setup.gateway.url, key: keys.main }, version);
    expect(await openai.models.retrieve(name())).toMatchObject({ id: name(), object: "model" });
    expect(await statusOf(openai.models.retrieve("nobody/has-it"))).toBe(404);
  });

  test("of Anthropic", async () => {
    const { anthropic } = clientsOf({ url: setup.gateway.url, key: keys.main }, version);
    const ids = (await Array.fromAsync(anthropic.models.list())).map(({ id }) => id);
    expect(ids).toContain(name());
    expect(await anthropic.models.retrieve(name())).toMatchObject({ id: name(), type: "model" });
    expect(await statusOf(anthropic.models.retrieve("nobody/has-it"))).toBe(404);
  });

  test("of Google", async () => {
    const { genai } = clientsOf({ url: setup.gateway.url, key: keys.main }, version);
    const names = (await Array.fromAsync(await genai.models.list())).map((model) => model.name);
    expect(names).toContain(`models/${name()}`);
    expect(names.length).toBe(columns.length * endpoints.length);
    expect((await genai.models.get({ model: name() })).name).toBe(`models/${name()}`);
    expect(await statusOf(genai.models.get({ model: "nobody-has-it" }))).toBe(404);
  });
});

describe("below /v1/providers/{provider}", () => {
  /** Accounts that make vectors as OpenAI does. */
  const accounts = columns.filter(({ kind }) => lanesOf(kind).includes("embeddings") && !otherwise.has(kind));

  test("OpenAI's client makes vectors at the account itself, which are paid like the model; errors have the status of any other call's", async () => {
    expect(accounts.length).toBeGreaterThan(10);
    const paid: (readonly [account: string, requestId: string])[] = [];
    for (const column of accounts) {
      const url = `${setup.gateway.url}/v1/providers/${idOf(column)}${column.kind === "azure-openai" ? "/openai/v1" : ""}`;
      const asked = { model: upstreamModel(column, "embeddings"), input: "one two three", dimensions: 4 };
      const good = passedClient(url);
      const made = await good.client.embeddings.create(asked);
      expect([made.data[0]?.embedding.length, made.usage.total_tokens]).toEqual([4, 3]);
      paid.push([idOf(column), good.tape.last().headers.get("x-request-id") ?? ""]);
      for (const status of [400, 401, 429, 500]) {
        const { client } = passedClient(url, { status });
        const told = await statusOf(client.embeddings.create(asked));
        // What the account's key is refused for is none of the caller's, nor is an upstream's own trouble.
        expect([idOf(column), told]).toEqual([idOf(column), status === 401 || status === 500 ? 502 : status]);
      }
    }
    const ledger = (await exportLedger(setup.gateway)) as readonly (LedgerRow & { readonly endpoint: string })[];
    for (const [account, requestId] of paid) {
      const rows = ledger.filter((row) => row.request_id === requestId);
      // Three tokens at 125.5 nano-USD, rounded half up.
      expect(rows.map((row) => [row.provider, row.endpoint, row.input_uncached, row.cost_nano_usd])).toEqual([
        [account, "pass-through", 3, 377],
      ]);
    }
  });
});

/** Their embedders are asked in dialects of their own, or at a path of its own. */
const otherwise: ReadonlySet<string> = new Set(["bedrock", "vertex", "gemini"]);

function passedClient(baseURL: string, script: Script | null = null) {
  const tape = createTape();
  const defaultHeaders: Record<string, string> = script === null ? {} : { "x-sim-script": JSON.stringify(script) };
  return { client: new OpenAI({ baseURL, apiKey: keys.main, maxRetries: 0, fetch: tape.fetch, defaultHeaders }), tape };
}

/** Of the client's own error. */
async function statusOf(call: PromiseLike<unknown>): Promise<number | undefined> {
  try {
    await call;
  } catch (thrown) {
    return errorFrom(thrown).status;
  }
  return undefined;
}
