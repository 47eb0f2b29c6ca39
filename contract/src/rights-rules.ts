import { z } from "zod";
import { workspaceRoles } from "./console/roles.ts";
import { linePattern, lineRule, nameLengthMax, slugPattern, slugRule } from "./names.ts";

const value = z.string().min(1).max(1_024);

/** A rule that grants rights based on an issuer's claims or SCIM groups. */
export const rightsRuleSchema = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(nameLengthMax)
    .regex(linePattern, lineRule)
    .optional()
    .describe("Name for messages. Default: the rule's number."),
  claim: value.max(256).describe("The claim: `groups`, `department`, `realm_access.roles`."),
  equals: z.union([value, z.number(), z.boolean()]).optional().describe("The claim equals this value."),
  one_of: z.array(value).min(1).max(1_000).optional().describe("The claim is one of these values."),
  contains: value.optional().describe("The claim is this value, or a list that contains it."),
  matches: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("The claim, or a value in its list, matches this pattern. `*` matches any number of characters."),
  administrator: z.boolean().optional().describe("Administrator of the installation."),
  workspace: z.string().regex(slugPattern, slugRule).optional().describe("Workspace for `role` and `group`."),
  role: z.enum(workspaceRoles).optional().describe("Role in the workspace."),
  group: z
    .string()
    .min(1)
    .max(nameLengthMax)
    .optional()
    .describe("Group of the user's agent key in the workspace, which sets its models, limits and managed settings."),
});
export type RightsRule = z.infer<typeof rightsRuleSchema>;

export const rightsRulesSchema = z
  .array(rightsRuleSchema)
  .max(500)
  .describe(
    "Evaluated in order. Every matching rule applies; in each workspace the first rule with a role sets the role, and the first with a group sets the group.",
  );
