import { z } from "zod";
import { route } from "./route.ts";
import { at, id, label, nothing, personSchema } from "./words.ts";

/** Pages with a state that can be saved. */
const viewPages = ["usage"] as const;

export const viewState = z
  .string()
  .max(2_048)
  .regex(/^[^\s#]*$/)
  .describe("Query parameters of the page's URL, such as `range=last_month&by=key`.");
const shared = z.boolean().describe("Every user of the workspace sees it.");

const savedViewSchema = z.object({
  id,
  page: z.enum(viewPages),
  name: label,
  state: viewState,
  shared,
  owner: personSchema,
  created_at: at,
  updated_at: at,
});
export type SavedView = z.infer<typeof savedViewSchema>;

export const viewRoutes = {
  "views.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/views",
    summary: "List your saved views, and the views that other users share in the workspace",
    needs: "viewer",
    answer: z.object({ data: z.array(savedViewSchema) }),
  }),
  "views.create": route({
    method: "POST",
    path: "/api/workspaces/{workspace}/views",
    summary: "Save a view of a page. A user can have 100",
    needs: "viewer",
    status: 201,
    body: z.strictObject({ page: z.enum(viewPages), name: label, state: viewState, shared: shared.default(false) }),
    answer: savedViewSchema,
  }),
  "views.update": route({
    method: "PATCH",
    path: "/api/workspaces/{workspace}/views/{view}",
    summary: "Rename, share or change a view. Admins may change shared views of other users",
    needs: "viewer",
    body: z.strictObject({ name: label.optional(), state: viewState.optional(), shared: shared.optional() }),
    answer: savedViewSchema,
  }),
  "views.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/views/{view}",
    summary: "Delete a view. Admins may delete shared views of other users",
    needs: "viewer",
    status: 204,
    answer: nothing,
  }),
} as const;
