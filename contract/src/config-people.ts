import { z } from "zod";
import { budgetSchema, limitsSchema } from "./config-limits.ts";
import { workspaceRoles } from "./console/roles.ts";
import { nameLettersMax, slugPattern, slugRule } from "./names.ts";
import { rightsRulesSchema } from "./rights-rules.ts";

/** Who governs the installation, as the config file declares it. */
const name = z.string().min(1).max(nameLettersMax);
const slug = z.string().regex(slugPattern, slugRule);
const email = z.email().max(254);
const role = z.enum(workspaceRoles);

export const userSchema = z.strictObject({
  email: email.describe("What they sign in with."),
  name: z.string().trim().min(1).max(128).optional().describe("Default: the address up to its @."),
  administrator: z.boolean().optional().describe("They govern the installation; default false."),
  workspaces: z
    .array(
      z.strictObject({
        workspace: slug,
        role,
        limits: limitsSchema
          .optional()
          .describe("Of all that counts for them there: calls of their agents and of their own keys."),
        budget: budgetSchema.optional(),
      }),
    )
    .max(1_000)
    .optional()
    .describe("What they hold in which workspace; one that is not listed they leave."),
  password: z
    .string()
    .min(12)
    .max(256)
    .optional()
    .describe(
      "The first password, for a user who is made; afterwards it is theirs. Left out: `sluice user reset`, or single sign-on.",
    ),
  enabled: z.boolean().optional(),
});

export const tokenSchema = z.strictObject({
  name,
  owner: email.describe("Whose token it is; it has no more than they have."),
  administrator: z.boolean().optional().describe("It governs the installation."),
  scim: z
    .boolean()
    .optional()
    .describe("A directory's: it may do SCIM and nothing else, while its owner is an administrator."),
  workspace: slug.optional().describe("It is for this workspace only; goes with role."),
  role: role.optional(),
  secret: z
    .string()
    .regex(
      /^sluice-(?:admin|scim)-[0-9A-Za-z]{49}$/,
      "as `sluice token secret` makes them: sluice-admin- (or sluice-scim-) and 49 letters and digits",
    )
    .optional(),
  secret_sha256: z
    .string()
    .regex(
      /^[0-9a-f]{64}$/,
      "64 hexadecimal digits in lower case: the SHA-256 of a secret that `sluice token create` made",
    )
    .optional(),
  expires_at: z.iso.datetime({ offset: true }).optional(),
});

/** RFC 6749 §3.3. */
export const oidcScopesSchema = z.array(z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]{1,256}$/, "no scope")).max(20);
export const recheckMinutesSchema = z.int().min(5).max(1_440);
export const graceHoursSchema = z.int().min(0).max(720);

export const directoryClaimSchema = z.string().min(1).max(128);

export const oidcSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "lower-case letters, digits and dashes, at most 32"),
  name: name.optional().describe("What stands on the button; default: the id."),
  issuer: z.url({ protocol: /^https?$/ }).max(2_048),
  client_id: z.string().min(1).max(512),
  client_secret: z.string().min(1).max(2_048),
  allowed_domains: z
    .array(z.string().min(1).max(253))
    .max(100)
    .optional()
    .describe("Only addresses of these mail domains, and new ones become users. Default: only who connected it."),
  second_factor_trusted: z.boolean().optional().describe("It asks for a second factor itself; default false."),
  scopes: oidcScopesSchema
    .optional()
    .describe("Asked for beside openid, email and profile: `groups` with many issuers."),
  offline_access: z
    .boolean()
    .optional()
    .describe("Ask for a refresh token, so that the issuer is asked again when agents refresh; default false."),
  recheck_minutes: recheckMinutesSchema
    .optional()
    .describe("How often at most it is asked again of one person; default 15."),
  grace_hours: graceHoursSchema
    .optional()
    .describe("How long after its last word agents go on while it does not answer; default 24."),
  directory_claim: directoryClaimSchema
    .optional()
    .describe(
      "The claim that holds a directory's id of the person (SCIM's externalId); default: oid at Microsoft, else none.",
    ),
  rules: rightsRulesSchema.optional(),
});

export type UserConfig = z.infer<typeof userSchema>;
export type TokenConfig = z.infer<typeof tokenSchema>;
export type OidcConfig = z.infer<typeof oidcSchema>;
