import { z } from "zod";
import { remarkSchema } from "./remark.ts";
import { route } from "./route.ts";
import { taskStates } from "./states.ts";
import { at, count, id, nothing, pageOf, pageQuery, usd } from "./words.ts";

export const consoleTaskSchema = z.object({
  id,
  workspace: z.object({ id, slug: z.string() }),
  key: z.object({ id, name: z.string() }),
  model: z.string(),
  provider: z.string().nullable(),
  status: z.enum(taskStates),
  progress: z.number().nullable(),
  prompt: z.string().nullable(),
  ratio: z.string().nullable(),
  resolution: z.string().nullable(),
  duration: z.number().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  has_content: z.boolean().describe("Its video can be read now."),
  cost_usd: usd.nullable(),
  cost_estimated: z.boolean(),
  created_at: at,
  updated_at: at,
  started_at: at.nullable(),
  finished_at: at.nullable(),
  expires_at: at.nullable(),
});
export type ConsoleTask = z.infer<typeof consoleTaskSchema>;

export const taskDetailSchema = consoleTaskSchema.extend({
  request_id: id.describe("Under which the ledger has it, once it has ended."),
  request: z
    .record(z.string(), z.unknown())
    .describe("The caller's own body; what was large inline material in it stands as a note of its size."),
  request_whole: z.boolean().describe("Whether the body can be sent again: large inline material is not kept."),
  events: z.array(
    z.object({
      at,
      status: z.string(),
      detail: z.string().nullable(),
      note: remarkSchema("taskEvent").nullable().describe("`detail` by code; null: there is none, or it has no code."),
    }),
  ),
  deliveries: z.array(
    z.object({
      url: z.string(),
      tries: count,
      delivered_at: at.nullable(),
      next_at: at.nullable(),
      last_status: z.int().nullable(),
      last_error: z.string().nullable(),
      fault: remarkSchema("callback")
        .nullable()
        .describe("`last_error` by code; null: there is none, or it has no code."),
    }),
  ),
});
export type TaskDetail = z.infer<typeof taskDetailSchema>;

export const consoleAssetGroupSchema = z.object({
  id,
  platform: z.string(),
  name: z.string(),
  description: z.string(),
  created_at: at,
});
export const consoleAssetSchema = z.object({
  id,
  group_id: id,
  platform: z.string(),
  name: z.string(),
  asset_type: z.enum(["Image", "Video", "Audio"]),
  status: z.enum(["Processing", "Active", "Failed"]),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  size_bytes: count.nullable(),
  content_type: z.string().nullable(),
  has_content: z.boolean().describe("Its bytes can be read from us."),
  created_at: at,
  updated_at: at,
});
export type ConsoleAsset = z.infer<typeof consoleAssetSchema>;

/**
 * Tasks and assets of a workspace. Making one goes through the data plane, as a key: see `asKeyPath`. Their bytes come
 * from `taskContentPath` and `assetContentPath`, which are not JSON.
 */
export const mediaRoutes = {
  "tasks.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/video-tasks",
    summary: "Video tasks, newest first. Members and viewers see their own and those of keys that are no one person's",
    needs: "viewer",
    query: pageQuery.extend({
      status: z.enum(taskStates).optional(),
      model: z.string().max(256).optional(),
      key: id.optional(),
    }),
    answer: pageOf(consoleTaskSchema),
  }),
  "tasks.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/video-tasks/{task}",
    summary: "One video task with its history",
    needs: "viewer",
    answer: taskDetailSchema,
  }),
  "tasks.cancel": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/video-tasks/{task}/cancel",
    summary: "Cancel a video task where its vendor can",
    needs: "member",
    answer: consoleTaskSchema,
  }),
  "assetGroups.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/asset-groups",
    summary: "Asset groups",
    needs: "viewer",
    query: pageQuery,
    answer: pageOf(consoleAssetGroupSchema),
  }),
  "assetGroups.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/asset-groups/{group}",
    summary: "Remove an asset group",
    needs: "member",
    answer: nothing,
  }),
  "assets.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/assets",
    summary: "Assets, newest first",
    needs: "viewer",
    query: pageQuery.extend({ group: id.optional() }),
    answer: pageOf(consoleAssetSchema),
  }),
  "assets.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/assets/{asset}",
    summary: "Remove an asset",
    needs: "member",
    answer: nothing,
  }),
} as const;
