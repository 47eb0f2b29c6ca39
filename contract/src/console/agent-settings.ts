import { z } from "zod";
import { route } from "./route.ts";
import { at, count, id, maybeAt, personSchema } from "./words.ts";

const settings = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe("As the agents of the group get them at `/managed/settings`. null: none are managed.");

const checksum = z
  .string()
  .nullable()
  .describe("`sha256:` and the SHA-256 of the settings with sorted keys. null: none are managed.");

const settingsSchema = z.object({
  settings,
  checksum,
  updated_at: maybeAt,
  version: count.nullable().describe("Which version they are. null: none was ever set."),
  updated_by: z.string().nullable().describe("Who set them. null: none was ever set."),
});

const remarkSchema = z.object({
  path: z.string().describe("Which member, such as `permissions.deny[0]`."),
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
      "`key`: the group of the key that they call with. Without one, where their first sign-in would put them: by `rules` for rights, or else the first group.",
    ),
  may_sign_in: z.boolean(),
  settings: settings.describe(
    "As `/managed/settings` answers them, with what the gateway adds for the telemetry of agents. null: it answers 404.",
  ),
  checksum,
});

const place = "/api/workspaces/{workspace}/groups/{group}/agent-settings";

/** What the coding agents of a group are set to. */
export const agentSettingsRoutes = {
  "agents.settings": route({
    method: "GET",
    path: place,
    summary: "What the coding agents of a group are set to",
    needs: "admin",
    answer: settingsSchema,
  }),
  "agents.setSettings": route({
    method: "PUT",
    path: place,
    summary:
      "Set the coding agents of a group, which makes a new version. Settings may name commands that run on people's machines. " +
      "A member of a wrong type is refused; one that is not known is a warning",
    needs: "administrator",
    fresh: true,
    body: z.strictObject({
      settings: z.record(z.string(), z.unknown()).nullable(),
      replaces: checksum
        .optional()
        .describe(
          "The `checksum` of what is to be changed. Refused with 409 `conflict` when somebody has set others since. Left out: whatever is there.",
        ),
    }),
    answer: settingsSchema.extend({ warnings: z.array(remarkSchema) }),
  }),
  "agents.settingsVersions": route({
    method: "GET",
    path: `${place}/versions`,
    summary: "What the coding agents of a group were set to, when and by whom; newest first",
    needs: "admin",
    answer: z.object({ data: z.array(versionSchema) }),
  }),
  "agents.settingsVersion": route({
    method: "GET",
    path: `${place}/versions/{version}`,
    summary: "One version of what the coding agents of a group were set to",
    needs: "admin",
    answer: versionSchema.extend({ settings }),
  }),
  "agents.previewSettings": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/agent-settings/preview",
    summary: "What a person's coding agents would be set to in a workspace, and by which group",
    needs: "admin",
    query: z.object({
      person: z
        .string()
        .min(1)
        .max(320)
        .describe("A user's id or address: a member, or who has signed an agent in here."),
    }),
    answer: previewSchema,
  }),
} as const;
