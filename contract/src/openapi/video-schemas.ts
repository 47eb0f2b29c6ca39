import { z } from "zod";

/** What a video task looks like, for readers of the API reference. The gateway reads the fields that are listed; the rest goes on. */
const unixSeconds = z.int().describe("Unix seconds.");

const material = z
  .union([
    z.string(),
    z.looseObject({
      url: z.string(),
      type: z.enum(["image", "video", "audio"]).optional().describe("Default: told by the URL, else an image."),
      role: z
        .enum(["first_frame", "last_frame", "reference", "reference_image", "reference_video", "reference_audio"])
        .optional()
        .describe("Default: by the field that it stands in."),
    }),
  ])
  .describe("A public URL, a `data:` URI, or `asset://<asset_id>`.");

export const videoTaskRequestSchema = z.looseObject({
  model: z.string().min(1).max(256).describe("A name from `GET /v1/models`."),
  prompt: z.string().max(32768).optional().describe("Required unless there is material or `content`."),
  ratio: z.string().optional().describe("`<width>:<height>`, `adaptive` or `auto`."),
  duration: z.int().optional().describe("Whole seconds; -1 where the model may decide."),
  resolution: z.string().optional().describe("`<lines>p`, or `2k` or `4k`."),
  audio: z.boolean().optional().describe("With sound or without."),
  watermark: z.boolean().optional(),
  seed: z.int().optional().describe("May be negative: any."),
  image: material.optional().describe("The first frame."),
  last_frame: material.optional().describe("The last frame."),
  references: z.array(material).max(64).optional().describe("What it should look and sound like."),
  content: z
    .array(z.unknown())
    .min(1)
    .max(64)
    .optional()
    .describe("Ark's own array, passed on with assets resolved; other upstreams refuse it."),
  return_last_frame: z.boolean().optional().describe("Whether the last frame is wanted as a picture too."),
  remix_of: z
    .string()
    .optional()
    .describe(
      "A task of yours whose video is made anew with other words (OpenAI, Azure); it keeps length, shape and sound.",
    ),
  callback_url: z.string().optional().describe("A public address that is told when the task has ended."),
  metadata: z.looseObject({}).optional().describe("The caller's own, at most 4 KiB; comes back as it is."),
});

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
