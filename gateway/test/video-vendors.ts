import { video } from "./video-fixture.ts";
import type { Vendor } from "./video-vendor.ts";
import { ark, operation, sora, veo } from "./video-vendor-families.ts";

const wanTask = (status: string): object => ({
  request_id: "r",
  output: {
    task_id: "t-1",
    task_status: status,
    ...(status === "SUCCEEDED" ? { video_url: video } : {}),
    ...(status === "FAILED" ? { code: "DataInspectionFailed", message: "no" } : {}),
  },
});

const klingTask = (status: string): object => ({
  code: 0,
  message: "SUCCEED",
  data: {
    task_id: "77",
    task_status: status,
    task_status_msg: status === "failed" ? "risk control" : "",
    task_result: status === "succeed" ? { videos: [{ id: "v", url: video, duration: "5.041" }] } : {},
  },
});

const minimaxTask = (status: string): object => ({
  task_id: "9",
  status,
  base_resp: { status_code: 0, status_msg: "" },
});
const minimaxNewTask = (status: string): object => ({
  task: { id: "9", status, content: status === "succeeded" ? { url: video } : {} },
});

const viduTask = (state: string): object => ({
  state,
  err_code: state === "failed" ? "CreditInsufficient" : "",
  credits: 4,
  creations: state === "success" ? [{ id: "c", url: video, cover_url: "https://cdn.example/c.png" }] : [],
});

const runwayTask = (status: string): object => ({
  id: "u-1",
  status,
  createdAt: "2026-01-01T00:00:00Z",
  ...(status === "SUCCEEDED" ? { output: [video] } : {}),
  ...(status === "FAILED" ? { failure: "no", failureCode: "SAFETY.INPUT.TEXT" } : {}),
});

const falTask = (status: string, more: object = {}): object => ({
  request_id: "f-1",
  status,
  response_url: "https://queue.fal.run/fal-ai/wan/requests/f-1",
  ...more,
});

const replicateTask = (status: string, output: unknown = status === "succeeded" ? video : null): object => ({
  id: "p1",
  model: "owner/name",
  status,
  output,
  error: status === "failed" ? "no" : null,
});

/** Every provider type with videos, by id. */
export const vendors: Readonly<Record<string, Vendor>> = {
  ark: ark("https://ark.cn-beijing.volces.com/api/v3"),
  byteplus: ark("https://ark.ap-southeast.bytepluses.com/api/v3"),
  demo: {
    ...ark("demo://simulator/v1"),
    body: (draft) => ['"safety_identifier":"vt_1"', '"ratio":"16:9"', '"duration":5', '"seed":11', draft.upstreamModel],
  },
  openai: sora("https://api.openai.com/v1"),
  "azure-openai": sora("https://res.openai.azure.com/openai/v1"),
  gemini: veo(
    "https://generativelanguage.googleapis.com/v1beta",
    operation,
    {
      body: {
        instances: [{ prompt: "a paper boat" }],
        parameters: { aspectRatio: "16:9", resolution: "720p", durationSeconds: 8 },
      },
      poll: `GET https://generativelanguage.googleapis.com/v1beta/${operation}`,
    },
    {
      generateVideoResponse: {
        generatedSamples: [
          { video: { uri: "https://generativelanguage.googleapis.com/v1beta/files/x:download?alt=media" } },
        ],
      },
    },
  ),
  vertex: veo(
    "https://us-central1-aiplatform.googleapis.com/v1/projects/proj/locations/us-central1/publishers/google",
    `projects/proj/locations/us-central1/publishers/google/${operation}`,
    {
      body: {
        instances: [{ prompt: "a paper boat" }],
        parameters: {
          aspectRatio: "16:9",
          resolution: "720p",
          durationSeconds: 8,
          seed: 11,
          storageUri: "gs://bucket/videos",
        },
      },
      poll: "POST https://us-central1-aiplatform.googleapis.com/v1/projects/proj/locations/us-central1/publishers/google/models/veo-3.1-generate-preview:fetchPredictOperation",
    },
    { videos: [{ gcsUri: "gs://bucket/videos/a b/sample_0.mp4", mimeType: "video/mp4" }] },
  ),
  dashscope: {
    model: "wan2.5-t2v-preview",
    seconds: 5,
    resolution: "720p",
    createUrl: "https://dashscope.aliyuncs.com/api/v1/services/aigc/video-generation/video-synthesis",
    body: {
      model: "wan2.5-t2v-preview",
      input: { prompt: "a paper boat" },
      parameters: { size: "1280*720", duration: 5, seed: 11 },
    },
    own: { prompt_extend: true, audio: false },
    created: { request_id: "r", output: { task_id: "t-1", task_status: "PENDING" } },
    createdAs: (id) => JSON.stringify({ output: { task_id: id } }),
    upstreamId: "t-1",
    poll: "GET https://dashscope.aliyuncs.com/api/v1/tasks/t-1",
    states: [
      [wanTask("PENDING"), "queued"],
      [wanTask("RUNNING"), "running"],
      [wanTask("SUCCEEDED"), "succeeded"],
      [wanTask("FAILED"), "failed"],
      [wanTask("CANCELED"), "cancelled"],
    ],
    withWord: wanTask,
    halves: [{ output: { task_status: "SUCCEEDED" } }],
    gone: null,
  },
  kling: {
    model: "kling-v2-5-turbo",
    seconds: 5,
    resolution: "720p",
    createUrl: "https://api-singapore.klingai.com/v1/videos/text2video",
    body: {
      model_name: "kling-v2-5-turbo",
      prompt: "a paper boat",
      duration: "5",
      mode: "std",
      aspect_ratio: "16:9",
      external_task_id: "vt_1.text2video",
    },
    own: { mode: "std", cfg_scale: 0.5 },
    created: { code: 0, data: { task_id: "77", task_status: "submitted" } },
    createdAs: (id) => JSON.stringify({ code: 0, data: { task_id: id } }),
    upstreamId: "text2video/77",
    named: true,
    poll: "GET https://api-singapore.klingai.com/v1/videos/text2video/77",
    states: [
      [klingTask("submitted"), "queued"],
      [klingTask("processing"), "running"],
      [klingTask("succeed"), "succeeded"],
      [klingTask("failed"), "failed"],
    ],
    withWord: klingTask,
    halves: [{ code: 0, data: { task_status: "succeed", task_result: { videos: [] } } }],
    gone: null,
  },
  minimax: {
    model: "MiniMax-Hailuo-02",
    seconds: 6,
    resolution: "768p",
    createUrl: "https://api.minimax.io/v1/video_generation",
    body: { model: "MiniMax-Hailuo-02", prompt: "a paper boat", duration: 6, resolution: "768P" },
    own: { prompt_optimizer: false, aigc_watermark: true },
    created: { task_id: "9", base_resp: { status_code: 0 } },
    createdAs: (id) => JSON.stringify({ task_id: id }),
    upstreamId: "9",
    poll: "GET https://api.minimax.io/v1/query/video_generation?task_id=9",
    states: [
      [minimaxTask("Preparing"), "queued"],
      [minimaxTask("Queueing"), "queued"],
      [minimaxTask("Processing"), "running"],
      // The file's URL needs another request.
      [{ ...minimaxTask("Success"), file_id: "205258526306433" }, "running"],
      [minimaxTask("Fail"), "failed"],
      [minimaxNewTask("queued"), "queued"],
      [minimaxNewTask("running"), "running"],
      [minimaxNewTask("processing"), "running"],
      [minimaxNewTask("succeeded"), "succeeded"],
      [minimaxNewTask("failed"), "failed"],
      [minimaxNewTask("cancelled"), "cancelled"],
    ],
    withWord: minimaxTask,
    halves: [minimaxTask("Success"), { base_resp: { status_code: 2013, status_msg: "invalid task_id" } }],
    gone: null,
  },
  vidu: {
    model: "viduq2",
    seconds: 5,
    resolution: "720p",
    createUrl: "https://api.vidu.com/ent/v2/text2video",
    body: {
      model: "viduq2",
      prompt: "a paper boat",
      duration: 5,
      seed: 11,
      resolution: "720p",
      aspect_ratio: "16:9",
      payload: "vt_1",
    },
    own: { movement_amplitude: "large", bgm: true },
    created: { task_id: "800", state: "created" },
    createdAs: (id) => JSON.stringify({ task_id: id }),
    upstreamId: "800",
    poll: "GET https://api.vidu.com/ent/v2/tasks/800/creations",
    states: [
      [viduTask("created"), "queued"],
      [viduTask("queueing"), "queued"],
      [viduTask("processing"), "running"],
      [viduTask("success"), "succeeded"],
      [viduTask("failed"), "failed"],
    ],
    withWord: viduTask,
    halves: [{ state: "success", creations: [] }],
    gone: null,
  },
  runway: {
    model: "gen4.5",
    seconds: 5,
    resolution: "720p",
    createUrl: "https://api.dev.runwayml.com/v1/text_to_video",
    body: { model: "gen4.5", promptText: "a paper boat", ratio: "1280:720", duration: 5, seed: 11 },
    own: { contentModeration: "low" },
    created: { id: "u-1" },
    createdAs: (id) => JSON.stringify({ id }),
    upstreamId: "u-1",
    poll: "GET https://api.dev.runwayml.com/v1/tasks/u-1",
    states: [
      [runwayTask("PENDING"), "queued"],
      [runwayTask("THROTTLED"), "queued"],
      [runwayTask("RUNNING"), "running"],
      [runwayTask("SUCCEEDED"), "succeeded"],
      [runwayTask("FAILED"), "failed"],
      [runwayTask("CANCELLED"), "cancelled"],
    ],
    withWord: runwayTask,
    halves: [{ id: "u-1", status: "SUCCEEDED", output: [] }],
    gone: { error: "Task not found" },
  },
  fal: {
    model: "fal-ai/wan/v2.2-5b/text-to-video",
    seconds: 5,
    resolution: "720p",
    createUrl: "https://queue.fal.run/fal-ai/wan/v2.2-5b/text-to-video",
    body: { prompt: "a paper boat", aspect_ratio: "16:9", resolution: "720p", duration: "5", seed: 11 },
    own: { num_frames: 81, generate_audio: false },
    created: falTask("IN_QUEUE", { status_url: "https://queue.fal.run/fal-ai/wan/requests/f-1/status" }),
    createdAs: (id) => JSON.stringify({ request_id: id }),
    upstreamId: "f-1",
    poll: "GET https://queue.fal.run/fal-ai/wan/requests/f-1/status",
    states: [
      [falTask("IN_QUEUE", { queue_position: 3 }), "queued"],
      [falTask("IN_PROGRESS"), "running"],
      // The result shows whether it succeeded.
      [falTask("COMPLETED"), "running"],
      [falTask("COMPLETED", { error: "no", error_type: "runner_error" }), "failed"],
    ],
    withWord: falTask,
    halves: [{ status: "COMPLETED" }, falTask("COMPLETED", { response_url: "https://queue.fal.run/../admin" })],
    gone: null,
  },
  replicate: {
    model: "owner/name",
    seconds: 5,
    resolution: "720p",
    createUrl: "https://api.replicate.com/v1/models/owner/name/predictions",
    body: { input: { prompt: "a paper boat", aspect_ratio: "16:9", resolution: "720p", duration: 5, seed: 11 } },
    own: { fps: 24, generate_audio: false },
    created: replicateTask("starting"),
    createdAs: (id) => JSON.stringify({ id }),
    upstreamId: "p1",
    poll: "GET https://api.replicate.com/v1/predictions/p1",
    states: [
      [replicateTask("starting"), "queued"],
      [replicateTask("processing"), "running"],
      [replicateTask("succeeded"), "succeeded"],
      [replicateTask("succeeded", [video]), "succeeded"],
      [replicateTask("succeeded", { video, thumbnail: "https://cdn.example/t.png" }), "succeeded"],
      [replicateTask("failed"), "failed"],
      [replicateTask("canceled"), "cancelled"],
      [replicateTask("aborted"), "expired"],
    ],
    withWord: replicateTask,
    halves: [replicateTask("succeeded", 5), replicateTask("succeeded", {})],
    gone: { title: "Not found", detail: "gone", status: 404 },
  },
};
