import { z } from "zod";

/** OpenAI's shapes of a video, for readers of the API reference. */
const unixSeconds = z.int().describe("Unix seconds.");

export const openAiVideoSchema = z.looseObject({
  id: z.string().describe("`video_…`"),
  object: z.literal("video"),
  model: z.string(),
  status: z.enum(["queued", "in_progress", "completed", "failed"]),
  progress: z.number().describe("0 to 100; 0 while the vendor does not say."),
  created_at: unixSeconds,
  completed_at: unixSeconds.nullable(),
  expires_at: unixSeconds.nullable().describe("Unix seconds when the vendor's bytes end; null where nobody says."),
  seconds: z.string().nullable().describe("As asked for, else as made; null while that is not known."),
  size: z.string().nullable().describe("As asked for; null where it was not."),
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
  last_id: z.string().nullable().describe("Goes into `after` for the next page."),
  has_more: z.boolean(),
});
