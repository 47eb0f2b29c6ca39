import { z } from "zod";
import { budgetSchema, limitsSchema } from "./config-limits.ts";
import { workspaceRoles } from "./console/roles.ts";
import { linePattern, lineRule, nameLengthMax, slugPattern, slugRule } from "./names.ts";
import { rightsRulesSchema } from "./rights-rules.ts";

const name = z.string().min(1).max(nameLengthMax).regex(linePattern, lineRule);
const slug = z.string().regex(slugPattern, slugRule);
const email = z.email().max(254);
const role = z.enum(workspaceRoles);

export const userSchema = z.strictObject({
  email: email.describe("Address for sign-in."),
  name: name.max(128).trim().optional().describe("Default: the part of the address before the @."),
  administrator: z.boolean().optional().describe("Administrator of the installation. Default: false."),
  workspaces: z
    .array(
      z.strictObject({
        workspace: slug,
        role,
        limits: limitsSchema
          .optional()
          .describe("Limits of the user's calls there, by their agents and personal keys."),
        budget: budgetSchema.optional(),
      }),
    )
    .max(1_000)
    .optional()
    .describe("The user's workspaces and roles. The user leaves workspaces that are not listed."),
  password: z
    .string()
    .min(12)
    .max(256)
    .optional()
    .describe(
      "Initial password of a new user; changes to it here have no effect later. Left out: use `sluice user reset` or single sign-on.",
    ),
  enabled: z.boolean().optional(),
});

export const tokenSchema = z.strictObject({
  name,
  owner: email.describe("Owner of the token, which never has more rights than the owner."),
  administrator: z.boolean().optional().describe("Administrator of the installation."),
  scim: z.boolean().optional().describe("A token for SCIM only. It works while its owner is an administrator."),
  workspace: slug.optional().describe("Limits the token to this workspace. Requires `role`."),
  role: role.optional(),
  secret: z
    .string()
    .regex(
      /^sluice-(?:admin|scim)-[0-9A-Za-z]{49}$/,
      "a secret from `sluice token secret`: sluice-admin- or sluice-scim-, and 49 letters and digits",
    )
    .optional(),
  secret_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "the SHA-256 of a token's secret: 64 lower-case hexadecimal digits")
    .optional(),
  expires_at: z.iso.datetime({ offset: true }).optional(),
});

/** RFC 6749 §3.3. */
export const oidcScopesSchema = z
  .array(z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]{1,256}$/, "an OAuth scope"))
  .max(20);
export const recheckMinutesSchema = z.int().min(5).max(1_440);
export const graceHoursSchema = z.int().min(0).max(720);

export const directoryClaimSchema = z.string().min(1).max(128);

export const oidcSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "lower-case letters, digits and dashes, at most 32"),
  name: name.optional().describe("Label of the sign-in button. Default: the id."),
  issuer: z.url({ protocol: /^https?$/ }).max(2_048),
  client_id: z.string().min(1).max(512),
  client_secret: z.string().min(1).max(2_048),
  allowed_domains: z
    .array(z.string().min(1).max(253))
    .max(100)
    .optional()
    .describe(
      "Only addresses in these mail domains can sign in; users are created for new ones. Default: only users who connected the account.",
    ),
  second_factor_trusted: z.boolean().optional().describe("The issuer checks a second factor itself. Default: false."),
  scopes: oidcScopesSchema
    .optional()
    .describe("Scopes in addition to openid, email and profile. Many issuers need `groups`."),
  offline_access: z
    .boolean()
    .optional()
    .describe("Request a refresh token, to check with the issuer when agents refresh. Default: false."),
  recheck_minutes: recheckMinutesSchema
    .optional()
    .describe("Minimum time between two checks of one user. Default: 15."),
  grace_hours: graceHoursSchema
    .optional()
    .describe("How long agents keep working while the issuer cannot be reached. Default: 24."),
  directory_claim: directoryClaimSchema
    .optional()
    .describe(
      "The claim with the directory's id of the user (externalId in SCIM). Default: `oid` at Microsoft, otherwise none.",
    ),
  rules: rightsRulesSchema.optional(),
});

export type UserConfig = z.infer<typeof userSchema>;
export type TokenConfig = z.infer<typeof tokenSchema>;
export type OidcConfig = z.infer<typeof oidcSchema>;
