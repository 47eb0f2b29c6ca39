import { z } from "zod";
import { route } from "./route.ts";
import { at, id, nothing, personSchema } from "./words.ts";

const text = z.string().max(32_000);

/** A shared session. Strict, so that it cannot contain a key or answers. */
const session = z.strictObject({
  models: z.array(z.string().min(1).max(256)).min(1).max(4).describe("Several are compared side by side."),
  messages: z.array(text).max(100).describe("The user's messages. Answers and pictures are not shared."),
  system: text,
  temperature: z.number().nullable(),
  max_tokens: z.int().positive().nullable(),
  stop: z.array(z.string().max(256)).max(16),
  tools: text.describe("JSON, as written in the playground."),
  more: text.describe("JSON: further parameters."),
});
export type PlaygroundSession = z.infer<typeof session>;

const shareSchema = z.object({
  id,
  owner: personSchema,
  models: z.array(z.string()),
  created_at: at,
  expires_at: at,
});
export type PlaygroundShare = z.infer<typeof shareSchema>;

const path = "/api/workspaces/{workspace}/playground-shares";

export const playgroundShareRoutes = {
  "playgroundShares.list": route({
    method: "GET",
    path,
    summary: "List your shared playground sessions. Admins see all of the workspace",
    needs: "member",
    answer: z.object({ data: z.array(shareSchema).describe("Newest first.") }),
  }),
  "playgroundShares.create": route({
    method: "POST",
    path,
    summary: "Share a playground session with the workspace, without answers. A user can have 50 in a workspace",
    needs: "member",
    status: 201,
    body: z.strictObject({ session, days: z.int().min(1).max(90).default(30).describe("Days until it expires.") }),
    answer: shareSchema,
  }),
  "playgroundShares.show": route({
    method: "GET",
    path: `${path}/{share}`,
    summary: "Get a shared playground session. Secrets in it are masked",
    needs: "viewer",
    answer: shareSchema.extend({ session }),
  }),
  "playgroundShares.remove": route({
    method: "DELETE",
    path: `${path}/{share}`,
    summary: "Stop sharing a playground session. Admins may do so for other users",
    needs: "member",
    status: 204,
    answer: nothing,
  }),
} as const;
