import { video } from "./video-fixture.ts";
import type { Vendor } from "./video-vendor.ts";

const arkTask = (status: string): object => ({
  id: "cgt-1",
  model: "m",
  status,
  content: status === "succeeded" ? { video_url: video } : null,
  error: status === "failed" ? { code: "OutputVideoSensitiveContentDetected", message: "no" } : null,
});

/** Seedance, on either Ark platform or the demo. */
export function ark(root: string): Vendor {
  return {
    model: "doubao-seedance-2-0-260128",
    seconds: 5,
    resolution: "720p",
    createUrl: `${root}/contents/generations/tasks`,
    body: {
      model: "doubao-seedance-2-0-260128",
      content: [{ type: "text", text: "a paper boat" }],
      resolution: "720p",
      ratio: "16:9",
      duration: 5,
      seed: 11,
    },
    own: { generate_audio: false, service_tier: "flex" },
    created: { id: "cgt-1" },
    createdAs: (id) => JSON.stringify({ id }),
    upstreamId: "cgt-1",
    poll: `GET ${root}/contents/generations/tasks/cgt-1`,
    states: [
      [arkTask("queued"), "queued"],
      [arkTask("running"), "running"],
      [arkTask("succeeded"), "succeeded"],
      [arkTask("failed"), "failed"],
      [arkTask("cancelled"), "cancelled"],
      [arkTask("expired"), "expired"],
    ],
    withWord: arkTask,
    halves: [{ ...arkTask("succeeded"), content: {} }],
    gone: { error: { code: "NotFound.Task", message: "gone", type: "NotFound" } },
  };
}

const soraTask = (status: string): object => ({
  id: "video_1",
  object: "video",
  status,
  progress: 0,
  seconds: "4",
  error: status === "failed" ? { code: "moderation_blocked", message: "no" } : null,
});

/** OpenAI's videos, at OpenAI or Azure. */
export function sora(root: string): Vendor {
  return {
    model: "sora-2",
    seconds: 4,
    resolution: "720p",
    createUrl: `${root}/videos`,
    body: (draft) => {
      const boundary = (draft.headers["content-type"] ?? "").split("boundary=")[1] ?? "none";
      const field = (name: string, value: string): string =>
        `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
      return [
        field("model", "sora-2"),
        field("prompt", "a paper boat"),
        field("seconds", "4"),
        field("size", "1280x720"),
        `--${boundary}--\r\n`,
      ];
    },
    own: { size: "720x1280" },
    created: soraTask("queued"),
    createdAs: (id) => JSON.stringify({ id }),
    upstreamId: "video_1",
    poll: `GET ${root}/videos/video_1`,
    states: [
      [soraTask("queued"), "queued"],
      [soraTask("in_progress"), "running"],
      [soraTask("completed"), "succeeded"],
      [soraTask("failed"), "failed"],
    ],
    withWord: soraTask,
    halves: [{ status: "completed" }],
    gone: { error: { code: "not_found", type: "invalid_request_error", message: "gone" } },
  };
}

export const operation = "models/veo-3.1-generate-preview/operations/abc";
const veoDone = (name: string, response: object): object => ({ name, done: true, response });
const filtered = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["It showed a child."] };

/** Veo, through either of Google's APIs. */
export function veo(root: string, name: string, more: Pick<Vendor, "body" | "poll">, sample: object): Vendor {
  return {
    model: "veo-3.1-generate-preview",
    seconds: 8,
    resolution: "720p",
    createUrl: `${root}/models/veo-3.1-generate-preview:predictLongRunning`,
    ...more,
    own: { personGeneration: "allow_all" },
    created: { name },
    createdAs: (id) => JSON.stringify({ name: id }),
    upstreamId: name,
    states: [
      [{ name, metadata: {} }, "running"],
      [{ name, done: false }, "running"],
      [veoDone(name, sample), "succeeded"],
      [{ name, done: true, error: { code: 3, message: "bad" } }, "failed"],
      [veoDone(name, { generateVideoResponse: filtered }), "failed"],
      [veoDone(name, filtered), "failed"],
    ],
    withWord: (word) => ({ name, done: word, status: word }),
    wordless: true,
    named: true,
    halves: [{ name, done: true }, veoDone(name, {}), { done: true, error: { code: 3 } }],
    gone: { error: { code: 404, status: "NOT_FOUND", message: "gone" } },
  };
}
