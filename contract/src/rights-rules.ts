import { z } from "zod";
import { workspaceRoles } from "./console/roles.ts";
import { nameLettersMax, slugPattern, slugRule } from "./names.ts";

const value = z.string().min(1).max(1_024);

/** One rule from what a source says of somebody (an issuer's claims, groups of SCIM) to what they may do here. */
export const rightsRuleSchema = z.strictObject({
  name: z.string().trim().min(1).max(nameLettersMax).optional().describe("What reasons call it; default: its number."),
  claim: value.max(256).describe("Where the value stands: `groups`, `department`, `realm_access.roles`."),
  equals: z.union([value, z.number(), z.boolean()]).optional().describe("The claim is this one value."),
  one_of: z.array(value).min(1).max(1_000).optional().describe("The claim is one of these values."),
  contains: value.optional().describe("The claim is a list with this value in it, or this value alone."),
  matches: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("The claim, or a value of its list, has this form; `*` stands for any characters, none included."),
  administrator: z.boolean().optional().describe("They govern the installation."),
  workspace: z.string().regex(slugPattern, slugRule).optional().describe("Where role and group are given."),
  role: z.enum(workspaceRoles).optional().describe("What they are in the workspace."),
  group: z
    .string()
    .min(1)
    .max(nameLettersMax)
    .optional()
    .describe("The group of their agents' key in the workspace: its models, limits and managed settings."),
});
export type RightsRule = z.infer<typeof rightsRuleSchema>;

export const rightsRulesSchema = z
  .array(rightsRuleSchema)
  .max(500)
  .describe(
    "Read from top to bottom. Every rule that matches gives what it says; for one workspace the first that gives a role decides the role, and the first that gives a group the group.",
  );
