import { z } from "zod";

/** OpenAI's video objects, for the API reference. */
const unixSeconds = z.int().describe("Unix seconds.");

export const openAiVideoSchema = z.looseObject({
  id: z.string().describe("`video_…`"),
  object: z.literal("video"),
  model: z.string(),
  status: z.enum(["queued", "in_progress", "completed", "failed"]),
  progress: z.number().describe("0 to 100. 0 if the vendor does not report progress."),
  created_at: unixSeconds,
  completed_at: unixSeconds.nullable(),
  expires_at: unixSeconds
    .nullable()
    .describe("When the vendor deletes the video, in Unix seconds. null: not reported."),
  seconds: z.string().nullable().describe("Requested duration, or else the actual one. null: unknown so far."),
  size: z.string().nullable().describe("Requested size. null: none was requested."),
  prompt: z.string().nullable(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  remixed_from_video_id: z.string().nullable(),
});

export const openAiVideoDeletedSchema = z.looseObject({
  id: z.string(),
  object: z.literal("video.deleted"),
  deleted: z.literal(true),
});

export const openAiVideoListSchema = z.looseObject({
  object: z.literal("list"),
  data: z.array(openAiVideoSchema),
  first_id: z.string().nullable(),
  last_id: z.string().nullable().describe("Value of `after` for the next page."),
  has_more: z.boolean(),
});
