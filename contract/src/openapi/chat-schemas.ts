import { z } from "zod";

/**
 * What a chat call looks like, for readers of the API reference. The gateway itself does not check a body against
 * these: it reads `model` and `stream`, and whatever else is there goes to the upstream as it came.
 */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1).max(256).describe("A name from `GET /v1/models`."),
  messages: z
    .array(
      z.looseObject({
        role: z.string().describe("`system`, `developer`, `user`, `assistant` or `tool`."),
        content: z.unknown().describe("Text, or a list of content parts."),
      }),
    )
    .min(1),
  stream: z.boolean().optional().describe("True: the answer comes as server-sent events."),
  stream_options: z
    .looseObject({ include_usage: z.boolean().optional() })
    .optional()
    .describe("With `include_usage` the last chunk before `[DONE]` holds the usage."),
  temperature: z.number().optional(),
  max_completion_tokens: z.int().optional(),
  tools: z.array(z.unknown()).optional(),
});

export const chatAnswerSchema = z.looseObject({
  id: z.string(),
  object: z.literal("chat.completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: z.looseObject({ role: z.string(), content: z.string().nullable() }),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: z
    .looseObject({
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
      total_tokens: z.int(),
    })
    .optional(),
});
