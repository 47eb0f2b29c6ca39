import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import OpenAIPrevious from "openai-previous";
import { until } from "../until.ts";
import { documentedVideoKinds } from "./endpoint-matrix/docs-table.ts";
import {
  isInBucket,
  type VideoKind,
  videoKinds,
  videoKindsConfig,
  videoModelOf,
  videoPrice,
} from "./endpoint-matrix/video-kinds.ts";
import { exportLedger, type LedgerRow } from "./ledger-rows.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

/** Videos by OpenAI's clients at every kind that the documentation says makes them; all other kinds refuse. */
let setup: TestSetup;
let clients: readonly OpenAI[];
/** What each kind did, by its name: ids of the videos that went well. */
const lives = new Map<string, Promise<readonly string[]>>();

const makers = videoKinds.filter(({ billsBy }) => billsBy !== undefined);
const others = videoKinds.filter(({ billsBy }) => billsBy === undefined);

beforeAll(async () => {
  setup = await openSetup(videoKindsConfig);
  const options = { baseURL: `${setup.gateway.url}/v1`, apiKey: keys.main, maxRetries: 0 };
  clients = [new OpenAI(options), new OpenAIPrevious(options) as unknown as OpenAI];
  // All wait for their videos at the same time.
  for (const kind of makers) {
    const life = Promise.all(clients.map((client) => lived(client, kind)));
    life.catch(() => {});
    lives.set(kind.kind, life);
  }
});
afterAll(() => setup?.close());

test("every kind of the documentation's table is tried", () => {
  expect(makers.map(({ kind }) => kind).toSorted()).toEqual([...documentedVideoKinds().keys()].toSorted());
});

test("the list of models tells which kinds make videos", async () => {
  const listed = (await clients[0]?.models.list())?.data as unknown as readonly Listed[];
  const able = listed.filter(({ endpoints }) => endpoints.includes("/v1/videos")).map(({ id }) => id);
  expect(able.toSorted()).toEqual(makers.map(videoModelOf).toSorted());
});

interface Listed {
  readonly id: string;
  readonly endpoints: readonly string[];
}

describe.each(makers.map(({ kind }) => kind))("%s", (name) => {
  test("a video is created, waited for, listed, downloaded and deleted, and one that fails says so", async () => {
    expect(await lives.get(name)).toHaveLength(clients.length);
  });

  test("what the upstream says that it made is in the books, and nothing for what failed", async () => {
    await lives.get(name);
    const kind = makers.find((one) => one.kind === name) as VideoKind;
    const rows = await settledRows(name, 2 * clients.length);
    const truth = new Map((await setup.simulator.tasks()).map((task) => [task.attempt_id, task]));
    for (const row of rows) {
      const task = truth.get(row.attempt_id);
      if (task === undefined) throw new Error("it is not in the truth");
      if (task.state === "failed") {
        expect([row.outcome, row.cost_nano_usd]).toEqual(["failed", 0]);
        continue;
      }
      expect([row.outcome, row.http_status]).toEqual(["succeeded", 200]);
      if (kind.billsBy === "tokens") {
        expect([row.output, row.cost_nano_usd]).toEqual([
          task.tokens,
          rounded(task.tokens * videoPrice.tokens * 1_000),
        ]);
      } else {
        expect([row.video_seconds, row.cost_nano_usd]).toEqual([
          kind.seconds,
          rounded(kind.seconds * videoPrice.seconds * 1e9),
        ]);
        expect(task.seconds).toBe(kind.seconds);
      }
    }
  });
});

test.each(others.map(({ kind }) => kind))("%s makes no videos", async (kind) => {
  for (const client of clients) {
    const thrown = await client.videos.create({ model: `film/${kind}` as "sora-2", prompt: "A boat." }).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(thrown).toMatchObject({ status: 400, code: "unsupported_by_model" });
    expect(thrown?.constructor.name).toBe("BadRequestError");
  }
});

/** One video that goes well, and one that fails. Gives the id of the former. */
async function lived(client: OpenAI, kind: VideoKind): Promise<string> {
  const asked = {
    model: videoModelOf(kind) as "sora-2",
    seconds: String(kind.seconds) as "8",
    size: "1280x720" as const,
  };
  const failing = client.videos
    .create({ ...asked, prompt: '[[sim {"ends":"failed"}]] A boat.' })
    .then(({ id }) => ended(client, id));
  // It is waited for at the end.
  failing.catch(() => {});
  const created = await client.videos.create({ ...asked, prompt: "A boat on a lake." });
  expect(created).toMatchObject({ object: "video", model: asked.model, seconds: asked.seconds, error: null });
  const video = await ended(client, created.id);
  expect(video).toMatchObject({ id: created.id, status: "completed", progress: 100 });
  const ids = (await Array.fromAsync(client.videos.list({ limit: 100 }))).map(({ id }) => id);
  expect(ids).toContain(video.id);
  if (!isInBucket(kind)) {
    const bytes = await (await client.videos.downloadContent(video.id)).bytes();
    expect(bytes.subarray(4, 8)).toEqual(Buffer.from("ftyp"));
  }
  expect(await client.videos.delete(video.id)).toMatchObject({ id: video.id, deleted: true });
  const missing = await client.videos.retrieve(video.id).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(missing?.constructor.name).toBe("NotFoundError");
  const failed = await failing;
  expect(failed.status).toBe("failed");
  expect(failed.error?.message.length).toBeGreaterThan(0);
  return video.id;
}

function ended(client: OpenAI, id: string): Promise<OpenAI.Video> {
  return until(async () => {
    const video = await client.videos.retrieve(id);
    return video.status === "queued" || video.status === "in_progress" ? null : video;
  });
}

type VideoRow = LedgerRow & { readonly video_seconds: number };
let exported: readonly VideoRow[] = [];

/** The ledger's rows of a kind, once there are so many. One export does for all kinds that are through. */
function settledRows(kind: string, count: number): Promise<readonly VideoRow[]> {
  return until(async () => {
    const found = exported.filter(({ provider }) => provider === kind);
    if (found.length >= count) return found;
    exported = (await exportLedger(setup.gateway)) as readonly VideoRow[];
    return null;
  });
}

/** Half up, as the gateway must. */
function rounded(nanoUsd: number): number {
  return Math.floor(Math.round(nanoUsd * 1_000) / 1_000 + 0.5);
}
