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
  downloadable: z.boolean().describe("Whether the caller may download it at `fileContentPath`."),
});
export type ConsoleFile = z.infer<typeof consoleFileSchema>;

/** Files of a workspace. To upload one, call the data plane with a key. Their contents are at `fileContentPath`. */
export const fileRoutes = {
  "files.list": route({
    method: "GET",
    path: "/api/workspaces/{workspace}/files",
    summary: "List files, newest first. Members and viewers see only their own files and files of shared keys",
    needs: "viewer",
    query: pageQuery.extend({ key: id.optional(), purpose: z.string().max(64).optional() }),
    answer: pageOf(consoleFileSchema).extend({
      total: count.describe("Files of all pages that match the filters."),
      total_bytes: count,
      used_bytes: count.describe("Bytes of all files and unfinished uploads of the workspace."),
      quota_bytes: count.describe("Bytes that the workspace may use."),
    }),
  }),
  "files.remove": route({
    method: "DELETE",
    path: "/api/workspaces/{workspace}/files/{file}",
    summary: "Delete a file, with its copies at vendors. Members can delete only files that they see",
    needs: "member",
    answer: nothing,
  }),
} as const;
