import { z } from "zod";
import { consoleLanguages } from "./languages.ts";
import { workspaceRoles } from "./roles.ts";
import { route } from "./route.ts";
import { at, count, id, label, leaverKeysSchema, maybeAt, nothing, pageOf, pageQuery, personSchema } from "./words.ts";

const password = z.string().min(12, "at least 12 characters").max(256);
const language = z
  .enum(consoleLanguages.map(({ id }) => id))
  .nullable()
  .describe("In which the console speaks to them. null: as their browser says.");
const inviteToken = z.string().min(1).max(256);

export const sessionAnswerSchema = z.object({
  user: personSchema.extend({ administrator: z.boolean(), language }).nullable(),
  /** null: nobody is signed in. */
  via: z.enum(["session", "token"]).nullable(),
  fresh: z.boolean().describe("Signed in lately enough for what is dangerous."),
  workspaces: z.array(z.object({ id, slug: z.string(), name: z.string(), role: z.enum(workspaceRoles) })),
  workspaces_more: count.optional().describe("How many more there are than listed; left out when these are all."),
  methods: z.object({
    password: z.boolean(),
    passkey: z.boolean(),
    oidc: z.array(z.object({ id, name: z.string() })),
  }),
  setup_needed: z.boolean(),
  version: z.string().nullable().describe("Of the gateway; null before somebody has signed in."),
  demo: z.boolean().describe("Only the built-in demo provider answers."),
  public_url: z.string().describe("Where callers reach the gateway."),
  first_steps: z
    .object({ provider: z.boolean(), model: z.boolean(), key: z.boolean(), call: z.boolean() })
    .describe("What has been done since the installation; each is true once there is one."),
});
export type SessionAnswer = z.infer<typeof sessionAnswerSchema>;

export const tokenSchema = z.object({
  id,
  name: z.string(),
  prefix: z.string().describe("The first characters of the secret, to recognise it by."),
  administrator: z.boolean(),
  scim: z.boolean().describe("A directory's: good for /scim/v2 and nothing else."),
  suspended: z.boolean().describe("No longer in the config file: it opens nothing until it is declared again."),
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
  link: z.string().describe("Shown once. Its secret stands behind #, which is never sent to a server."),
  mailed: z.boolean().describe("It was also sent by e-mail."),
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
        source: z.string().describe("`scim`: a directory; `oidc:<account>`: an issuer whose claims become rights."),
        made: z.boolean().describe("Nobody was here before: the directory made them."),
        since: at.describe("Since when the directory has them; of an issuer when it last said claims."),
      }),
    )
    .describe("What keeps them, besides people here; empty: nothing."),
});
export type ConsoleUser = z.infer<typeof userSchema>;

export const sessionRoutes = {
  "session.show": route({
    method: "GET",
    path: "/api/session",
    summary: "Who is calling, what they may see, and how one signs in",
    needs: "public",
    answer: sessionAnswerSchema,
  }),
  "invitation.look": route({
    method: "POST",
    path: "/api/invitation/look",
    summary: "What an invitation link is for",
    needs: "public",
    body: z.strictObject({ token: inviteToken }),
    answer: invitationSchema.extend({ has_account: z.boolean() }),
  }),
  "invitation.accept": route({
    method: "POST",
    path: "/api/invitation/accept",
    summary: "Accept an invitation: a new user gives a name and a password, a known one is signed in already",
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
    summary: "Admin tokens: one's own; an administrator sees all",
    needs: "signed-in",
    query: pageQuery,
    answer: pageOf(tokenSchema),
  }),
  "tokens.create": route({
    method: "POST",
    path: "/api/tokens",
    summary: "Make an admin token for scripts. It never has more than its maker, now or later",
    needs: "signed-in",
    fresh: true,
    body: z.strictObject({
      name: label,
      administrator: z.boolean().optional().meta({ needs: "administrator" }),
      scim: z
        .boolean()
        .optional()
        .meta({ needs: "administrator" })
        .describe("true: for a directory that sends users and groups by SCIM. It may do nothing else."),
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
    summary: "Everybody who may open the console",
    needs: "administrator",
    query: pageQuery.extend({ search: z.string().max(256).optional() }),
    answer: pageOf(userSchema),
  }),
  "users.update": route({
    method: "PATCH",
    path: "/api/users/{user}",
    summary: "Make somebody an administrator, or disable them",
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
    summary: "Remove a user with everything they sign in with",
    needs: "administrator",
    fresh: true,
    body: z.strictObject({ keys: leaverKeysSchema.optional() }),
    answer: nothing,
  }),
  "users.reset": route({
    method: "POST",
    path: "/api/users/{user}/reset",
    summary: "Make a one-time link to set a new password",
    needs: "administrator",
    fresh: true,
    answer: z.object({ link: z.string(), expires_at: at }),
    status: 201,
  }),
  "users.resetSecondFactor": route({
    method: "POST",
    path: "/api/users/{user}/second-factor/reset",
    summary: "Take a lost second factor from somebody else, and end their sessions: the password alone signs in then",
    needs: "administrator",
    fresh: true,
    body: z.strictObject({ passkeys: z.boolean().optional().describe("true: all their passkeys go too.") }),
    answer: userSchema,
  }),
  "invitations.administrators": route({
    method: "GET",
    path: "/api/invitations",
    summary: "Pending invitations of administrators",
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
    summary: "Pending invitations of a workspace",
    needs: "admin",
    answer: pageOf(invitationSchema),
  }),
  "invitations.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/invitations",
    summary: "Invite a person into a workspace, with a role up to one's own",
    needs: "admin",
    body: z.strictObject({ email: z.email().max(254), role: z.enum(workspaceRoles) }),
    answer: withLink,
    status: 201,
  }),
  "invitations.revoke": route({
    method: "DELETE",
    path: "/api/invitations/{invitation}",
    summary: "Take an invitation back",
    needs: "signed-in",
    answer: nothing,
  }),
} as const;
