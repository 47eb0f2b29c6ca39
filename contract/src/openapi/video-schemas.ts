import { z } from "zod";

/** A video task as its owner is shown it. */
const unixSeconds = z.int().describe("Unix seconds.");

export const videoOutputSchema = z.looseObject({
  video_url: z.string().describe("The vendor's link, or `content_url` where that needs the vendor's credential."),
  last_frame_url: z.string().optional(),
  content_url: z.string().describe("The same video by way of the gateway; wants the key."),
  expires_at: unixSeconds
    .nullable()
    .describe("Unix seconds when the vendor's link ends; null: it was copied, or the vendor does not say."),
});

export const videoTaskSchema = z.looseObject({
  id: z.string().describe("`vt_…`"),
  task_id: z.string().describe("The same."),
  object: z.literal("video.task"),
  model: z.string(),
  status: z.enum(["queued", "running", "succeeded", "failed", "cancelled", "expired"]),
  progress: z.number().nullable().describe("0 to 100; null when the vendor does not say."),
  created_at: unixSeconds,
  updated_at: unixSeconds,
  started_at: unixSeconds.nullable(),
  finished_at: unixSeconds.nullable(),
  expires_at: unixSeconds.describe("Unix seconds after which the task is given up."),
  prompt: z.string().nullable(),
  ratio: z.string().nullable(),
  duration: z.int().nullable(),
  resolution: z.string().nullable(),
  audio: z.boolean().nullable(),
  watermark: z.boolean().nullable(),
  seed: z.int().nullable(),
  remix_of: z.string().optional().describe("The task whose video was made anew; only in a remix."),
  output: videoOutputSchema.nullable(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  usage: z
    .looseObject({ output_tokens: z.int(), total_tokens: z.int(), video_seconds: z.number() })
    .nullable()
    .describe("Null until it has ended, and where nothing was used."),
  cost: z
    .looseObject({ amount_usd: z.number(), estimated: z.boolean() })
    .nullable()
    .describe("While it runs what is set aside for it; then what it cost. Null for a model without a price."),
  metadata: z.looseObject({}),
  poll_after_ms: z.int().nullable().describe("When to look again; null once it has ended."),
});

export const videoTaskListSchema = z.looseObject({
  object: z.literal("list"),
  data: z.array(videoTaskSchema).describe("Newest first."),
  has_more: z.boolean(),
  next: z.string().nullable().describe("Goes into `after` for the next page."),
});
