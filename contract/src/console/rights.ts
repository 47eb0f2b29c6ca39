import { z } from "zod";
import { rightsRulesSchema } from "../rights-rules.ts";
import { remarkSchema } from "./remark.ts";
import { workspaceRoles } from "./roles.ts";
import { route } from "./route.ts";
import { count } from "./words.ts";

const role = z.enum(workspaceRoles).nullable();
const group = z.string().nullable();

const rightsRulesViewSchema = z.object({
  rules: rightsRulesSchema,
  managed_by: z.enum(["file", "console"]).describe("`file`: they are read-only here."),
});

const claimsTriedSchema = z.object({
  administrator: z.string().nullable().describe("The rule that makes them an administrator; null: none does."),
  places: z.array(z.object({ workspace: z.string(), role, group, rules: z.string().describe("By what rules.") })),
  findings: z.array(
    z.object({
      number: count.describe("Of the rule, from 1."),
      name: z.string().nullable(),
      matched: z.boolean(),
      gives: z
        .object({ administrator: z.boolean(), role, group })
        .describe("What it really gives: nothing where an earlier rule decided."),
      why: remarkSchema("rightsRule"),
    }),
  ),
});

export const rightsRoutes = {
  "rights.rules": route({
    method: "GET",
    path: "/api/settings/rules/{source}",
    summary: "Rules from what a source says of people to rights; the source is `oidc:<account>` or `scim`",
    needs: "administrator",
    answer: rightsRulesViewSchema,
  }),
  "rights.putRules": route({
    method: "PUT",
    path: "/api/settings/rules/{source}",
    summary: "Replace the rules of a source; what removed rules gave is taken away at once",
    needs: "administrator",
    fresh: true,
    body: z.strictObject({ rules: rightsRulesSchema }),
    answer: rightsRulesViewSchema,
  }),
  "rights.try": route({
    method: "POST",
    path: "/api/settings/rules/{source}/try",
    summary: "What claims would give, and why; nothing changes",
    needs: "administrator",
    body: z.strictObject({
      claims: z.record(z.string(), z.unknown()).describe("As an ID token has them."),
      rules: rightsRulesSchema.optional().describe("Instead of those of the source."),
    }),
    answer: claimsTriedSchema,
  }),
  "rights.ofUser": route({
    method: "GET",
    path: "/api/users/{user}/rights",
    summary: "By what sources and rules a user holds what; without an entry it is held by hand",
    needs: "administrator",
    answer: z.object({
      data: z.array(
        z.object({
          source: z.string().describe("`oidc:<account>`, `scim` or `manual`."),
          workspace: z.string().nullable().describe("Its slug; null: the installation."),
          role: z.enum([...workspaceRoles, "administrator"]).nullable(),
          group,
          rules: z.string(),
        }),
      ),
    }),
  }),
} as const;
