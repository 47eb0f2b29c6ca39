import { z } from "zod";
import { route } from "./route.ts";
import { storedObjectKinds } from "./states.ts";
import { at, id } from "./words.ts";

const storedObjectSchema = z.object({
  id: z.string().describe("The vendor's id."),
  kind: z.enum(storedObjectKinds),
  key: z.object({ id, name: z.string() }),
  provider: z.string(),
  model: z.string().describe("Empty: it was created without a model."),
  created_at: at,
  expires_at: at.nullable().describe("null: until it is deleted."),
});
export type StoredObject = z.infer<typeof storedObjectSchema>;

/** Objects that vendors keep for later calls of a workspace. The data plane changes and deletes them. */
export const storedObjectRoutes = {
  "storedObjects.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/stored-objects",
    summary:
      "List the newest 100 objects stored at vendors. Members and viewers see only their own objects and objects of shared keys",
    needs: "viewer",
    query: z.object({ kind: z.enum(storedObjectKinds).optional(), key: id.optional() }),
    answer: z.object({ data: z.array(storedObjectSchema) }),
  }),
} as const;
