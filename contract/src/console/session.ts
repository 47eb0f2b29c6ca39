import { z } from "zod";
import { consoleLanguages } from "./languages.ts";
import { workspaceRoles } from "./roles.ts";
import { route } from "./route.ts";
import { userSorts } from "./states.ts";
import {
  at,
  cost,
  count,
  countedPageOf,
  id,
  label,
  leaverKeysSchema,
  maybeAt,
  nothing,
  pageOf,
  pageQuery,
  personSchema,
  totalPageOf,
} from "./words.ts";

const password = z.string().min(12, "at least 12 characters").max(256);
const language = z
  .enum(consoleLanguages.map(({ id }) => id))
  .nullable()
  .describe("Language of the console. null: the browser's.");
const inviteToken = z.string().min(1).max(256);

export const sessionAnswerSchema = z.object({
  user: personSchema.extend({ administrator: z.boolean(), language }).nullable(),
  /** null: not signed in. */
  via: z.enum(["session", "token"]).nullable(),
  fresh: z.boolean().describe("Signed in recently enough for sensitive actions."),
  workspaces: z.array(z.object({ id, slug: z.string(), name: z.string(), role: z.enum(workspaceRoles) })),
  workspaces_more: count.optional().describe("Number of workspaces that are not listed. Left out: none."),
  methods: z.object({
    password: z.boolean(),
    passkey: z.boolean(),
    oidc: z.array(z.object({ id, name: z.string() })),
  }),
  setup_needed: z.boolean(),
  version: z.string().nullable().describe("Version of the gateway. null: not signed in."),
  demo: z.boolean().describe("Only the built-in demo provider answers."),
  public_url: z.string().describe("Public URL of the gateway."),
  brand: z
    .object({
      name: z.string().describe("Name of the product."),
      accent: z.string().describe("Accent color, such as #7048e8. Empty: the default."),
      logo: z.string().describe("Data URL of a PNG image. Empty: the default."),
    })
    .describe("From the settings, also for callers who are not signed in."),
  announcement: z.string().describe("Notice of the administrators for every page. Empty: none, or not signed in."),
  media: z.boolean().describe("Whether there is a video model, a video task or an asset group."),
  first_steps: z
    .object({ provider: z.boolean(), model: z.boolean(), key: z.boolean(), call: z.boolean() })
    .describe("Setup steps done: each is true once one exists."),
});
export type SessionAnswer = z.infer<typeof sessionAnswerSchema>;

export const tokenSchema = z.object({
  id,
  name: z.string(),
  prefix: z.string().describe("First characters of the secret."),
  administrator: z.boolean(),
  scim: z.boolean().describe("A directory's token, which works only at /scim/v2."),
  suspended: z.boolean().describe("No longer in the config file: it does not work until it is declared again."),
  workspace: z.object({ id, slug: z.string() }).nullable(),
  role: z.enum(workspaceRoles).nullable(),
  owner: personSchema,
  created_at: at,
  expires_at: maybeAt,
  last_used_at: maybeAt,
});
export type AdminToken = z.infer<typeof tokenSchema>;

export const invitationSchema = z.object({
  id,
  email: z.string(),
  administrator: z.boolean(),
  workspace: z.object({ id, slug: z.string(), name: z.string() }).nullable(),
  role: z.enum(workspaceRoles).nullable(),
  invited_by: personSchema.nullable(),
  created_at: at,
  expires_at: at,
});
export type Invitation = z.infer<typeof invitationSchema>;

const withLink = invitationSchema.extend({
  link: z.string().describe("Shown once. The secret follows `#`, which browsers never send to a server."),
  mailed: z.boolean().describe("Whether it was also sent by email."),
});

export const userSchema = personSchema.extend({
  administrator: z.boolean(),
  disabled: z.boolean(),
  suspended: z.boolean().describe("Disabled because the config file no longer declares them."),
  language,
  two_factor: z.boolean(),
  passkeys: z.int(),
  created_at: at,
  last_seen_at: maybeAt,
  workspaces: z.array(z.object({ id, slug: z.string(), role: z.enum(workspaceRoles) })),
  sources: z
    .array(
      z.object({
        source: z
          .string()
          .describe("`scim`: a directory; `oidc:<account>`: a single sign-on account with claims that grant rights."),
        made: z.boolean().describe("The directory created the user."),
        since: at.describe("When the directory connected the user, or when the issuer last sent claims."),
      }),
    )
    .describe("External sources that manage the user."),
});
export type ConsoleUser = z.infer<typeof userSchema>;

export const sessionRoutes = {
  "session.show": route({
    method: "GET",
    path: "/api/session",
    summary: "Get the caller, their workspaces and roles, and the sign-in methods",
    needs: "public",
    answer: sessionAnswerSchema,
  }),
  "invitation.find": route({
    method: "POST",
    path: "/api/invitation/find",
    summary: "Get an invitation",
    needs: "public",
    body: z.strictObject({ token: inviteToken }),
    answer: invitationSchema.extend({ has_account: z.boolean() }),
  }),
  "invitation.accept": route({
    method: "POST",
    path: "/api/invitation/accept",
    summary: "Accept an invitation. New users send a name and a password; existing users must be signed in",
    needs: "public",
    body: z.strictObject({ token: inviteToken, name: label.optional(), password: password.optional() }),
    answer: z.object({ email: z.string() }),
    status: 201,
  }),
  "reset.complete": route({
    method: "POST",
    path: "/api/reset",
    summary: "Set a new password with a one-time reset link",
    needs: "public",
    body: z.strictObject({ token: inviteToken, password }),
    answer: z.object({ email: z.string() }),
  }),
  "tokens.list": route({
    method: "GET",
    path: "/api/tokens",
    summary: "List admin tokens. Administrators see all, others their own",
    needs: "signed-in",
    query: pageQuery,
    answer: countedPageOf(tokenSchema),
  }),
  "tokens.create": route({
    method: "POST",
    path: "/api/tokens",
    summary: "Create an admin token for scripts. It never has more rights than its creator",
    needs: "signed-in",
    fresh: true,
    body: z.strictObject({
      name: label,
      administrator: z.boolean().optional().meta({ needs: "administrator" }),
      scim: z
        .boolean()
        .optional()
        .meta({ needs: "administrator" })
        .describe("true: a token for a directory that provisions users and groups with SCIM. It works only for SCIM."),
      workspace: id.optional(),
      role: z.enum(workspaceRoles).optional(),
      expires_at: at.optional(),
    }),
    answer: z.object({ token: tokenSchema, secret: z.string().describe("Shown once.") }),
    status: 201,
  }),
  "tokens.revoke": route({
    method: "DELETE",
    path: "/api/tokens/{token}",
    summary: "Revoke an admin token",
    needs: "signed-in",
    answer: nothing,
  }),
  "users.list": route({
    method: "GET",
    path: "/api/users",
    summary: "List the users of the console",
    needs: "administrator",
    query: pageQuery.extend({
      search: z.string().max(256).optional(),
      role: z.enum(["administrator", "other"]).optional(),
      state: z.enum(["enabled", "disabled"]).optional(),
      unseen_since: z.coerce
        .number()
        .int()
        .nonnegative()
        .optional()
        .describe("Unix milliseconds. Filter by users who were not signed in since this time."),
      sort: z
        .enum(userSorts)
        .optional()
        .describe(
          "`who`: by email address (default); `role`: administrators first; `spend`; `made`; `seen`. `-`: descending.",
        ),
    }),
    answer: totalPageOf(
      userSchema.extend({
        spend_usd: cost.nullable().describe("USD spent this month (UTC), in all workspaces. null: not available now."),
      }),
    ),
  }),
  "users.update": route({
    method: "PATCH",
    path: "/api/users/{user}",
    summary: "Update a user: make them an administrator, or disable them",
    needs: "administrator",
    fresh: true,
    body: z.strictObject({
      administrator: z.boolean().optional(),
      disabled: z.boolean().optional(),
      keys: leaverKeysSchema.optional(),
    }),
    answer: userSchema,
  }),
  "users.remove": route({
    method: "DELETE",
    path: "/api/users/{user}",
    summary: "Delete a user with all their sign-in methods",
    needs: "administrator",
    fresh: true,
    body: z.strictObject({ keys: leaverKeysSchema.optional() }),
    answer: nothing,
  }),
  "users.reset": route({
    method: "POST",
    path: "/api/users/{user}/reset",
    summary: "Create a one-time link to set a new password",
    needs: "administrator",
    fresh: true,
    answer: z.object({ link: z.string(), expires_at: at }),
    status: 201,
  }),
  "users.resetSecondFactor": route({
    method: "POST",
    path: "/api/users/{user}/second-factor/reset",
    summary: "Reset another user's second factor and end their sessions. Afterwards the password alone signs in",
    needs: "administrator",
    fresh: true,
    body: z.strictObject({ passkeys: z.boolean().optional().describe("true: delete all their passkeys too.") }),
    answer: userSchema,
  }),
  "invitations.administrators": route({
    method: "GET",
    path: "/api/invitations",
    summary: "List pending invitations of administrators",
    needs: "administrator",
    answer: pageOf(invitationSchema),
  }),
  "invitations.inviteAdministrator": route({
    method: "POST",
    path: "/api/invitations",
    summary: "Invite an administrator",
    needs: "administrator",
    fresh: true,
    body: z.strictObject({ email: z.email().max(254) }),
    answer: withLink,
    status: 201,
  }),
  "invitations.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/invitations",
    summary: "List pending invitations of a workspace",
    needs: "admin",
    answer: pageOf(invitationSchema),
  }),
  "invitations.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/invitations",
    summary: "Invite a user to a workspace, with at most the caller's role",
    needs: "admin",
    body: z.strictObject({ email: z.email().max(254), role: z.enum(workspaceRoles) }),
    answer: withLink,
    status: 201,
  }),
  "invitations.revoke": route({
    method: "DELETE",
    path: "/api/invitations/{invitation}",
    summary: "Revoke an invitation",
    needs: "signed-in",
    answer: nothing,
  }),
} as const;
