import { z } from "zod";
import { route } from "./route.ts";
import { at, count, id, nothing, pageOf, pageQuery } from "./words.ts";

const consoleFileSchema = z.object({
  id: id.describe("`file-…`"),
  key: z.object({ id, name: z.string() }),
  purpose: z.string(),
  filename: z.string(),
  media_type: z.string(),
  size_bytes: count,
  sha256: z.string(),
  created_at: at,
  expires_at: at.nullable(),
});
export type ConsoleFile = z.infer<typeof consoleFileSchema>;

/** Files of a workspace. Their content is at the data plane. */
export const fileRoutes = {
  "files.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/files",
    summary: "List files, newest first",
    needs: "viewer",
    query: pageQuery.extend({ key: id.optional(), purpose: z.string().max(64).optional() }),
    answer: pageOf(consoleFileSchema).extend({
      total: count.describe("Files of all pages that match the filters."),
      total_bytes: count,
    }),
  }),
  "files.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/files/{file}",
    summary: "Delete a file, with its copies at vendors",
    needs: "member",
    answer: nothing,
  }),
} as const;
