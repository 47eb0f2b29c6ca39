import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { modelEndpoints } from "@sluice/contract/words";
import type { Script } from "@sluice/simulator";
import { until } from "../../../test/until.ts";
import { openSocket } from "../endpoints/responses-socket/socket-gateway.ts";
import { arkAccount } from "../endpoints/video-tasks/video-gateway.ts";
import { type StartedGateway, scriptHeader, startGateway, upstream } from "../started-gateway.ts";
import {
  beforeTokens,
  type Cell,
  contextWindow,
  type EndpointRow,
  overshootTable,
  type Reason,
} from "./overshoot-table.ts";

/** USD per million tokens of any class, and per million characters. */
const perMillion = 10;
const priceOf = { input: perMillion, output: perMillion, image_input: perMillion, image_output: perMillion };
const price = { ...priceOf, audio_input: perMillion, audio_output: perMillion };
const atOnce = 6;

interface Named<Kind> {
  readonly name: string;
  readonly socket: boolean;
  readonly cell: Kind;
}
const isReason = (input: Cell | Reason): input is Reason => typeof input === "string" || "why" in input;
const ways = ["native", "translated", "socket", "passThrough"] as const;
const cells: Named<Cell>[] = [];
const reasons: Named<Reason>[] = [];
for (const [endpoint, row] of Object.entries(overshootTable) as [string, EndpointRow][]) {
  for (const way of ways) {
    for (const input of ["body", "stored"] as const) {
      for (const [index, cell] of [row[way][input]].flat().entries()) {
        const where = input === "body" ? "input in the body" : "input stored by the vendor";
        const name = `${endpoint}, ${way}, ${where}${index === 0 ? "" : ` (${index + 1})`}`;
        if (isReason(cell)) reasons.push({ name, socket: way === "socket", cell });
        else cells.push({ name, socket: way === "socket", cell });
      }
    }
  }
}
const refusals = reasons.flatMap(({ name, cell }) =>
  typeof cell === "string" ? [] : [{ name, why: cell.why, ...cell.refused }],
);

/** A separate workspace for each cell, so that none learns from another, with a second key that has no budget. */
const secretOf = (of: string): string => `sk-${of}-0123456789abcdefghij`;
const usdOf = (units: number): number => (units * perMillion) / 1e6;

let gateway: StartedGateway;
beforeAll(async () => {
  const accounts = {
    openai: "openai",
    chat: "openai-compatible",
    claude: "anthropic",
    gem: "gemini",
    mistral: "mistral",
  } as const;
  const granted = { pass_through: [...Object.keys(accounts), "volc"] };
  const ofGem = {
    endpoints: ["generate", "interactions", "embed-content", "batch-embed-contents", "images", "gemini-decisions"],
  };
  const workspace = (slug: string, budgetUsd: number) => ({
    ...{ slug, ...granted, groups: [{ name: "default", ...granted }] },
    keys: [
      { name: "maker", secret: secretOf(`maker-${slug}`), ...granted },
      {
        ...{ name: "caller", secret: secretOf(slug), ...granted },
        budget: { usd: budgetUsd, period: "total" as const },
      },
    ],
  });
  const model = (
    name: string,
    provider: string,
    type?: "image" | "embedding" | "rerank" | "moderation" | "decision",
  ) => ({
    ...{ name, price, context_window: contextWindow, max_output_tokens: 2_000 },
    ...(type === undefined ? {} : { type }),
    deployments: [{ provider, upstream_model: provider === "claude" ? "claude-sim-4-5" : `upstream-${name}` }],
  });
  gateway = await startGateway({
    providers: (simulator) => [
      ...Object.entries(accounts).map(([name, kind]) =>
        upstream(name, simulator, {
          kind,
          // Stored objects in a cell's request were created by nobody that this gateway saw.
          settings: { objects: ["file*", "conv*", "pmpt*", "cachedContents*"], ...(name === "gem" ? ofGem : {}) },
        }),
      ),
      arkAccount(simulator),
    ],
    models: [
      ...[model("openai", "openai"), model("chat", "chat"), model("claude", "claude"), model("gem", "gem")],
      ...[model("image", "openai", "image"), model("gem-image", "gem", "image")],
      ...[model("vector", "openai", "embedding"), model("gem-vector", "gem", "embedding")],
      ...[model("ranker", "chat", "rerank"), model("judge", "openai", "moderation")],
      ...[model("decider", "openai", "decision"), model("gem-decider", "gem", "decision")],
      {
        ...{ name: "fim", type: "completion", price, context_window: contextWindow },
        deployments: [{ provider: "openai", upstream_model: "gpt-3.5-turbo-instruct" }],
      },
      {
        ...{ name: "codestral", type: "completion", price, context_window: contextWindow },
        deployments: [{ provider: "mistral", upstream_model: "codestral-latest" }],
      },
      {
        ...{ name: "hears", type: "transcription", price, max_output_tokens: 100 },
        deployments: [{ provider: "chat", upstream_model: "upstream-hears" }],
      },
      {
        ...{ name: "speaks", type: "speech", price: { character: perMillion } },
        deployments: [{ provider: "openai", upstream_model: "upstream-speaks" }],
      },
      {
        ...{ name: "clip", type: "video", price: { output: perMillion } },
        deployments: [{ provider: "volc", upstream_model: "doubao-seedance-2-0-260128" }],
      },
    ],
    moreWorkspaces: [
      ...cells.map(({ cell }, index) => workspace(`cell-${index}`, usdOf(cell.held * 1.04))),
      ...refusals.map((_, index) => workspace(`refusal-${index}`, 1)),
    ],
  });
});
afterAll(() => gateway.stop());

type Ask = Pick<Cell, "path" | "body" | "headers">;

async function send({ path, body, headers }: Ask, key: string, script: Script, more: object = {}): Promise<Response> {
  const sent = { "anthropic-version": "2023-06-01", ...headers };
  const options = { key, script: { latency_ms: 100, ...script }, headers: sent };
  if (typeof body !== "function") return await gateway.post(path, { ...body, ...more }, options);
  const authorization = `Bearer ${key}`;
  return await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { ...sent, authorization, [scriptHeader]: JSON.stringify(options.script) },
    body: body(),
  });
}

/** Whether a call over a separate WebSocket was served. */
async function ask({ body, script = {} }: Cell, key: string, more: object): Promise<boolean> {
  const headers = { [scriptHeader]: JSON.stringify({ latency_ms: 100, ...script }) };
  const socket = await openSocket(gateway, { key, headers });
  const frames = await socket.ask({ ...body, ...more });
  socket.close();
  const last = frames.at(-1);
  if (last?.type === "error") expect(JSON.stringify(last)).toMatch(/budget_(?:held|exceeded)/);
  return last?.type !== "error";
}

/** The part of the body that names the earlier call, if there is one. */
async function named(before: Cell["before"], slug: string): Promise<object> {
  if (before === undefined) return {};
  const headers = { "anthropic-beta": "message-threads-2026-08-12" };
  const made = await send({ ...before, headers }, secretOf(`maker-${slug}`), beforeTokens);
  expect([before.path, made.status]).toEqual([before.path, 200]);
  return before.name(((await made.json()) as { id: string }).id);
}

const truth = () => gateway.simulator.simulator.truth.list({ limit: 10_000 });

test("every endpoint has its row", () => {
  expect(Object.keys(overshootTable).toSorted()).toEqual([...Object.keys(modelEndpoints), "video"].toSorted());
  for (const { cell } of reasons) expect(typeof cell === "string" ? cell : cell.why).not.toBe("");
});

describe("simultaneous calls on a budget for one stay within it", () => {
  for (const [index, { name, socket, cell }] of cells.entries()) {
    test(name, async () => {
      const slug = `cell-${index}`;
      const more = await named(cell.before, slug);
      const entriesBefore = (await gateway.entries()).length;
      const served = await Promise.all(
        Array.from({ length: atOnce }, async () => {
          if (socket) return await ask(cell, secretOf(slug), more);
          const answer = await send(cell, secretOf(slug), cell.script ?? {}, more);
          const text = await answer.text();
          if (answer.status !== 200) expect(`${answer.status} ${text}`).toMatch(/^(?:402|429) /);
          return answer.status === 200;
        }),
      );
      const count = served.filter((one) => one).length;
      expect(count).toBeGreaterThan(0);
      // A background response is settled after it has been polled.
      const entries = await until(async () => {
        const all = await gateway.entries();
        const booked = all.slice(0, all.length - entriesBefore).filter(({ costNanoUsd }) => costNanoUsd > 0);
        return booked.length >= count && gateway.gateway.outstanding() === 0 ? booked : null;
      });
      const attempts = new Set(entries.map(({ attemptId }) => attemptId));
      const used = truth()
        .data.filter(({ attempt_id, method }) => method === "POST" && attempts.has(attempt_id))
        .map(({ prompt_tokens, output_tokens_emitted }) => cell.used ?? prompt_tokens + output_tokens_emitted);
      expect(used).toHaveLength(count);
      const budget = usdOf(cell.held * 1.04);
      const atUpstream = usdOf(used.reduce((sum, units) => sum + units, 0));
      expect(atUpstream).toBeLessThanOrEqual(budget);
      expect(entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) / 1e9).toBeLessThanOrEqual(budget);
      // All calls together would have spent more.
      expect((atUpstream / count) * atOnce).toBeGreaterThan(budget);
    });
  }
});

describe("calls without a bounded cost are refused", () => {
  for (const [index, refusal] of refusals.entries()) {
    test(`${refusal.name}: ${refusal.why}`, async () => {
      const slug = `refusal-${index}`;
      const more = await named(refusal.before, slug);
      const before = truth().total;
      const answer = await send(refusal, secretOf(slug), {}, more);
      expect(`${answer.status} ${await answer.text()}`).toMatch(/^(?:400|403|404) /);
      expect(truth().total).toBe(before);
    });
  }
});
