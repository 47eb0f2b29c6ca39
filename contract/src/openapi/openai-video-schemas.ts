import { z } from "zod";

/** OpenAI's shapes of a video, for readers of the API reference. */
const unixSeconds = z.int().describe("Unix seconds.");

export const openAiVideoRequestSchema = z.looseObject({
  model: z.string().max(256).optional().describe("A name from `GET /v1/models`; `sora-2` unless told."),
  prompt: z.string().max(32768).optional().describe("Required unless there is a picture."),
  seconds: z
    .union([z.string(), z.int()])
    .optional()
    .describe('Whole seconds, such as "8": those that the model takes.'),
  size: z.string().optional().describe("`<width>x<height>` in pixels, as the model takes it."),
  input_reference: z
    .union([z.string(), z.looseObject({ image_url: z.string().optional() })])
    .optional()
    .describe("The first frame: a file in a form, else its public URL, a `data:` URI or `asset://<asset_id>`."),
});

export const openAiVideoRemixSchema = z.looseObject({
  prompt: z.string().max(32768),
});

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
