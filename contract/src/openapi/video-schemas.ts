import { z } from "zod";

/** A video task as returned to its owner. */
const unixSeconds = z.int().describe("Unix seconds.");

export const videoOutputSchema = z.looseObject({
  video_url: z
    .string()
    .describe("The vendor's link. Same as `content_url` if the link needs the vendor's credentials."),
  last_frame_url: z.string().optional(),
  content_url: z.string().describe("The same video, served by the gateway. Needs the API key."),
  expires_at: unixSeconds
    .nullable()
    .describe(
      "When the vendor's link expires, in Unix seconds. null: the video was copied, or the vendor reports no expiry.",
    ),
});

export const videoTaskSchema = z.looseObject({
  id: z.string().describe("`vt_…`"),
  task_id: z.string().describe("Same as `id`."),
  object: z.literal("video.task"),
  model: z.string(),
  status: z.enum(["queued", "running", "succeeded", "failed", "cancelled", "expired"]),
  progress: z.number().nullable().describe("0 to 100. null: the vendor does not report progress."),
  created_at: unixSeconds,
  updated_at: unixSeconds,
  started_at: unixSeconds.nullable(),
  finished_at: unixSeconds.nullable(),
  expires_at: unixSeconds.describe("When the task times out, in Unix seconds."),
  prompt: z.string().nullable(),
  ratio: z.string().nullable(),
  duration: z.int().nullable(),
  resolution: z.string().nullable(),
  audio: z.boolean().nullable(),
  watermark: z.boolean().nullable(),
  seed: z.int().nullable(),
  remix_of: z.string().optional().describe("Id of the task that was remixed. Only for a remix."),
  output: videoOutputSchema.nullable(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  usage: z
    .looseObject({ output_tokens: z.int(), total_tokens: z.int(), video_seconds: z.number() })
    .nullable()
    .describe("null: the task has not ended, or nothing was used."),
  cost: z
    .looseObject({ amount_usd: z.number(), estimated: z.boolean() })
    .nullable()
    .describe("Reserved amount while the task runs, then its cost. null: the model has no price."),
  metadata: z.looseObject({}),
  poll_after_ms: z.int().nullable().describe("Milliseconds until the next poll. null: the task has ended."),
});

export const videoTaskListSchema = z.looseObject({
  object: z.literal("list"),
  data: z.array(videoTaskSchema).describe("Newest first."),
  has_more: z.boolean(),
  next: z.string().nullable().describe("Value of `after` for the next page."),
});
