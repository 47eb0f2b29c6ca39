import { describe, expect, test } from "bun:test";
import type { TaskTruthRecord } from "@sluice/simulator";
import { expectedVideoNanoUsd, judgeVideos, type VideoEvidence, type VideoRow } from "./judge-videos.ts";
import type { PlacedOrder } from "./video-load.ts";

const vendorTask: TaskTruthRecord = {
  id: "cgt-1",
  dialect: "ark-tasks",
  account: "a",
  model: "doubao-seedance-2-0-260128",
  attempt_id: "att_1",
  client_task_id: null,
  body_sha256: "",
  creates_of_body: 1,
  creates_of_client_task: 1,
  creates_of_attempt: 1,
  created_at: 1,
  answer_lost: false,
  polls: 2,
  polled_at: 2,
  downloads: 0,
  callbacks_sent: 0,
  callbacks_accepted: 0,
  state: "succeeded",
  ended_at: 2,
  deleted_at: null,
  vanished: false,
  tokens: 108_001,
  seconds: 5,
};

const row: VideoRow = {
  attempt_id: "att_1",
  outcome: "succeeded",
  http_status: 200,
  error_code: null,
  endpoint: "video",
  output: 108_001,
  video_seconds: 5,
  usage_source: "upstream",
  cost_nano_usd: expectedVideoNanoUsd(vendorTask),
  tags: { order: "0" },
};

const order = { number: 0, model: "clip-marked", script: {} } as const;
const placed: PlacedOrder = { order, ids: new Set(["vt_1"]), statuses: [200], unanswered: 0 };
const shown = { id: "vt_1", status: "succeeded", cost: { amount_usd: row.cost_nano_usd / 1e9 } };
const good: VideoEvidence = {
  placed: [placed],
  shown: [shown],
  rows: [row],
  vendorTasks: [vendorTask],
  requests: [{ attempt_id: "att_1", status: 200 }],
};
const expired: Partial<VideoRow> = {
  outcome: "failed",
  error_code: "upstream_timeout",
  cost_nano_usd: row.cost_nano_usd,
  usage_source: "estimated",
};
const shownExpired = [{ ...shown, status: "expired" }];

describe("judgeVideos", () => {
  test("reports nothing if vendors, ledger and callers agree", () => {
    expect(judgeVideos(good)).toMatchObject({ orders: 1, vendorTasks: 1, entries: 1, unknownOutcomes: 0, faults: [] });
  });

  test.each([
    ["a task that was created twice", { vendorTasks: [{ ...vendorTask, creates_of_attempt: 2 }] }],
    ["a video without an entry", { rows: [] }],
    ["two entries for one order", { rows: [row, { ...row, attempt_id: "att_2" }] }],
    ["a wrong cost", { rows: [{ ...row, cost_nano_usd: row.cost_nano_usd + 1 }] }],
    ["a wrong token count", { rows: [{ ...row, output: row.output + 1 }] }],
    ["an estimate although the vendor reported usage", { rows: [{ ...row, usage_source: "estimated" }] }],
    ["a success without a video", { vendorTasks: [] }],
    [
      "a charge for a failed task",
      { vendorTasks: [{ ...vendorTask, state: "failed" }], rows: [{ ...row, outcome: "failed" }] },
    ],
    ["two ids for one order", { placed: [{ ...placed, ids: new Set(["vt_1", "vt_2"]) }] }],
    ["a task that has not ended", { shown: [{ ...shown, status: "running" }] }],
    ["a task without an order", { shown: [shown, { ...shown, id: "vt_2" }] }],
    ["another cost in the API", { shown: [{ ...shown, cost: { amount_usd: 1 } }] }],
    ["an expired task that the vendor could still report", { rows: [{ ...row, ...expired }], shown: shownExpired }],
    [
      "a request that was repeated after an unknown outcome",
      {
        requests: [
          { attempt_id: "att_1", status: 504 },
          { attempt_id: "att_1", status: 200 },
        ],
      },
    ],
  ] satisfies [string, Partial<VideoEvidence>][])("reports %s", (_, wrong) => {
    expect(judgeVideos({ ...good, ...wrong }).faults).not.toEqual([]);
  });

  test("accepts and counts an expired task if the vendor offers no way to look it up", () => {
    const plain: PlacedOrder = { ...placed, order: { ...order, model: "clip-plain" } };
    const verdict = judgeVideos({ ...good, placed: [plain], rows: [{ ...row, ...expired }], shown: shownExpired });
    expect(verdict).toMatchObject({ faults: [], unknownOutcomes: 1 });
  });

  test("accepts a second request after a definite refusal", () => {
    const requests = [429, 200].map((status) => ({ attempt_id: "att_1", status }));
    expect(judgeVideos({ ...good, requests }).faults).toEqual([]);
  });
});
