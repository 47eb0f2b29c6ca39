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
  managed_by: z.enum(["file", "console"]).describe("`file`: read-only here, change the config file."),
});

const claimsTriedSchema = z.object({
  administrator: z.string().nullable().describe("Rule that makes the user an administrator. null: none."),
  places: z.array(
    z.object({ workspace: z.string(), role, group, rules: z.string().describe("Rules that granted it.") }),
  ),
  findings: z.array(
    z.object({
      number: count.describe("Number of the rule, from 1."),
      name: z.string().nullable(),
      matched: z.boolean(),
      gives: z
        .object({ administrator: z.boolean(), role, group })
        .describe("Rights that the rule grants. None if an earlier rule already decided."),
      why: remarkSchema("rightsRule"),
    }),
  ),
});

export const rightsRoutes = {
  "rights.rules": route({
    method: "GET",
    path: "/api/settings/rules/{source}",
    summary: "Get the rights rules of a source, `oidc:<account>` or `scim`",
    needs: "administrator",
    answer: rightsRulesViewSchema,
  }),
  "rights.putRules": route({
    method: "PUT",
    path: "/api/settings/rules/{source}",
    summary: "Replace the rights rules of a source. Rights from removed rules end at once",
    needs: "administrator",
    fresh: true,
    body: z.strictObject({ rules: rightsRulesSchema }),
    answer: rightsRulesViewSchema,
  }),
  "rights.try": route({
    method: "POST",
    path: "/api/settings/rules/{source}/try",
    summary: "Test which rights claims would give, without changing anything",
    needs: "administrator",
    body: z.strictObject({
      claims: z.record(z.string(), z.unknown()).describe("Claims as in an ID token."),
      rules: rightsRulesSchema.optional().describe("Rules to test. Default: the rules of the source."),
    }),
    answer: claimsTriedSchema,
  }),
  "rights.ofUser": route({
    method: "GET",
    path: "/api/users/{user}/rights",
    summary: "List the sources and rules of a user's rights. Rights without an entry were given by hand",
    needs: "administrator",
    answer: z.object({
      data: z.array(
        z.object({
          source: z.string().describe("`oidc:<account>`, `scim` or `manual`."),
          workspace: z.string().nullable().describe("Slug. null: the installation."),
          role: z.enum([...workspaceRoles, "administrator"]).nullable(),
          group,
          rules: z.string(),
        }),
      ),
    }),
  }),
} as const;
