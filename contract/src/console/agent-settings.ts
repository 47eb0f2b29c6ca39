import { z } from "zod";
import { route } from "./route.ts";
import { at, count, id, maybeAt, personSchema } from "./words.ts";

const settings = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe("The settings that agents of the group get at `/managed/settings`. null: none.");

const checksum = z
  .string()
  .nullable()
  .describe("`sha256:` and the SHA-256 of the settings with sorted keys. null: no settings.");

const settingsSchema = z.object({
  settings,
  checksum,
  updated_at: maybeAt,
  version: count.nullable().describe("Version of the settings. null: never set."),
  updated_by: z.string().nullable().describe("Who set them. null: never set."),
});

const remarkSchema = z.object({
  path: z.string().describe("Path of the setting, such as `permissions.deny[0]`."),
  code: z.enum(["type", "unknown", "value", "rule", "env_name", "first_model"]),
  expected: z.array(z.string()),
});

const versionSchema = z.object({
  version: count,
  at,
  by: z.string().describe("Who set it."),
  checksum,
});

const previewSchema = z.object({
  person: personSchema,
  group: z.object({ id, name: z.string() }),
  by: z
    .enum(["key", "rules", "first_sign_in"])
    .describe(
      "Why this group: `key`, it is the group of the user's key. Without a key, the group that the first sign-in would assign: by rights `rules`, or otherwise the first group.",
    ),
  may_sign_in: z.boolean(),
  settings: settings.describe(
    "The response of `/managed/settings`, including the gateway's telemetry settings. null: 404.",
  ),
  checksum,
});

const place = "/api/workspaces/{workspace}/groups/{group}/agent-settings";

/** Coding agent settings of groups. */
export const agentSettingsRoutes = {
  "agents.settings": route({
    method: "GET",
    path: place,
    summary: "Get the coding agent settings of a group",
    needs: "admin",
    answer: settingsSchema,
  }),
  "agents.setSettings": route({
    method: "PUT",
    path: place,
    summary:
      "Set the coding agent settings of a group as a new version. Settings can name commands that run on users' machines. " +
      "Settings of the wrong type are refused; unknown settings cause a warning",
    needs: "administrator",
    fresh: true,
    body: z.strictObject({
      settings: z.record(z.string(), z.unknown()).nullable(),
      replaces: checksum
        .optional()
        .describe(
          "The `checksum` of the settings to replace: 409 `conflict` if they were changed since. Left out: no check.",
        ),
    }),
    answer: settingsSchema.extend({ warnings: z.array(remarkSchema) }),
  }),
  "agents.settingsVersions": route({
    method: "GET",
    path: `${place}/versions`,
    summary: "List the versions of a group's coding agent settings, newest first",
    needs: "admin",
    answer: z.object({ data: z.array(versionSchema) }),
  }),
  "agents.settingsVersion": route({
    method: "GET",
    path: `${place}/versions/{version}`,
    summary: "Get one version of a group's coding agent settings",
    needs: "admin",
    answer: versionSchema.extend({ settings }),
  }),
  "agents.previewSettings": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/agent-settings/preview",
    summary: "Preview a user's coding agent settings in a workspace",
    needs: "admin",
    query: z.object({
      person: z
        .string()
        .min(1)
        .max(320)
        .describe("Id or address of a member, or of a user who has signed in an agent here."),
    }),
    answer: previewSchema,
  }),
} as const;
