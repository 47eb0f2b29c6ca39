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

/** Videos with OpenAI's clients: every kind that the documentation lists makes them, and all other kinds refuse. */
let setup: TestSetup;
let clients: readonly OpenAI[];
/** The results by kind: ids of the videos that succeeded. */
const results = new Map<string, Promise<readonly string[]>>();

const supported = videoKinds.filter(({ billsBy }) => billsBy !== undefined);
const unsupported = videoKinds.filter(({ billsBy }) => billsBy === undefined);

beforeAll(async () => {
  setup = await openSetup(videoKindsConfig);
  const options = { baseURL: `${setup.gateway.url}/v1`, apiKey: keys.main, maxRetries: 0 };
  clients = [new OpenAI(options), new OpenAIPrevious(options) as unknown as OpenAI];
  // All videos are made in parallel.
  for (const kind of supported) {
    const result = Promise.all(clients.map((client) => makeVideos(client, kind)));
    result.catch(() => {});
    results.set(kind.kind, result);
  }
});
afterAll(() => setup?.close());

test("covers every kind in the documentation's table", () => {
  expect(supported.map(({ kind }) => kind).toSorted()).toEqual([...documentedVideoKinds().keys()].toSorted());
});

test("the model list names the kinds that make videos", async () => {
  const listed = (await clients[0]?.models.list())?.data as unknown as readonly ListedModel[];
  const withVideos = listed.filter(({ endpoints }) => endpoints.includes("/v1/videos")).map(({ id }) => id);
  expect(withVideos.toSorted()).toEqual(supported.map(videoModelOf).toSorted());
});

interface ListedModel {
  readonly id: string;
  readonly endpoints: readonly string[];
}

describe.each(supported.map(({ kind }) => kind))("%s", (name) => {
  test("creates, polls, lists, downloads and deletes a video, and reports one that failed", async () => {
    expect(await results.get(name)).toHaveLength(clients.length);
  });

  test("the ledger matches what the upstream made, and charges nothing for failures", async () => {
    await results.get(name);
    const kind = supported.find((candidate) => candidate.kind === name) as VideoKind;
    const rows = await settledRows(name, 2 * clients.length);
    const truth = new Map((await setup.simulator.tasks()).map((task) => [task.attempt_id, task]));
    for (const row of rows) {
      const task = truth.get(row.attempt_id);
      if (task === undefined) throw new Error("the task is not in the simulator's records");
      if (task.state === "failed") {
        expect([row.outcome, row.cost_nano_usd]).toEqual(["failed", 0]);
        continue;
      }
      expect([row.outcome, row.http_status]).toEqual(["succeeded", 200]);
      if (kind.billsBy === "tokens") {
        expect([row.output, row.cost_nano_usd]).toEqual([
          task.tokens,
          roundHalfUp(task.tokens * videoPrice.tokens * 1_000),
        ]);
      } else {
        expect([row.video_seconds, row.cost_nano_usd]).toEqual([
          kind.seconds,
          roundHalfUp(kind.seconds * videoPrice.seconds * 1e9),
        ]);
        expect(task.seconds).toBe(kind.seconds);
      }
    }
  });
});

test.each(unsupported.map(({ kind }) => kind))("%s makes no videos", async (kind) => {
  for (const client of clients) {
    const thrown = await client.videos.create({ model: `film/${kind}` as "sora-2", prompt: "A boat." }).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(thrown).toMatchObject({ status: 400, code: "unsupported_by_model" });
    expect(thrown?.constructor.name).toBe("BadRequestError");
  }
});

/** Makes one video that succeeds and one that fails. Returns the id of the former. */
async function makeVideos(client: OpenAI, kind: VideoKind): Promise<string> {
  const request = {
    model: videoModelOf(kind) as "sora-2",
    seconds: String(kind.seconds) as "8",
    size: "1280x720" as const,
  };
  const failing = client.videos
    .create({ ...request, prompt: '[[sim {"ends":"failed"}]] A boat.' })
    .then(({ id }) => waitForEnd(client, id));
  // It is awaited at the end.
  failing.catch(() => {});
  const created = await client.videos.create({ ...request, prompt: "A boat on a lake." });
  expect(created).toMatchObject({ object: "video", model: request.model, seconds: request.seconds, error: null });
  const video = await waitForEnd(client, created.id);
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

function waitForEnd(client: OpenAI, id: string): Promise<OpenAI.Video> {
  return until(async () => {
    const video = await client.videos.retrieve(id);
    return video.status === "queued" || video.status === "in_progress" ? null : video;
  });
}

type VideoRow = LedgerRow & { readonly video_seconds: number };
let exported: readonly VideoRow[] = [];

/** A kind's rows of the ledger, once there are this many. One export is shared between kinds. */
function settledRows(kind: string, count: number): Promise<readonly VideoRow[]> {
  return until(async () => {
    const found = exported.filter(({ provider }) => provider === kind);
    if (found.length >= count) return found;
    exported = (await exportLedger(setup.gateway)) as readonly VideoRow[];
    return null;
  });
}

/** Rounds half up, as the gateway must. */
function roundHalfUp(nanoUsd: number): number {
  return Math.floor(Math.round(nanoUsd * 1_000) / 1_000 + 0.5);
}
