import { z } from "zod";
import { remarkSchema } from "./remark.ts";
import { route } from "./route.ts";
import { taskStates } from "./states.ts";
import { at, count, countedPageOf, id, nothing, pageOf, pageQuery, usd } from "./words.ts";

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
  has_content: z.boolean().describe("The video can be downloaded now."),
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
  request_id: id.describe("Id of its ledger entry, once the task has ended."),
  request: z
    .record(z.string(), z.unknown())
    .describe("The caller's request body. Large inline media is replaced by its size."),
  request_whole: z.boolean().describe("Whether the stored body is complete and can be sent again."),
  events: z.array(
    z.object({
      at,
      status: z.string(),
      detail: z.string().nullable(),
      note: remarkSchema("taskEvent").nullable().describe("`detail` by code; null: none, or no code for it."),
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
      fault: remarkSchema("callback").nullable().describe("`last_error` by code; null: none, or no code for it."),
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
  has_content: z.boolean().describe("The gateway can serve its content."),
  created_at: at,
  updated_at: at,
});
export type ConsoleAsset = z.infer<typeof consoleAssetSchema>;

/**
 * Tasks and assets of a workspace. To create one, call the data plane with a key: see `asKeyPath`. Their content is at
 * `taskContentPath` and `assetContentPath`, which do not return JSON.
 */
export const mediaRoutes = {
  "tasks.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/video-tasks",
    summary: "List video tasks, newest first. Members and viewers see only their own tasks and tasks of shared keys",
    needs: "viewer",
    query: pageQuery.extend({
      status: z.enum(taskStates).optional(),
      model: z.string().max(256).optional(),
      key: id.optional(),
    }),
    answer: countedPageOf(consoleTaskSchema),
  }),
  "tasks.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/video-tasks/{task}",
    summary: "Get a video task with its history",
    needs: "viewer",
    answer: taskDetailSchema,
  }),
  "tasks.cancel": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/video-tasks/{task}/cancel",
    summary: "Cancel a video task, if the vendor supports it",
    needs: "member",
    answer: consoleTaskSchema,
  }),
  "assetGroups.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/asset-groups",
    summary: "List asset groups",
    needs: "viewer",
    query: pageQuery,
    answer: pageOf(consoleAssetGroupSchema),
  }),
  "assetGroups.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/asset-groups/{group}",
    summary: "Delete an asset group",
    needs: "member",
    answer: nothing,
  }),
  "assets.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/assets",
    summary: "List assets, newest first",
    needs: "viewer",
    query: pageQuery.extend({ group: id.optional() }),
    answer: countedPageOf(consoleAssetSchema),
  }),
  "assets.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/assets/{asset}",
    summary: "Delete an asset",
    needs: "member",
    answer: nothing,
  }),
} as const;
