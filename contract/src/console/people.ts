import { z } from "zod";
import { agentSchema } from "./agents.ts";
import { route } from "./route.ts";
import { userSchema } from "./session.ts";
import { at, personSchema } from "./words.ts";

const signInSchema = userSchema.pick({ two_factor: true, passkeys: true, last_seen_at: true, sources: true }).extend({
  sessions: z
    .array(
      z.object({
        created_at: at,
        seen_at: at,
        ends_at: at,
        ip: z.string().nullable(),
        user_agent: z.string().nullable(),
      }),
    )
    .describe("Sessions of the console, the most recently used first."),
});

const personDetailSchema = personSchema.extend({
  administrator: z.boolean(),
  disabled: z.boolean(),
  created_at: at,
  workspaces: userSchema.shape.workspaces.describe("Memberships that the caller may see."),
  agents: z.array(agentSchema).describe("Agent sign-ins in workspaces that the caller may see, newest first."),
  sign_in: signInSchema
    .nullable()
    .describe("null: visible only to administrators and to the person. It covers all workspaces."),
});
export type PersonDetail = z.infer<typeof personDetailSchema>;

export const peopleRoutes = {
  "people.show": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/people/{user}",
    summary: "Get the memberships, agents and sign-in of a person. Only admins can get other people",
    needs: "viewer",
    answer: personDetailSchema,
  }),
} as const;
